package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// DefaultLimitBytes bounds the points. A result is some 60 KB, so this is
	// thousands of runs: all figures at quick scale several times over.
	DefaultLimitBytes = 512 << 20
	// EntryLimitBytes bounds one point; a larger one is not kept.
	EntryLimitBytes = 64 << 20

	// busyTime is how long a process waits for another that writes.
	busyTime = 10 * time.Second
	// journalLimit is the size to which a write-ahead log is cut back.
	journalLimit = 16 << 20
)

var errNoStore = errors.New("is a database of another program; name another file with --runs")

// Store is a file of results. Its methods may be called from several
// goroutines; a nil Store keeps nothing.
type Store struct {
	file  string
	limit int64
	mode  journal
	// db has one connection: SQLite has one writer at a time, and what is read is small.
	db *sql.DB

	durable sync.Mutex // held by a change that is on the disk when it ends

	mu      sync.Mutex
	bytes   int64           // what this process believes the points take; -1 = not counted yet
	touched map[string]bool // points that were read, whose time of use is not written yet
	flight  map[string]*call
	lost    error // the first of Lost
}

// Options of Open.
type Options struct {
	// File is the database, made when missing, with its folder. Empty: the one of File.
	File string
	// LimitBytes bounds the points; 0 means DefaultLimitBytes.
	LimitBytes int64
}

// Open opens or makes a store.
func Open(o Options) (*Store, error) {
	if o.File == "" {
		f, err := File()
		if err != nil {
			return nil, err
		}
		o.File = f
	}
	return newStore(o, (*Store).open)
}

// newStore is a store that is opened in a way.
func newStore(o Options, open func(*Store) error) (*Store, error) {
	if o.LimitBytes == 0 {
		o.LimitBytes = DefaultLimitBytes
	}
	s := &Store{file: o.File, limit: o.LimitBytes, bytes: -1, touched: map[string]bool{}, flight: map[string]*call{}}
	if err := open(s); err != nil {
		if s.db != nil {
			s.db.Close()
		}
		return nil, err
	}
	return s, nil
}

func (s *Store) open() error {
	refused := func(err error) error { return fmt.Errorf("run store %s: %w", s.file, err) }
	dir := filepath.Dir(s.file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("run store %s: its folder: %w; name another file with --runs or %s", s.file, cause(err), FileVariable)
	}
	if i, err := os.Stat(s.file); err == nil && !i.Mode().IsRegular() {
		return refused(errors.New("is no regular file; name another with --runs"))
	}
	if place, err := filepath.EvalSymlinks(s.file); err == nil { // a log is beside the file itself
		dir = filepath.Dir(place)
	}
	mode, err := journalOn(filesystem(dir))
	if err != nil {
		return refused(err)
	}
	return s.openAs(mode)
}

// openAs opens the file with a journal.
func (s *Store) openAs(mode journal) (err error) {
	s.mode = mode
	if s.db, err = sql.Open("sqlite", s.address("rwc", "_pragma=foreign_keys(1)", fmt.Sprintf("_pragma=journal_size_limit(%d)", journalLimit), "_pragma=synchronous("+s.durability(false)+")",
		"_auto_vacuum=INCREMENTAL", "_txlock=immediate")); err != nil {
		return s.says(err)
	}
	s.db.SetMaxOpenConns(1)
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		// A change of the journal does not wait for another process: it is tried again.
		if err = s.prepare(); code(err) != sqlite3.SQLITE_BUSY || time.Since(began) > busyTime {
			break
		}
	}
	if errors.Is(err, errNoStore) || errors.Is(err, ErrNewer) {
		return fmt.Errorf("run store %s: %w", s.file, err)
	}
	return s.says(err)
}

// prepare brings a file that was just opened into its form.
func (s *Store) prepare() error {
	ctx := context.Background()
	if is, err := current(ctx, s.db); err != nil {
		return err
	} else if !is {
		if err := upgrade(ctx, s.db); err != nil {
			return err
		}
	}
	var now string
	return s.db.QueryRowContext(ctx, "PRAGMA journal_mode = "+string(s.mode)).Scan(&now)
}

// address is the file as SQLite opens it.
func (s *Store) address(mode string, more ...string) string {
	path := s.file
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	out := u.String() + fmt.Sprintf("?mode=%s&_pragma=busy_timeout(%d)", mode, busyTime.Milliseconds())
	for _, m := range more {
		out += "&" + m
	}
	return out
}

// durability is the value of synchronous: whether a transaction that was acknowledged is on the disk itself. Without,
// a write-ahead log is in the memory of the operating system, which the end of the process leaves whole. A rollback journal
// that is removed is still there for a machine that fails before its folder is on the disk, and takes the change back.
func (s *Store) durability(disk bool) string {
	switch {
	case disk && s.mode == rollback:
		return "EXTRA"
	case disk, s.mode == rollback:
		return "FULL"
	}
	return "NORMAL"
}

// Path is the file of the store.
func (s *Store) Path() string {
	if s == nil {
		return ""
	}
	return s.file
}

// Journal is how the store keeps changes until they are whole: WAL or DELETE.
func (s *Store) Journal() string { return string(s.mode) }

// Lost remembers, unless it is nil, why something that no caller waits for was not kept. Close returns the first.
func (s *Store) Lost(err error) {
	if s == nil || err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		s.lost = err
	}
}

// Close writes what is not written yet and closes the file.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.touch()
	err := s.says(s.db.Close())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return s.lost
	}
	return err
}

// change runs f in a transaction.
func (s *Store) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}
