package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"drtmx/engine"
)

const (
	// DefaultPace is slow enough to watch: one second of wall time is 6 ms in
	// the cluster, some tens of thousands of transactions.
	DefaultPace = 6_000_000
	// MaxSystems is a limit of the page as much as of memory.
	MaxSystems = 4
)

// Options of an Agent. The zero value runs flat out without a session file.
type Options struct {
	// Pace is virtual nanoseconds per second of wall time; 0 runs flat out.
	Pace int64
	// Paused starts without moving: time passes only in steps and runs.
	Paused bool
	// Session is a file to which system a's session is written as it grows. It
	// must not exist yet.
	Session string
	// Resume is a session file to catch up with and to continue. The spec given
	// to NewAgent is then not used.
	Resume string
	// Open makes systems; nil means the engine.
	Open Opener
}

// Agent keeps up to four systems alive. Its methods may be called from any
// goroutine.
type Agent struct {
	opts  Options
	hub   *hub
	tasks *tasks

	mu       sync.Mutex
	members  map[string]*member
	closed   bool
	closeErr error
	ended    chan struct{} // closed with the agent
}

// NewAgent opens system a and starts it. Nothing is started on error.
func NewAgent(spec engine.Spec, o Options) (*Agent, error) {
	if o.Open == nil {
		o.Open = openEngine
	}
	if o.Pace < 0 {
		return nil, &engine.SpecError{Field: "pace", Value: fmt.Sprint(o.Pace), Rule: "must be 0 (flat out) or above"}
	}
	if o.Session != "" && o.Resume != "" {
		return nil, &engine.SpecError{Field: "session", Value: o.Session, Rule: "cannot be combined with resume, which continues its own file", Next: "drop one"}
	}
	a := &Agent{opts: o, hub: newHub(), tasks: &tasks{}, members: map[string]*member{}, ended: make(chan struct{})}
	var m *member
	var err error
	if o.Resume != "" {
		m, err = a.resume(o.Resume)
	} else {
		m, err = a.first(spec)
	}
	if err != nil {
		return nil, err
	}
	m.pace, m.paused = o.Pace, o.Paused
	a.members[m.id] = m
	m.start()
	return a, nil
}

func (a *Agent) open(spec engine.Spec) (sys System, err error) {
	err = guarded("open", func() error { sys, err = a.opts.Open(spec); return err })
	return sys, err
}

func (a *Agent) first(spec engine.Spec) (*member, error) {
	sys, err := a.open(spec)
	if err != nil {
		return nil, err
	}
	var file *sessionFile
	if a.opts.Session != "" {
		if file, err = createSession(a.opts.Session); err != nil {
			closeSystem(sys)
			return nil, err
		}
	}
	return newMember(a, "a", sys, newRecorder(headerOf("a", sys), file)), nil
}

// resume opens the last segment of a session file and catches up with it; what
// follows is appended.
func (a *Agent) resume(path string) (*member, error) {
	var sys System
	s, file, err := resumeSession(path, func(s *Session) (err error) {
		if err := s.Replayable(); err != nil {
			return err
		}
		g := &s.Segments[len(s.Segments)-1]
		if n := len(g.Steps); n > 0 && g.Steps[n-1].Failed != nil {
			return fmt.Errorf("ends in a failure (%s); drtmx replay repeats it", g.Steps[n-1].Failed.Error)
		}
		sys, err = g.reopen(a.open)
		return err
	})
	if err != nil {
		if sys != nil {
			closeSystem(sys)
		}
		return nil, err
	}
	g := &s.Segments[len(s.Segments)-1]
	rec := &recorder{file: file}
	rec.adopt(g)
	m := newMember(a, "a", sys, rec)
	m.replay = &replay{steps: g.Steps, target: g.EndNS(), task: "catch up a"}
	return m, nil
}

// newEpoch names one life of a system, so that a reader notices the next.
func newEpoch() string {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return time.Now().UTC().Format("150405.000000")
	}
	return hex.EncodeToString(b[:])
}

// NoSystemError names a system that does not exist (HTTP 404).
type NoSystemError struct {
	Sys  string
	Have []string
}

func (e *NoSystemError) Error() string {
	return fmt.Sprintf("sys = %s: no such system; there is %v", oneLine(e.Sys), e.Have)
}

func (a *Agent) member(id string) (*member, error) {
	if id == "" {
		id = "a"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errClosed
	}
	if m, ok := a.members[id]; ok {
		return m, nil
	}
	return nil, &NoSystemError{id, a.idsLocked()}
}

func (a *Agent) idsLocked() []string {
	ids := make([]string, 0, len(a.members))
	for id := range a.members {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// all returns the systems in the order of their names.
func (a *Agent) all() []*member {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]*member, 0, len(a.members))
	for _, id := range a.idsLocked() {
		out = append(out, a.members[id])
	}
	return out
}

// Systems describes the systems.
func (a *Agent) Systems() []Snapshot {
	var out []Snapshot
	for _, m := range a.all() {
		out = append(out, *m.snap.Load())
	}
	return out
}

// State is how a system stands. It never waits for a slice.
func (a *Agent) State(sys string) (Snapshot, error) {
	m, err := a.member(sys)
	if err != nil {
		return Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// call runs f on the goroutine of a system.
func (a *Agent) call(ctx context.Context, sys string, f func(m *member) error) error {
	m, err := a.member(sys)
	if err != nil {
		return err
	}
	var ferr error
	if err := m.do(ctx, func() { ferr = f(m) }); err != nil {
		return err
	}
	return ferr
}

// Set changes knobs of a system now: all of them or none. by is "page",
// "notebook" or "script" and marks the change.
func (a *Agent) Set(ctx context.Context, sys string, k engine.Knobs, by string) (c engine.Change, err error) {
	if len(k) == 0 {
		return c, &engine.SpecError{Field: "knobs", Rule: "none given", Next: `send {"name": value}`}
	}
	err = a.call(ctx, sys, func(m *member) error { c, err = m.set(k, by); return err })
	return c, err
}

// Knobs is the registry as it stands in a system.
func (a *Agent) Knobs(ctx context.Context, sys string) (out []engine.KnobState, err error) {
	err = a.call(ctx, sys, func(m *member) error { out = m.sys.Knobs(); return nil })
	return out, err
}

// Spec is a system's spec with every live change applied.
func (a *Agent) Spec(ctx context.Context, sys string) (out engine.Spec, err error) {
	err = a.call(ctx, sys, func(m *member) error { out = m.sys.Spec(); return nil })
	return out, err
}

// Windows returns the kept windows from index from on.
func (a *Agent) Windows(ctx context.Context, sys string, from int) (out []engine.Window, err error) {
	err = a.call(ctx, sys, func(m *member) error { out = m.sys.Windows(from); return nil })
	return out, err
}

// Events are the latest things that happened to a system, oldest first.
func (a *Agent) Events(ctx context.Context, sys string) (out []Event, err error) {
	err = a.call(ctx, sys, func(m *member) error { out = append(out, m.past...); return nil })
	return out, err
}

// Result is what was measured since the last Run began, or since 0.
func (a *Agent) Result(ctx context.Context, sys string) (out *engine.Result, err error) {
	err = a.call(ctx, sys, func(m *member) error { out = m.sys.Result(); return nil })
	return out, err
}

// Session is the recording of a system so far, as a session file.
func (a *Agent) Session(ctx context.Context, sys string) (out []byte, err error) {
	err = a.call(ctx, sys, func(m *member) error {
		now := m.mark()
		out, err = m.rec.bytes(&now)
		return err
	})
	return out, err
}

// some runs f on the goroutines of one system, or of all if sys is empty.
func (a *Agent) some(ctx context.Context, sys string, f func(m *member) error) error {
	if sys != "" {
		return a.call(ctx, sys, f)
	}
	for _, m := range a.all() {
		if err := a.call(ctx, m.id, f); err != nil {
			return err
		}
	}
	return nil
}

// Pause stops a system, or all if sys is empty, between two slices.
func (a *Agent) Pause(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		m.paused = true
		m.publish(time.Now())
		return nil
	})
}

// Resume lets a paused system, or all if sys is empty, run on.
func (a *Agent) Resume(ctx context.Context, sys string) error {
	return a.some(ctx, sys, func(m *member) error {
		if m.err != nil {
			return m.failedError()
		}
		m.paused = false
		m.anchor(time.Now())
		m.publish(time.Now())
		return nil
	})
}

// Pace sets virtual nanoseconds per second of wall time, 0 for flat out, of one
// system or of all.
func (a *Agent) Pace(ctx context.Context, sys string, ns int64) error {
	if ns < 0 || ns > int64(time.Hour) {
		return &engine.SpecError{Field: "virtual_ns", Value: fmt.Sprint(ns), Rule: "must be from 0 (flat out) to an hour per second"}
	}
	return a.some(ctx, sys, func(m *member) error {
		m.pace = ns
		m.anchor(time.Now())
		m.publish(time.Now())
		return nil
	})
}

// Step advances a system, or all if sys is empty, by d and pauses it there. It
// returns when all have arrived.
func (a *Agent) Step(ctx context.Context, sys string, d int64) error {
	type begun struct {
		m *member
		s *step
	}
	var bs []begun
	err := a.some(ctx, sys, func(m *member) error {
		s, err := m.beginStep(d, nil)
		if err == nil {
			m.paused = true
			bs = append(bs, begun{m, s})
		}
		return err
	})
	for _, b := range bs {
		if werr := a.await(ctx, b.m, b.s); err == nil {
			err = werr
		}
	}
	return err
}

// await waits for a step; when the context ends, so does the step.
func (a *Agent) await(ctx context.Context, m *member, s *step) error {
	select {
	case err := <-s.done:
		return err
	case <-m.done:
		return errClosed
	case <-ctx.Done():
	}
	select { // the loop may be inside a slice of user code that does not end
	case m.cmds <- func() { m.cancelStep(s, ctx.Err()) }:
		select {
		case err := <-s.done:
			if err == nil { // it arrived meanwhile
				return nil
			}
		case <-m.done:
		case <-time.After(time.Second):
		}
	case <-m.done:
	case <-time.After(time.Second):
	}
	return ctx.Err()
}

// Run measures d of virtual time, flat out, and returns what it measured; then
// the system goes on as before. A change that waits for its drain takes effect
// first: what is measured is the cluster with it.
func (a *Agent) Run(ctx context.Context, sys string, d int64, progress func(done, total int)) (*engine.Result, error) {
	m, err := a.member(sys)
	if err != nil {
		return nil, err
	}
	var s *step
	err = a.call(ctx, sys, func(m *member) (err error) {
		if s, err = m.beginStep(d, progress); err == nil {
			s.settle = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := a.await(ctx, m, s); err != nil {
		return nil, err
	}
	return a.Result(ctx, m.id)
}

// Reset begins a system again at 0 with some knobs changed; any knob, live or
// not. The old system goes on if the new one cannot be opened.
func (a *Agent) Reset(ctx context.Context, sys string, k engine.Knobs, seed any, by string) error {
	return a.call(ctx, sys, func(m *member) error { return m.reset(k, seed, by) })
}

// Fork opens another system that replays the session of one up to now and then
// differs in the given knobs only. It returns at once with the name of the new
// system, which catches up while the others run.
func (a *Agent) Fork(ctx context.Context, from string, k engine.Knobs, by string) (Snapshot, error) {
	var g Segment
	var at Checkpoint
	var code []addedCode
	var pace int64
	var paused bool
	err := a.call(ctx, from, func(m *member) error {
		switch {
		case m.err != nil:
			return m.failedError()
		case m.replay != nil:
			return &BusyError{m.id, "is catching up with its session"}
		}
		if err := m.sys.Check(k); err != nil {
			return err // now, rather than after the replay
		}
		g, at, code = m.rec.history(), m.mark(), append([]addedCode(nil), m.added...)
		pace, paused, from = m.pace, m.paused, m.id
		return nil
	})
	if err != nil {
		return Snapshot{}, err
	}
	sys, err := a.open(g.Header.Spec)
	if err != nil {
		return Snapshot{}, err
	}
	g.Steps = append(g.Steps, Step{VirtualNS: at.VirtualNS, Checkpoint: &at})
	m, err := a.add(sys, func(id string) *member {
		rec := &recorder{}
		rec.adopt(&Segment{Header: g.Header, Steps: g.Steps})
		m := newMember(a, id, sys, rec)
		m.pace, m.paused, m.forkOf, m.forkNS = pace, paused, from, at.VirtualNS
		m.replay = &replay{steps: g.Steps, target: at.VirtualNS, code: code, task: "catch up " + id}
		m.replay.then = func() error {
			m.event(Event{Kind: "fork", By: by, Set: k, Text: "from " + from})
			if len(k) == 0 {
				return nil
			}
			_, err := m.apply(k, by)
			return err
		}
		return m
	})
	if err != nil {
		closeSystem(sys)
		return Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// Add opens another system from 0, beside the others.
func (a *Agent) Add(spec engine.Spec) (Snapshot, error) {
	sys, err := a.open(spec)
	if err != nil {
		return Snapshot{}, err
	}
	m, err := a.add(sys, func(id string) *member {
		m := newMember(a, id, sys, newRecorder(headerOf(id, sys), nil))
		m.pace, m.paused = a.opts.Pace, a.opts.Paused
		return m
	})
	if err != nil {
		closeSystem(sys)
		return Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// FullError refuses a fifth system (HTTP 409).
type FullError struct{}

func (FullError) Error() string {
	return fmt.Sprintf("systems: at most %d at once; close one first", MaxSystems)
}

// add gives a system the first free name and starts it.
func (a *Agent) add(_ System, build func(id string) *member) (*member, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, errClosed
	}
	for _, id := range []string{"a", "b", "c", "d"} {
		if _, used := a.members[id]; !used {
			m := build(id)
			a.members[id] = m
			m.start()
			return m, nil
		}
	}
	return nil, FullError{}
}

// CloseSystem ends one of the systems; a stays.
func (a *Agent) CloseSystem(sys string) error {
	if sys == "" || sys == "a" {
		return &engine.SpecError{Field: "sys", Value: "a", Rule: "stays as long as the agent", Next: "reset it or end the agent"}
	}
	m, err := a.member(sys)
	if err != nil {
		return err
	}
	a.mu.Lock()
	if a.members[sys] != m {
		a.mu.Unlock()
		return &NoSystemError{sys, nil}
	}
	delete(a.members, sys)
	a.mu.Unlock()
	close(m.quit)
	<-m.done
	a.taskDone("catch up "+sys, errClosed)
	return nil
}

// Close ends all systems and completes the session file. It returns the first
// error of the recording.
func (a *Agent) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil
	}
	a.closed = true
	close(a.ended)
	a.mu.Unlock()
	ms := a.all()
	for _, m := range ms {
		close(m.quit)
	}
	stuck := false
	for _, m := range ms {
		select {
		case <-m.done:
		case <-time.After(5 * time.Second):
			stuck = true // user code that does not end; the process may end all the same
		}
	}
	a.tasks.cancelAll()
	a.hub.close()
	a.mu.Lock()
	defer a.mu.Unlock()
	if stuck && a.closeErr == nil {
		a.closeErr = errors.New("a system did not end within 5 s: a transaction of yours may be in an endless loop")
	}
	return a.closeErr
}

// closing keeps the first error of the recordings.
func (a *Agent) closing(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	if a.closeErr == nil {
		a.closeErr = err
	}
	a.mu.Unlock()
}

// lead is how far a system may be ahead of the slowest one that runs.
func (m *member) lead() int64 {
	if m.pace > 0 {
		return max(m.pace/10, 1)
	}
	return max(4*m.window, 1)
}

// room keeps the systems together: it says how far m may advance until it has
// to wait for another. One that is stuck, paused or failed is not waited for,
// nor, at a pace that someone watches, one that is seconds behind; it catches
// up flat out (behind).
func (a *Agent) room(m *member) int64 {
	room := sliceLimit
	lead, now := m.lead(), m.sys.NowNS()
	for _, o := range a.others(m) {
		gap := now - o.snap.Load().VirtualNS
		if (m.pace == 0 || gap < 20*lead) && time.Now().UnixNano()-o.moved.Load() < int64(2*time.Second) {
			room = min(room, lead-gap)
		}
	}
	return room
}

// behind is true for a system that others are ahead of.
func (a *Agent) behind(m *member) bool {
	lead, now := m.lead(), m.sys.NowNS()
	for _, o := range a.others(m) {
		if o.snap.Load().VirtualNS-now > lead {
			return true
		}
	}
	return false
}

// others are the systems that run along with m.
func (a *Agent) others(m *member) []*member {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.members) < 2 {
		return nil
	}
	var out []*member
	for _, o := range a.members {
		s := o.snap.Load()
		if o != m && s != nil && (s.State == StateRunning || s.State == StateDraining) && !s.CatchingUp {
			out = append(out, o)
		}
	}
	return out
}

// controlBody is POST /api/control.
type controlBody struct {
	Action    string       `json:"action"`
	VirtualNS *int64       `json:"virtual_ns,omitempty"`
	Set       engine.Knobs `json:"set,omitempty"`
	Seed      any          `json:"seed,omitempty"`
}

// control does what a control body asks for.
func (a *Agent) control(ctx context.Context, sys string, b controlBody, by string) error {
	if (b.Action == "step" || b.Action == "pace") && b.VirtualNS == nil {
		return &engine.SpecError{Field: "virtual_ns", Rule: "is missing", Next: `as {"action": "` + b.Action + `", "virtual_ns": 1000000}`}
	}
	switch b.Action {
	case "pause":
		return a.Pause(ctx, sys)
	case "resume":
		return a.Resume(ctx, sys)
	case "step":
		return a.Step(ctx, sys, *b.VirtualNS)
	case "pace":
		return a.Pace(ctx, sys, *b.VirtualNS)
	case "reset":
		return a.Reset(ctx, sys, b.Set, b.Seed, by)
	}
	return &engine.SpecError{Field: "action", Value: clip(b.Action), Rule: "must be pause, resume, step, pace or reset"}
}
