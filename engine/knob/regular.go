package knob

import (
	"errors"
	"io/fs"
	"os"
)

// OpenRegular opens a file to read. It refuses a pipe, which may take for ever to open, and whatever else
// is no regular file. Its error is the reason alone: the caller names the file.
func OpenRegular(path string) (*os.File, error) {
	switch i, err := os.Stat(path); {
	case err != nil:
		return nil, WithoutPath(err)
	case !i.Mode().IsRegular():
		return nil, errors.New("is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, WithoutPath(err)
	}
	return f, nil
}

// WithoutPath is the reason alone of an error about a file.
func WithoutPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
