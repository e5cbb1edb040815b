//go:build !unix

package fabric

// portableSpace bounds a machine's memory where there is no mmap: the Go heap
// is zeroed lazily by most systems, but not by all.
const portableSpace = 512 << 20

func spacePerMachine(int) uint64 { return portableSpace }

func reserveSpace(n uint64) ([]byte, error) { return make([]byte, n), nil }

func commitSpace([]byte, bool) error { return nil }

func releaseSpace([]byte) error { return nil }
