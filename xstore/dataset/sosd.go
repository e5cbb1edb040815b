package dataset

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"drtmx/engine/knob"
)

// File are keys of a file in the binary format of SOSD (Kipf et al., "SOSD: a benchmark for learned indexes",
// 2019): their number in 8 bytes, then the keys in 8 bytes each, little-endian and rising. They are copied when the
// file is read, so that whatever becomes of it, a system has the keys that it was opened with.
//
// Keys that are there twice are refused, for a store has one value of a key: SOSD's wiki has such, its books, fb and
// osm have none.
type File struct{ keys []uint64 }

const wordBytes = 8

// LeastKeys is the smallest set of a workload, as the knob workload.keys has it.
const LeastKeys = 8

// FileError is what is wrong with a file of keys, and what to do.
type FileError struct{ Rule, Next string }

func (e *FileError) Error() string { return e.Rule + "; " + e.Next }

// format is the next step where a file is something else.
const format = "name a file in SOSD's format: the number of keys in 8 bytes, then the keys, rising, in 8 bytes each, little-endian"

func bad(rule string, args ...any) error { return &FileError{fmt.Sprintf(rule, args...), format} }

// Open reads all keys of a file; or as many of them as are asked for, evenly spaced, unless keys is 0. Its errors are FileErrors.
func Open(path string, keys uint64) (*File, error) {
	f, err := knob.OpenRegular(path)
	if err != nil {
		return nil, bad("the file cannot be read: %v", err)
	}
	defer f.Close()
	i, err := f.Stat()
	if err != nil {
		return nil, bad("the file cannot be read: %v", knob.WithoutPath(err))
	}
	return read(f, i.Size(), keys)
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
		return nil, bad("the file has %d bytes, its count alone should have %d", size, wordBytes)
	}
	n, err := word()
	if err != nil {
		return nil, bad("the count of keys cannot be read: %v", err)
	}
	switch have := uint64(size - wordBytes); {
	case have%wordBytes != 0 || have/wordBytes != n:
		return nil, bad("its count says %d keys, and %d bytes follow, which is not %d for each: it was cut short, or is no such file", n, have, wordBytes)
	case n == 0:
		return nil, bad("it has no keys")
	case keys > n && n < LeastKeys:
		return nil, &FileError{fmt.Sprintf("it has %d keys, and a workload needs at least %d", n, LeastKeys), "name a file with more keys"}
	case keys > n:
		return nil, &FileError{fmt.Sprintf("it has %d keys, fewer than workload.keys=%d", n, keys), fmt.Sprintf("set workload.keys=%d or less", n)}
	case keys == 0:
		keys = n
	}
	x := &File{keys: make([]uint64, 0, keys)}
	for i, before := uint64(0), uint64(0); i < n; i++ {
		key, err := word()
		if err != nil {
			return nil, bad("key %d cannot be read, the file was cut short meanwhile: %v", i, err)
		}
		if i > 0 && key <= before {
			return nil, bad("key %d is %d behind %d: keys must rise, and none may be there twice", i, key, before)
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
