//go:build unix

package dataset

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapFile maps a file into memory, to read.
func mapFile(path string) ([]byte, error) {
	f, size, err := regular(path)
	if err != nil || size == 0 {
		return nil, err
	}
	defer f.Close()
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", path, err)
	}
	return b, nil
}

func unmapFile(b []byte) {
	if len(b) > 0 {
		_ = unix.Munmap(b) // nothing can be done about it
	}
}
