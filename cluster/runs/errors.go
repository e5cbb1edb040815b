package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrTooLarge reports a result above EntryLimitBytes.
	ErrTooLarge = errors.New("runs: result is too large to keep")
	// ErrFull reports a disk without room.
	ErrFull = errors.New("the disk is full")
	// ErrNewer reports a store that a later version of drtmx wrote.
	ErrNewer = errors.New("was written by a newer drtmx")
)

// NoRunError names a kept run that is not there.
type NoRunError struct {
	ID   string
	Next string
}

func (e *NoRunError) Error() string {
	return fmt.Sprintf("run = %.40q: no such run is kept; %s", e.ID, e.Next)
}

// says makes one line of what SQLite says, with what to do about it.
func (s *Store) says(err error) error {
	if err == nil {
		return nil
	}
	switch code(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE:
		return fmt.Errorf("run store %s: %w; make room, or drtmx runs gc --older 30d removes what is old", s.file, ErrFull)
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("run store %s: is damaged or no run store; move it away, or name another file with --runs", s.file)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("run store %s: cannot be written; name another file with --runs or %s", s.file, FileVariable)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("run store %s: another process has held it for %v; try again when that has ended", s.file, busyTime)
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("run store %s: %w; make room, or drtmx runs gc --older 30d removes what is old", s.file, ErrFull)
	}
	return fmt.Errorf("run store %s: %s", s.file, strings.Join(strings.Fields(err.Error()), " "))
}

// code is the result code of SQLite: the primary one, but for a write that failed and a file of the write-ahead log that could
// not grow, which a full disk shows first. 0 if it is another's error.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	switch c := e.Code(); c {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE:
		return c
	default:
		return c & 0xff
	}
}

// cause is an error without the path that it begins with.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
