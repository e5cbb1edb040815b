//go:build !linux

package fabric

// denseSpace is memory that is touched all over.
func denseSpace(n uint64) ([]byte, error) { return make([]byte, n), nil }

func releaseDense([]byte) error { return nil }

// largePages is about Linux.
func largePages([]byte, bool) {}

// forgetSpace makes a part zero.
func forgetSpace(b []byte) { clear(b) }

// spaceInUse is not known.
func spaceInUse() uint64 { return 0 }
