//go:build !unix

package dataset

import "io"

// mapFile reads a file whole where files cannot be mapped.
func mapFile(path string) ([]byte, error) {
	f, size, err := regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, err
}

func unmapFile([]byte) {}
