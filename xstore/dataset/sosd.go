package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// File are keys of a file in the binary format of SOSD (Kipf et al., "SOSD: a benchmark for learned indexes",
// 2019): their number in 8 bytes, then the keys in 8 bytes each, little-endian and rising. They are copied when the
// file is read, so that whatever becomes of it, a system has the keys that it was opened with.
//
// Keys that are there twice are refused, for a store has one value of a key: SOSD's wiki has such, its books, fb and
// osm have none.
type File struct{ keys []uint64 }

const wordBytes = 8

// Open reads all keys of a file; or as many of them as are asked for, evenly spaced, unless keys is 0.
func Open(path string, keys uint64) (*File, error) {
	f, size, err := regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x, err := read(f, size, keys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// read takes keys from a file of a size.
func read(from io.Reader, size int64, keys uint64) (*File, error) {
	r := bufio.NewReaderSize(from, 1<<20)
	word := func() (uint64, error) {
		var b [wordBytes]byte
		_, err := io.ReadFull(r, b[:])
		return binary.LittleEndian.Uint64(b[:]), err
	}
	if size < wordBytes {
		return nil, fmt.Errorf("count: the file has %d bytes, the count alone has %d", size, wordBytes)
	}
	n, err := word()
	if err != nil {
		return nil, fmt.Errorf("count: cannot be read: %w", err)
	}
	switch have := uint64(size - wordBytes); {
	case n == 0:
		return nil, errors.New("count: is 0, there must be at least one key")
	case have%wordBytes != 0 || have/wordBytes != n:
		return nil, fmt.Errorf("count: is %d, and %d bytes of keys follow: there must be %d bytes for each", n, have, wordBytes)
	case keys > n:
		return nil, fmt.Errorf("count: is %d, fewer than the %d keys that are asked for", n, keys)
	case keys == 0:
		keys = n
	}
	x := &File{keys: make([]uint64, 0, keys)}
	for i, before := uint64(0), uint64(0); i < n; i++ {
		key, err := word()
		if err != nil {
			return nil, fmt.Errorf("key %d: cannot be read, the file was cut short meanwhile: %w", i, err)
		}
		if i > 0 && key <= before {
			return nil, fmt.Errorf("key %d: is %d behind %d: keys must rise, none may be there twice", i, key, before)
		}
		if before = key; uint64(len(x.keys)) < keys && i == times(n, uint64(len(x.keys)), keys) {
			x.keys = append(x.keys, key)
		}
	}
	return x, nil
}

// Len is the number of keys.
func (f *File) Len() uint64 { return uint64(len(f.keys)) }

// Key is the i-th.
func (f *File) Key(i uint64) uint64 { return f.keys[i] }

// Rank searches.
func (f *File) Rank(key uint64) (uint64, bool) { return rankOf(f, key) }

// regular opens a file that is there to be read, and says how large it is.
func regular(path string) (*os.File, int64, error) {
	i, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case !i.Mode().IsRegular():
		return nil, 0, errors.New(path + ": is no regular file")
	}
	f, err := os.Open(path)
	return f, i.Size(), err
}
