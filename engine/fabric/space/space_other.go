//go:build !unix

package space

// portableSpace bounds a machine's memory where there is no mmap: the Go heap
// is zeroed lazily by most systems, but not by all.
const portableSpace = 512 << 20

// PerMachine is how much address space a machine may reserve.
func PerMachine(int) uint64 { return portableSpace }

// Reserve takes memory.
func Reserve(n uint64) ([]byte, error) { return make([]byte, n), nil }

// Commit has nothing to do.
func Commit([]byte, bool) error { return nil }

// Release gives it back.
func Release([]byte) error { return nil }
