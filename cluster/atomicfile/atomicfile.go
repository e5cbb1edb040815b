// Package atomicfile reads and writes files as a whole: a file is as it was or as it will be at any time, also when its writer is
// killed. What it leaves out: several writers of one file, of which the last one wins.
package atomicfile

import (
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"drtmx/engine/knob"
)

// Unfinished is how the name of a file begins while it is written; one that is left is of a writer that was killed.
const Unfinished = ".new-"

// ReadUpTo reads a regular file, and of one that is longer than limit a byte more than that: it may
// grow while it is read.
func ReadUpTo(p string, limit int64) ([]byte, error) {
	f, err := knob.OpenRegular(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// Read reads a regular file of at most limit bytes. Its error is the reason alone: the caller names the file.
func Read(p string, limit int64) ([]byte, error) {
	b, err := ReadUpTo(p, limit)
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("is over %d bytes", limit)
	}
	return b, err
}

// Replace makes a file hold raw. It is written beside its place and renamed, so
// that there is all of it or what was there before: also on a disk that is full,
// also after a crash. A file that was there keeps its permissions, perm is those of
// a new one. A link is replaced itself, not what it leads to.
func Replace(p string, raw []byte, perm fs.FileMode) error {
	tmp := filepath.Join(filepath.Dir(p), Unfinished+rand.Text())
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	if was, serr := os.Stat(p); serr == nil {
		err = f.Chmod(was.Mode().Perm())
	}
	if err == nil {
		_, err = f.Write(raw)
	}
	if err == nil {
		err = f.Sync() // a rename may outlive the bytes it names
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, p)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}
