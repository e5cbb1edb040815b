//go:build !linux

package space

// ReserveDense is memory that is touched all over.
func ReserveDense(n uint64) ([]byte, error) { return make([]byte, n), nil }

// ReleaseDense gives it back.
func ReleaseDense([]byte) error { return nil }

// largePages is about Linux.
func largePages([]byte, bool) {}

// Forget makes a part zero.
func Forget(b []byte) { clear(b) }

// InUse is not known.
func InUse() uint64 { return 0 }
