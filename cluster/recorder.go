package cluster

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

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// recorder remembers the session of one system, and writes it to a file as it
// grows if it has one. The memory keeps what a fork needs: header, changes and
// the latest checkpoint.
//
// A record is written at once, so the death of the process loses nothing that
// was acknowledged; a goroutine syncs the file once a second and at its end, so
// the death of the machine loses a second.
type recorder struct {
	mu       sync.Mutex
	header   Header
	steps    []Step
	marks    map[int]Checkpoint // how the system stood before the change that made a version; of some
	segment  int                // counts the segments
	last     *Checkpoint
	end      bool
	file     *sessionFile // nil: memory only
	writeErr error        // the first; recording to the file ends with it
	lost     chan<- error // gets it, unless nil
}

func newRecorder(h Header, file *sessionFile) *recorder {
	r := &recorder{file: file}
	r.begin(h)
	return r
}

// begun says why the file of a new recorder does not take even its header. Then it is
// removed: nothing is lost with it, and its name can be used again.
func (r *recorder) begun() error {
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

// begin starts a segment.
func (r *recorder) begin(h Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header, r.steps, r.marks, r.last, r.end = h, nil, nil, nil, false
	r.segment++
	r.write(&record{Session: &h})
}

// head describes the system as it was opened.
func (r *recorder) head() Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// opened are all knobs as the system was opened with them.
func (r *recorder) opened() experiment.Knobs { return r.head().Values }

// continueRecorder goes on with a segment, which is in the file already; without one, in memory.
func continueRecorder(g *Segment, file *sessionFile) *recorder {
	r := &recorder{file: file, header: g.Header}
	for _, st := range g.Steps {
		if st.Checkpoint != nil {
			r.last = st.Checkpoint
		} else {
			r.steps = append(r.steps, st)
		}
	}
	return r
}

// tell names who is told, once, why the file is no longer written.
func (r *recorder) tell(lost chan<- error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = lost
}

// full says why no further change can be recorded, nil if one can.
func (r *recorder) full() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) >= changesLimit {
		return &fullSessionError{}
	}
	return nil
}

// fullSessionError refuses a change that the session has no room for (HTTP 409).
type fullSessionError struct{}

func (*fullSessionError) Error() string {
	return fmt.Sprintf("session: %d changes, the limit; reset the system to begin another", changesLimit)
}

func (r *recorder) change(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: c.VirtualNS, Change: &c})
	r.write(&record{Change: &c})
}

// before keeps how the system stood before a change that is about to be recorded.
func (r *recorder) before(version int, at Checkpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = map[int]Checkpoint{}
	}
	if _, ok := r.marks[version]; !ok {
		r.marks[version] = at
	}
}

// mark is how the system stood before the change that made a version, if that was kept.
func (r *recorder) mark(version int) (Checkpoint, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, ok := r.marks[version]
	return at, ok
}

// group is the version that began the drag which a version belongs to.
func (r *recorder) group(version int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := version; v > 0; v-- {
		if _, ok := r.marks[v]; ok {
			return v
		}
	}
	return version
}

// hasCode says whether a transaction was added to the system.
func (r *recorder) hasCode() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.steps, func(s Step) bool { return s.Transaction != nil })
}

// step is that of a number in a segment, if it has been recorded.
func (r *recorder) step(segment, n int) (Step, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if segment != r.segment || n >= len(r.steps) {
		return Step{}, false
	}
	return r.steps[n], true
}

// count is the segment and how many steps it has.
func (r *recorder) count() (segment, steps int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.segment, len(r.steps)
}

func (r *recorder) transaction(a AddedTxn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: a.VirtualNS, Transaction: &a})
	r.write(&record{Transaction: &a})
}

func (r *recorder) checkpoint(c Checkpoint, end bool) {
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

func (r *recorder) failed(f Broken) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{VirtualNS: f.VirtualNS, Failed: &f})
	r.write(&record{Failed: &f})
}

// history copies the segment so far.
func (r *recorder) history() Segment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Segment{Header: r.header, Steps: append([]Step(nil), r.steps...)}
}

// bytes is the segment as a session file, with a checkpoint at its end.
func (r *recorder) bytes(now *Checkpoint) ([]byte, error) {
	g := r.history()
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
func (r *recorder) write(rec *record) {
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

// broken says why the file is no longer written, "" while it is.
func (r *recorder) broken() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writeErr == nil {
		return ""
	}
	return oneLine(r.writeErr.Error())
}

func (r *recorder) close() error {
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

// sessionFile is an open session file; exclusive while it is open.
type sessionFile struct {
	f       *os.File
	mu      sync.Mutex
	dirty   bool
	syncErr error // the first of syncLoop's: the system tells each but once
	quit    chan struct{}
	done    chan struct{}
}

// createSession makes a session file. A recorded session is never overwritten.
func createSession(path string) (*sessionFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &experiment.SpecError{Field: "session", Value: path, Rule: "exists and a session is never overwritten",
			Next: "continue it with --resume or name another file"}
	}
	if err != nil {
		return nil, fileError("session", path, err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, fileError("session", path, err)
	}
	syncFolder(path)
	return newSessionFile(f), nil
}

// resumeSession reads a session file and opens it for what follows. A torn last
// line is cut off, once accept has found nothing wrong with the rest.
func resumeSession(path string, accept func(*Session) error) (*Session, *sessionFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, fileError("resume", path, err)
	}
	if i, err := f.Stat(); err == nil && !i.Mode().IsRegular() { // to read a pipe may take for ever
		f.Close()
		return nil, nil, fileError("resume", path, errors.New("is no regular file"))
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, nil, &experiment.SpecError{Field: "resume", Value: path, Rule: "is being written by another drtmx", Next: "end that one first"}
	}
	s, err := ReadSession(f)
	if err == nil {
		err = accept(s)
	}
	if err != nil {
		f.Close()
		return nil, nil, fileError("resume", path, err)
	}
	if s.Torn {
		err = f.Truncate(s.Bytes)
	}
	if err == nil {
		_, err = f.Seek(s.Bytes, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, nil, fileError("resume", path, err)
	}
	return s, newSessionFile(f), nil
}

func fileError(what, path string, err error) error {
	return &experiment.SpecError{Field: what, Value: path, Rule: reason(err), Next: "name another file"}
}

// reason is what an error says besides the path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return oneLine(err.Error())
}

// syncFolder makes the name of a new file durable; where that cannot be done
// the file is still good.
func syncFolder(path string) {
	if d, err := os.Open(filepath.Dir(path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

func newSessionFile(f *os.File) *sessionFile {
	s := &sessionFile{f: f, quit: make(chan struct{}), done: make(chan struct{})}
	go s.syncLoop()
	return s
}

func (s *sessionFile) append(rec *record) error {
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

func (s *sessionFile) syncLoop() {
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
func (s *sessionFile) sync() {
	err := s.f.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.syncErr == nil {
		s.syncErr = err
	}
}

func (s *sessionFile) close() error {
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
