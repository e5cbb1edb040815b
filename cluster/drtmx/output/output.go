package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"drtmx/cluster/atomicfile"
	"drtmx/engine/experiment"
)

// File is a file that a flag names; "-" is standard output, "" none.
type File struct{ flag, path string }

// To is the file of a flag.
func To(flag, path string) File { return File{flag, path} }

// Check finds out before a long run that what comes out of it has no place of
// its own. stdout is what standard output shows anyway, "" for nothing.
func Check(stdout string, files ...File) error {
	var paths []string
	for i, f := range files {
		if f.path == "" {
			continue
		}
		if f.path == "-" && stdout != "" {
			return &experiment.SpecError{Field: f.flag, Value: f.path, Rule: "standard output is for " + stdout + " already", Next: "name a file"}
		}
		for _, g := range files[:i] {
			if samePlace(f.path, g.path) {
				return &experiment.SpecError{Field: f.flag, Value: f.path, Rule: "is what " + g.flag + " writes to as well", Next: "name another file"}
			}
		}
		paths = append(paths, f.path)
	}
	return outFolders(paths...)
}

// samePlace also knows a file by its other names, once it is there.
func samePlace(a, b string) bool {
	if a == "-" || b == "-" {
		return a == b
	}
	fa, aerr := os.Stat(a)
	fb, berr := os.Stat(b)
	if aerr == nil && berr == nil {
		return os.SameFile(fa, fb)
	}
	return b != "" && absolute(a) == absolute(b)
}

// absolute is a path that no longer depends on where we are; as it was given
// where it is unknown where that is.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// Watched remembers that standard output did not take something: a command whose
// output is lost has failed, also where it printed without looking back.
type Watched struct {
	io.Writer
	Err error
}

func (w *Watched) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil && w.Err == nil {
		w.Err = fmt.Errorf("standard output: %w", err)
	}
	return n, err
}

// JSON is what standard output shows where --json was given.
func JSON(asJSON bool) string {
	if asJSON {
		return "--json"
	}
	return ""
}

// outFolders finds out that the folder of a file is none.
func outFolders(paths ...string) error {
	for _, p := range paths {
		if p == "" || p == "-" {
			continue
		}
		switch dir, err := os.Stat(filepath.Dir(p)); {
		case err != nil:
			return fmt.Errorf("%s: its folder: %w", p, errors.Unwrap(err))
		case !dir.IsDir():
			return fmt.Errorf("%s: %s is no folder", p, filepath.Dir(p))
		}
		if f, err := os.Stat(p); err == nil && f.IsDir() {
			return fmt.Errorf("%s: is a folder, name a file in it", p)
		}
		if err := namedPipe(p); err != nil {
			return err
		}
	}
	return nil
}

// namedPipe finds out that a file is a pipe with a name of its own, whose writer waits until a reader
// reads, be it for ever. Those that a shell opens, as for >(gzip), have a reader.
func namedPipe(path string) error {
	i, err := os.Stat(path)
	if err != nil || i.Mode()&fs.ModeNamedPipe == 0 {
		return nil
	}
	if dir := filepath.Dir(absolute(path)); inFolder(dir, "/proc") || inFolder(dir, "/dev/fd") {
		return nil
	}
	return fmt.Errorf("%s: is a pipe: name a regular file", path)
}

// Write writes a file that was asked for; "-" is standard output.
func Write(stdout io.Writer, path string, b []byte) error {
	if path == "-" {
		_, err := stdout.Write(b)
		return err
	}
	return WriteFile(path, b)
}

// WriteFile writes a file so that one that was there stays as it was unless all of
// the new one fits. Only what cannot be replaced is written where it is: a device, a
// pipe, what a process has open, a file in a folder that takes no other, a mounted one.
func WriteFile(path string, b []byte) error {
	err := replaceFile(path, b)
	if errors.Is(err, errNoPlace) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	return nil
}

func replaceFile(path string, b []byte) error {
	place, err := placeOf(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(place, os.O_WRONLY, 0) // what must not be written must not be replaced either
	if err == nil {
		f.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.Replace(place, b, 0o644)
}

var errNoPlace = errors.New("not a file of a folder")

// placeOf follows links to the place of the file itself, which need not be there yet.
func placeOf(path string) (string, error) {
	for range 40 { // as many as Linux follows
		dir, name := filepath.Split(path) // neither is cleaned: x/.. may be elsewhere
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.EvalSymlinks(dir)
		if dir = absolute(dir); err != nil || inFolder(dir, "/proc") || inFolder(dir, "/dev/fd") {
			return "", errNoPlace // a name there stands for an open file, which a rename would miss
		}
		path = filepath.Join(dir, name)
		fi, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && fi.Mode().IsRegular():
			return path, nil
		case err != nil || fi.Mode()&fs.ModeSymlink == 0:
			return "", errNoPlace
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", errNoPlace
		}
		if path = to; !filepath.IsAbs(to) {
			path = dir + string(filepath.Separator) + to
		}
	}
	return "", errNoPlace
}

func inFolder(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
