package runs

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"drtmx/engine/experiment"
)

const (
	// DefaultLimitBytes bounds the folder. A result is some 10 KB, so this is
	// tens of thousands of runs: all figures at both scales several times over.
	DefaultLimitBytes = 512 << 20
	// EntryLimitBytes bounds one entry; a larger one is not kept.
	EntryLimitBytes = 16 << 20

	magic  = "drtmx-run 1"
	suffix = ".run"
)

// ErrTooLarge reports an entry above EntryLimitBytes.
var ErrTooLarge = errors.New("runs: result is too large to keep")

// Store is a folder of results. Its methods may be called from several
// goroutines; a nil Store keeps nothing.
type Store struct {
	dir   string
	limit int64

	mu     sync.Mutex
	bytes  int64 // what this process believes the folder holds; -1 = not counted yet
	flight map[string]*call
}

// Options of Open.
type Options struct {
	// Dir is the folder, made when missing. Empty: drtmx/runs in the user's
	// cache folder ($XDG_CACHE_HOME, ~/.cache, ~/Library/Caches).
	Dir string
	// LimitBytes bounds the folder; 0 means DefaultLimitBytes.
	LimitBytes int64
}

// Open opens or makes a store.
func Open(o Options) (*Store, error) {
	dir := o.Dir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("run store: no cache folder (%w); set XDG_CACHE_HOME or HOME", err)
		}
		dir = filepath.Join(base, "drtmx", "runs")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("run store: %w; set XDG_CACHE_HOME to a folder that can be written", err)
	}
	limit := o.LimitBytes
	if limit == 0 {
		limit = DefaultLimitBytes
	}
	return &Store{dir: dir, limit: limit, bytes: -1, flight: map[string]*call{}}, nil
}

// Dir is the folder of the store.
func (s *Store) Dir() string {
	if s == nil {
		return ""
	}
	return s.dir
}

// Key names a run: code is the version of the code, parts what else decides
// the result (the resolved spec, the seed, the profile with its version, the
// scale of a figure). The parts are hashed as JSON, in which the keys of a map
// are sorted. An error means that a part cannot be written as JSON.
func Key(code string, parts ...any) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", magic, code)
	for i, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return "", fmt.Errorf("run key: part %d: %w", i, err)
		}
		fmt.Fprintf(h, "%d\n", len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (s *Store) path(key string) (string, bool) {
	if len(key) != 2*sha256.Size || strings.Trim(key, "0123456789abcdef") != "" {
		return "", false
	}
	return filepath.Join(s.dir, key[:2], key[2:]+suffix), true
}

// Get returns the stored result of a run. A damaged entry is as one that is
// not there.
func (s *Store) Get(key string) ([]byte, bool) {
	if s == nil {
		return nil, false
	}
	p, ok := s.path(key)
	if !ok {
		return nil, false
	}
	if fi, err := os.Stat(p); err != nil || fi.Size() > EntryLimitBytes+256 {
		return nil, false
	}
	raw, err := os.ReadFile(p)
	if err != nil {
		return nil, false
	}
	body, ok := decode(key, raw)
	if !ok {
		os.Remove(p)
		return nil, false
	}
	now := time.Now() // an entry in use is the last to be evicted
	os.Chtimes(p, now, now)
	return body, true
}

// Put stores the result of a run. It is written beside its place and renamed,
// so that readers see all of it or nothing.
func (s *Store) Put(key string, body []byte) error {
	if s == nil {
		return nil
	}
	p, ok := s.path(key)
	if !ok {
		return fmt.Errorf("runs: key %q is not one of Key", key)
	}
	if len(body) > EntryLimitBytes {
		return ErrTooLarge
	}
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return fmt.Errorf("run store: %w", err)
	}
	raw := encode(key, body)
	if err := Replace(p, raw, 0o600); err != nil {
		return fmt.Errorf("run store: %w", err)
	}
	s.account(int64(len(raw)))
	return nil
}

// ReadUpTo reads a regular file, and of one that is longer than limit a byte more than that: it may
// grow while it is read.
func ReadUpTo(p string, limit int64) ([]byte, error) {
	f, err := experiment.OpenRegular(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit+1))
}

// Replace makes a file hold raw. It is written beside its place and renamed, so
// that there is all of it or what was there before: also on a disk that is full,
// also after a crash. A file that was there keeps its permissions, perm is those of
// a new one. A link is replaced itself, not what it leads to.
func Replace(p string, raw []byte, perm fs.FileMode) error {
	tmp := filepath.Join(filepath.Dir(p), ".new-"+rand.Text())
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

func encode(key string, body []byte) []byte {
	sum := sha256.Sum256(body)
	var b bytes.Buffer
	b.Grow(len(body) + 256)
	fmt.Fprintf(&b, "%s %s %s %d\n", magic, key, hex.EncodeToString(sum[:]), len(body))
	b.Write(body)
	return b.Bytes()
}

// decode returns the body of an entry if head, length and checksum fit.
func decode(key string, raw []byte) ([]byte, bool) {
	head, body, ok := bytes.Cut(raw, []byte("\n"))
	if !ok {
		return nil, false
	}
	f := strings.Fields(strings.TrimPrefix(string(head), magic))
	if !bytes.HasPrefix(head, []byte(magic+" ")) || len(f) != 3 || f[0] != key || f[2] != strconv.Itoa(len(body)) {
		return nil, false
	}
	sum := sha256.Sum256(body)
	return body, f[1] == hex.EncodeToString(sum[:])
}

type entry struct {
	path string
	size int64
	used time.Time
}

// account adds to the believed size and evicts when it passes the limit. The
// folder is only walked at the first write and when the limit is passed.
func (s *Store) account(added int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes >= 0 {
		s.bytes += added
	}
	if s.bytes >= 0 && s.bytes <= s.limit {
		return
	}
	entries, total := s.scan()
	s.bytes = total
	if total <= s.limit {
		return
	}
	sort.Slice(entries, func(i, j int) bool {
		if !entries[i].used.Equal(entries[j].used) {
			return entries[i].used.Before(entries[j].used)
		}
		return entries[i].path < entries[j].path
	})
	for _, e := range entries {
		if s.bytes <= s.limit/5*4 { // leave room, so that not every write evicts
			break
		}
		if os.Remove(e.path) == nil {
			s.bytes -= e.size
		}
	}
}

// scan lists the entries and removes what crashed writers left behind.
func (s *Store) scan() ([]entry, int64) {
	var out []entry
	var total int64
	filepath.WalkDir(s.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return nil
		}
		switch {
		case strings.HasSuffix(p, suffix):
			out = append(out, entry{p, fi.Size(), fi.ModTime()})
			total += fi.Size()
		case strings.HasPrefix(d.Name(), ".new-") && time.Since(fi.ModTime()) > time.Hour:
			os.Remove(p)
		}
		return nil
	})
	return out, total
}

type call struct {
	done chan struct{}
	body []byte
	err  error
}

// Do returns the stored result of a run, or computes and stores it. Concurrent
// calls for one key compute once. stored tells whether the result was there
// before. A result that cannot be stored (disk full) is returned all the same.
func (s *Store) Do(key string, compute func() ([]byte, error)) (body []byte, stored bool, err error) {
	if s == nil {
		body, err = compute()
		return body, false, err
	}
	for {
		s.mu.Lock()
		c, busy := s.flight[key]
		if !busy {
			c = &call{done: make(chan struct{})}
			s.flight[key] = c
		}
		s.mu.Unlock()
		if !busy {
			return s.lead(key, c, compute)
		}
		<-c.done
		if c.err == nil {
			return c.body, true, nil
		}
		// The other caller failed, perhaps because its own context ended:
		// this one computes for itself.
	}
}

func (s *Store) lead(key string, c *call, compute func() ([]byte, error)) (body []byte, stored bool, err error) {
	c.err = errors.New("runs: computation ended in a panic")
	defer func() {
		s.mu.Lock()
		delete(s.flight, key)
		s.mu.Unlock()
		close(c.done)
	}()
	if b, ok := s.Get(key); ok {
		c.body, c.err = b, nil
		return b, true, nil
	}
	c.body, c.err = compute()
	if c.err == nil {
		// A full or read-only disk costs time later, not the result now.
		_ = s.Put(key, c.body)
	}
	return c.body, false, c.err
}
