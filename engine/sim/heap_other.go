//go:build !linux

package sim

// LargePages does nothing here: it is only about speed.
func LargePages(int64) {}
