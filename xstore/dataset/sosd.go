package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"

	"drtmx/engine/store"
)

// File are the keys of a file in the binary format of SOSD (Kipf et al., "SOSD: a benchmark for learned indexes",
// 2019): their number in 8 bytes, then the keys in 8 bytes each, little-endian and rising. The file is mapped into
// memory, to read, until nobody uses the set any more.
//
// Keys that are there twice are refused, for a store has one value of a key: SOSD's wiki has such, its books, fb and
// osm have none.
type File struct {
	path string
	b    []byte // behind the count
	n    uint64
}

const wordBytes = 8

// Open maps a file and looks at all of its keys.
func Open(path string) (*File, error) {
	bad := func(field, rule string, args ...any) error {
		return fmt.Errorf("%s: %s: %s", path, field, fmt.Sprintf(rule, args...))
	}
	b, err := mapFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, b: b}
	runtime.AddCleanup(f, unmapFile, b)
	if len(b) < wordBytes {
		return nil, bad("count", "the file has %d bytes, the count alone has %d", len(b), wordBytes)
	}
	f.n, f.b = binary.LittleEndian.Uint64(b), b[wordBytes:]
	switch have := uint64(len(f.b)); {
	case f.n == 0:
		return nil, bad("count", "is 0, there must be at least one key")
	case have%wordBytes != 0 || have/wordBytes != f.n:
		return nil, bad("count", "is %d, and %d bytes of keys follow: there must be %d bytes for each", f.n, have, wordBytes)
	}
	for i := uint64(1); i < f.n; i++ {
		if x, before := f.Key(i), f.Key(i-1); x <= before {
			return nil, bad(fmt.Sprintf("key %d", i), "is %d behind %d: keys must rise, none may be there twice", x, before)
		}
	}
	return f, nil
}

// openPart is a file's set, or as many of its keys, evenly spaced.
func openPart(path string, keys uint64) (store.Keys, error) {
	f, err := Open(path)
	switch {
	case err != nil:
		return nil, err
	case keys > f.n:
		return nil, fmt.Errorf("%s: count: is %d, fewer than the %d keys that are asked for", path, f.n, keys)
	case keys == 0 || keys == f.n:
		return f, nil
	}
	return &thinned{f, keys}, nil
}

// Len is the number of keys.
func (f *File) Len() uint64 { return f.n }

// Key is the i-th.
func (f *File) Key(i uint64) uint64 {
	x := binary.LittleEndian.Uint64(f.b[i*wordBytes:])
	runtime.KeepAlive(f) // the file is mapped until here
	return x
}

// Rank searches.
func (f *File) Rank(key uint64) (uint64, bool) { return rankOf(f, key) }

// thinned are some of a set's keys, evenly spaced.
type thinned struct {
	all store.Keys
	n   uint64
}

func (x *thinned) Len() uint64                    { return x.n }
func (x *thinned) Key(i uint64) uint64            { return x.all.Key(times(x.all.Len(), i, x.n)) }
func (x *thinned) Rank(key uint64) (uint64, bool) { return rankOf(x, key) }

// regular opens a file that can be mapped, and says how large it is.
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
