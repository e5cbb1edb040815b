package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Recorder remembers the session of one system, and writes it to a file as it
// grows if it has one. The memory keeps what a fork needs: header, changes and
// the latest checkpoint.
//
// A record is written at once, so the death of the process loses nothing that
// was acknowledged; a goroutine syncs the file once a second and at its end, so
// the death of the machine loses a second.
type Recorder struct {
	mu       sync.Mutex
	header   Header
	steps    []Step
	marks    map[int]Checkpoint // how the system stood before the change that made a version; of some
	segment  int                // counts the segments
	last     *Checkpoint
	end      bool
	file     *File        // nil: memory only
	writeErr error        // the first; recording to the file ends with it
	lost     chan<- error // gets it, unless nil
}

func NewRecorder(h Header, file *File) *Recorder {
	r := &Recorder{file: file}
	r.Begin(h)
	return r
}

// Begun says why the file of a new recorder does not take even its header. Then it is
// removed: nothing is lost with it, and its name can be used again.
func (r *Recorder) Begun() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.writeErr
	if err == nil {
		err = r.file.f.Sync() // some disks say only then that they are full
	}
	if err == nil {
		return nil
	}
	path := r.file.f.Name()
	_ = r.file.close() // what it says is known
	os.Remove(path)
	r.file = nil
	return &experiment.SpecError{Field: "session", Value: path, Rule: "cannot be written: " + reason(err), Next: "name a file elsewhere"}
}

// Begin starts a segment.
func (r *Recorder) Begin(h Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header, r.steps, r.marks, r.last, r.end = h, nil, nil, nil, false
	r.segment++
	r.write(&record{Session: &h})
}

// Head describes the system as it was opened.
func (r *Recorder) Head() Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// Opened are all knobs as the system was opened with them.
func (r *Recorder) Opened() experiment.Knobs { return r.Head().Values }

// Continue goes on with a segment, which is in the file already; without one, in memory.
func Continue(g *Segment, file *File) *Recorder {
	r := &Recorder{file: file, header: g.Header}
	for _, st := range g.Steps {
		if st.Checkpoint != nil {
			r.last = st.Checkpoint
		} else {
			r.steps = append(r.steps, st)
		}
	}
	return r
}

// NotifyError names the channel that gets, once, why the file is no longer written.
func (r *Recorder) NotifyError(lost chan<- error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = lost
}

// Full says why no further change can be recorded, nil if one can.
func (r *Recorder) Full() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) >= changesLimit {
		return &FullError{}
	}
	return nil
}

// FullError refuses a change that the session has no room for (HTTP 409).
type FullError struct{}

func (*FullError) Error() string {
	return fmt.Sprintf("session: %d changes, the limit; reset the system to begin another", changesLimit)
}

func (r *Recorder) Change(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: c.VirtualNS, Change: &c})
	r.write(&record{Change: &c})
}

// KeepBefore keeps how the system stood before a change that is about to be recorded.
func (r *Recorder) KeepBefore(version int, at Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = map[int]Checkpoint{}
	}
	if _, ok := r.marks[version]; !ok {
		r.marks[version] = at
	}
}

// Before is how the system stood before the change that made a version, if that was kept.
func (r *Recorder) Before(version int) (Checkpoint, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.marks[version]
	return at, ok
}

// FirstOf is the version that began the drag which a version belongs to.
func (r *Recorder) FirstOf(version int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := version; v > 0; v-- {
		if _, ok := r.marks[v]; ok {
			return v
		}
	}
	return version
}

// HasCode says whether a transaction was added to the system.
func (r *Recorder) HasCode() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.steps, func(s Step) bool { return s.Transaction != nil })
}

// Step is that of a number in a segment, if it has been recorded.
func (r *Recorder) Step(segment, n int) (Step, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if segment != r.segment || n >= len(r.steps) {
		return Step{}, false
	}
	return r.steps[n], true
}

// Count is the segment and how many steps it has.
func (r *Recorder) Count() (segment, steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.segment, len(r.steps)
}

func (r *Recorder) Transaction(a AddedTxn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: a.VirtualNS, Transaction: &a})
	r.write(&record{Transaction: &a})
}

func (r *Recorder) Checkpoint(c Checkpoint, end bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && *r.last == c && r.end == end {
		return // nothing happened since
	}
	r.last, r.end = &c, end
	if end {
		r.write(&record{End: &c})
	} else {
		r.write(&record{Checkpoint: &c})
	}
}

func (r *Recorder) Failed(f Broken) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: f.VirtualNS, Failed: &f})
	r.write(&record{Failed: &f})
}

// SoFar copies the segment so far.
func (r *Recorder) SoFar() Segment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Segment{Header: r.header, Steps: append([]Step(nil), r.steps...)}
}

// Bytes is the segment as a session file, with a checkpoint at its end.
func (r *Recorder) Bytes(now *Checkpoint) ([]byte, error) {
	g := r.SoFar()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	if err := enc.Encode(record{Session: &g.Header}); err != nil {
		return nil, err
	}
	failed := false
	for _, st := range g.Steps {
		failed = failed || st.Failed != nil
		if err := enc.Encode(record{Change: st.Change, Transaction: st.Transaction, Failed: st.Failed}); err != nil {
			return nil, err
		}
	}
	if now != nil && !failed {
		if err := enc.Encode(record{End: now}); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// write appends to the file; r.mu is held.
func (r *Recorder) write(rec *record) {
	if r.file == nil || r.writeErr != nil {
		return
	}
	if r.writeErr = r.file.append(rec); r.writeErr == nil {
		return
	}
	select {
	case r.lost <- r.writeErr: // has room for the first
	default:
	}
}

// Broken says why the file is no longer written, "" while it is.
func (r *Recorder) Broken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writeErr == nil {
		return ""
	}
	return words.OneLine(r.writeErr.Error())
}

func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := r.file.close()
	r.file = nil
	if r.writeErr != nil {
		return r.writeErr
	}
	return err
}

// File is an open session file; exclusive while it is open.
type File struct {
	f       *os.File
	mu      sync.Mutex
	dirty   bool
	syncErr error // the first of syncLoop's: the system tells each but once
	quit    chan struct{}
	done    chan struct{}
}

// Create makes a session file. A recorded session is never overwritten.
func Create(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &experiment.SpecError{Field: "session", Value: path, Rule: "exists and a session is never overwritten",
			Next: "continue it with --resume or name another file"}
	}
	if err != nil {
		return nil, FileError("session", path, err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, FileError("session", path, err)
	}
	syncFolder(path)
	return newSessionFile(f), nil
}

// Resume reads a session file and opens it for what follows. A torn last
// line is cut off, once accept has found nothing wrong with the rest.
func Resume(path string, accept func(*Session) error) (*Session, *File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, FileError("resume", path, err)
	}
	if i, err := f.Stat(); err == nil && !i.Mode().IsRegular() { // to read a pipe may take for ever
		f.Close()
		return nil, nil, FileError("resume", path, errors.New("is no regular file"))
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, nil, &experiment.SpecError{Field: "resume", Value: path, Rule: "is being written by another drtmx", Next: "end that one first"}
	}
	s, err := Read(f)
	if err == nil {
		err = accept(s)
	}
	if err != nil {
		f.Close()
		return nil, nil, FileError("resume", path, err)
	}
	if s.Torn {
		err = f.Truncate(s.Bytes)
	}
	if err == nil {
		_, err = f.Seek(s.Bytes, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, nil, FileError("resume", path, err)
	}
	return s, newSessionFile(f), nil
}

func FileError(what, path string, err error) error {
	return &experiment.SpecError{Field: what, Value: path, Rule: reason(err), Next: "name another file"}
}

// reason is what an error says besides the path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return words.OneLine(err.Error())
}

// syncFolder makes the name of a new file durable; where that cannot be done
// the file is still good.
func syncFolder(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

func newSessionFile(f *os.File) *File {
	s := &File{f: f, quit: make(chan struct{}), done: make(chan struct{})}
	go s.syncLoop()
	return s
}

func (s *File) append(rec *record) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty = true
	err = s.syncErr
	if err == nil {
		_, err = s.f.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("session: recording ended: %w", err)
	}
	return nil
}

func (s *File) syncLoop() {
	defer close(s.done)
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-t.C:
			s.mu.Lock()
			dirty := s.dirty
			s.dirty = false
			s.mu.Unlock()
			if dirty {
				s.sync()
			}
		}
	}
}

// sync keeps an error for the next write, or for close.
func (s *File) sync() {
	err := s.f.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.syncErr == nil {
		s.syncErr = err
	}
}

func (s *File) close() error {
	close(s.quit)
	<-s.done
	s.sync()
	err := s.f.Close()
	if s.syncErr != nil {
		return s.syncErr
	}
	return err
}

// windowHash chains the windows of a system in their order. Two systems have
// the same hash after n windows only if all n are equal.
type windowHash struct {
	n   int
	sum [sha256.Size]byte
}

func (h *windowHash) add(w *result.Window) error {
	b, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("window %d: %w", w.Index, err)
	}
	d := sha256.New()
	d.Write(h.sum[:])
	d.Write(b)
	d.Sum(h.sum[:0])
	h.n++
	return nil
}

func (h *windowHash) hex() string { return hex.EncodeToString(h.sum[:]) }
