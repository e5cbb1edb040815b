package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/twin"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

const (
	// DefaultPace is slow enough to watch: one second of wall time is 6 ms in
	// the cluster, some tens of thousands of transactions.
	DefaultPace = 6_000_000
	// MaxSystems is a limit of the page as much as of memory.
	MaxSystems = experiment.MaxSystems
)

// Options of an Agent. The zero value runs flat out without a session file.
type Options struct {
	// Pace is virtual nanoseconds per second of wall time; 0 runs flat out.
	Pace int64
	// Clock is what the pace goes by; nil means time.Now. A test steps its own.
	Clock func() time.Time
	// Paused starts without moving: time passes only in steps and runs.
	Paused bool
	// Session is a file to which system a's session is written as it grows. It
	// must not exist yet.
	Session string
	// Resume is a session file to catch up with and to continue. The spec given
	// to NewAgent is then not used.
	Resume string
	// NoTwin starts with the standby twin switched off (SetTwin switches it on): a ghost
	// is then replayed. A twin takes the memory of another system, and spare CPU.
	NoTwin bool
	// Open makes systems; nil means the engine.
	Open system.Opener
	// Context ends NewAgent while it opens system a, which takes seconds where that is
	// large; nil: nothing does. Afterwards it means nothing.
	Context context.Context
	// Progress, unless nil, is told how far that is.
	Progress engine.Progress

	// Notebook says that a notebook drives the systems: nothing else takes their time.
	Notebook bool
	// Memory is how many bytes are available, 0 if that is unknown; nil asks the computer.
	Memory func() (free int64)

	leaveAfter time.Duration // how long a twin outlives its pages; 0: as usual
}

// Agent keeps up to four systems alive. Its methods may be called from any
// goroutine.
type Agent struct {
	opts      Options
	hub       *hub
	tasks     *tasks
	spare     twin.Spare
	histories chan struct{} // held while a history is written: one at a time
	standby   *twin.Standby

	mu       sync.Mutex
	members  map[string]*member
	held     map[string]bool // names of systems that are being opened
	closed   bool
	closeErr error
	ctx      context.Context // ends with the agent, and so does what is under way for it
	stop     context.CancelFunc
	lost     chan error     // why the session file is no longer written, once
	loops    sync.WaitGroup // of all systems, also of those that have no name any more
	closing  sync.Once
}

// New opens system a, and b to d if the spec lists several, and starts them. Nothing is started on error.
func New(spec experiment.Spec, o Options) (*Agent, error) {
	if o.Open == nil {
		o.Open = system.OpenEngine
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if err := CheckPace("pace", fmt.Sprint(o.Pace), o.Pace); err != nil {
		return nil, err
	}
	if o.Session != "" && o.Resume != "" {
		return nil, &experiment.SpecError{Field: "session", Value: o.Session, Rule: "cannot be combined with resume, which continues its own file", Next: "drop one"}
	}
	a := &Agent{opts: o, hub: newHub(), tasks: &tasks{}, members: map[string]*member{}, held: map[string]bool{}, histories: make(chan struct{}, 1), lost: make(chan error, 1)}
	a.ctx, a.stop = context.WithCancel(context.Background())
	a.standby = twin.NewStandby(twinHost{a}, &a.spare, twin.Options{Off: o.NoTwin, Notebook: o.Notebook, LeaveAfter: o.leaveAfter})
	list, err := a.begin(spec)
	if err != nil {
		a.stop()
		return nil, err
	}
	for _, m := range list {
		m.pace, m.paused = o.Pace, o.Paused
		a.members[m.id] = m
	}
	for _, m := range list {
		m.start()
	}
	return a, nil
}

// begin opens the systems that the agent has from its start.
func (a *Agent) begin(spec experiment.Spec) ([]*member, error) {
	if a.opts.Resume != "" {
		m, err := a.resume(a.opts.Resume)
		return []*member{m}, err
	}
	specs, err := spec.Each()
	if err != nil {
		return nil, err
	}
	if len(specs) > 1 && a.opts.Session != "" {
		return nil, &experiment.SpecError{Field: "session", Value: a.opts.Session, Rule: fmt.Sprintf("records one system, the spec lists %d", len(specs)), Next: "leave it out; the page saves the session of each"}
	}
	var list []*member
	for i, s := range specs {
		m, err := a.nth(i, len(specs), s)
		if err != nil {
			for _, m := range list {
				system.Close(m.Sys)
			}
			return nil, err
		}
		if len(specs) > 1 {
			m.of = spec.Name
		}
		list = append(list, m)
	}
	return list, nil
}

// open makes a system, unless ctx or the agent ends before.
func (a *Agent) open(ctx context.Context, spec experiment.Spec, progress engine.Progress) (sys system.System, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.ctx, cancel)()
	err = system.Guard("open", func() error { sys, err = a.opts.Open(ctx, spec, progress); return err })
	if errors.Is(err, context.Canceled) && a.ctx.Err() != nil {
		err = ErrClosed
	}
	return sys, err
}

// openTask is open for a reader of frames, who sees a task if it takes long.
func (a *Agent) openTask(ctx context.Context, spec experiment.Spec, name string) (system.System, error) {
	next := time.Now().Add(taskAfter)
	sys, err := a.open(ctx, spec, func(_ string, done, total int) {
		if now := time.Now(); now.After(next) {
			next = now.Add(frameEvery)
			a.tasks.progress(name, int64(done), int64(total))
			a.announce()
		}
	})
	if a.tasks.end(name, err) {
		a.announce()
	}
	return sys, err
}

// nth opens the system of that number, from 0, of as many.
func (a *Agent) nth(i, of int, spec experiment.Spec) (*member, error) {
	sys, err := a.open(a.opts.Context, spec, share(a.opts.Progress, i, of))
	if err != nil {
		return nil, err
	}
	id := SystemNames[i]
	var file *session.File
	if a.opts.Session != "" {
		if file, err = session.Create(a.opts.Session); err != nil {
			system.Close(sys)
			return nil, err
		}
	}
	rec := session.NewRecorder(session.HeaderOf(id, sys), file)
	if err := rec.Begun(); err != nil {
		system.Close(sys)
		return nil, err
	}
	rec.NotifyError(a.lost)
	return newMember(a, id, sys, rec), nil
}

// share is the progress of one of several pieces of work, by its number from 0.
func share(all engine.Progress, i, of int) engine.Progress {
	if all == nil || of == 1 {
		return all
	}
	return func(doing string, done, total int) { all(doing, i*total+done, of*total) }
}

// SystemNames are in the order in which they are given.
var SystemNames = [MaxSystems]string{"a", "b", "c", "d"}

// resume opens the last segment of a session file and catches up with it; what
// follows is appended.
func (a *Agent) resume(path string) (*member, error) {
	var sys system.System
	s, file, err := session.Resume(path, func(s *session.Session) (err error) {
		if err := s.Replayable(); err != nil {
			return err
		}
		g := &s.Segments[len(s.Segments)-1]
		if n := len(g.Steps); n > 0 && g.Steps[n-1].Failed != nil {
			return fmt.Errorf("ends in a failure (%s); drtmx replay repeats it", g.Steps[n-1].Failed.Error)
		}
		sys, err = g.Reopen(a.opts.Context, a.open, a.opts.Progress)
		return err
	})
	if err != nil {
		if sys != nil {
			system.Close(sys)
		}
		return nil, err
	}
	g := &s.Segments[len(s.Segments)-1]
	rec := session.Continue(g, file)
	rec.NotifyError(a.lost)
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
	return fmt.Sprintf("sys = %s: no such system; there is %v", words.OneLine(e.Sys), e.Have)
}

func (a *Agent) member(id string) (*member, error) {
	if id == "" {
		id = "a"
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, ErrClosed
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
func (a *Agent) Systems() []system.Snapshot {
	var out []system.Snapshot
	for _, m := range a.all() {
		out = append(out, *m.snap.Load())
	}
	return out
}

// State is how a system stands. It never waits for a slice.
func (a *Agent) State(sys string) (system.Snapshot, error) {
	m, err := a.member(sys)
	if err != nil {
		return system.Snapshot{}, err
	}
	return *m.snap.Load(), nil
}

// StateAndWindow is how a system stands, and its latest window, nil before there is one.
func (a *Agent) StateAndWindow(sys string) (system.Snapshot, *result.Window, error) {
	m, err := a.member(sys)
	if err != nil {
		return system.Snapshot{}, nil, err
	}
	return *m.snap.Load(), m.latest.Load(), nil
}

// call runs f on the goroutine of a system.
func (a *Agent) call(ctx context.Context, sys string, f func(m *member) error) error {
	m, err := a.member(sys)
	if err != nil {
		return err
	}
	return m.call(ctx, f)
}

// fetch is call for what has an answer. That of an f which ends after ctx is not looked at.
func fetch[T any](ctx context.Context, a *Agent, sys string, f func(m *member) (T, error)) (T, error) {
	var out, none T
	err := a.call(ctx, sys, func(m *member) (err error) {
		out, err = f(m)
		return err
	})
	if err != nil {
		return none, err
	}
	return out, nil
}

var errNoKnobs = &experiment.SpecError{Field: "knobs", Rule: "none given", Next: `send {"name": value}`}

// Set changes knobs of a system now: all of them or none. by is "page",
// "notebook" or "script" and marks the change.
func (a *Agent) Set(ctx context.Context, sys string, k experiment.Knobs, by string) (result.Change, error) {
	if len(k) == 0 {
		return result.Change{}, errNoKnobs
	}
	return fetch(ctx, a, sys, func(m *member) (result.Change, error) { return m.set(k, by) })
}

// Knobs is the registry as it stands in a system.
func (a *Agent) Knobs(ctx context.Context, sys string) ([]experiment.KnobState, error) {
	return fetch(ctx, a, sys, func(m *member) ([]experiment.KnobState, error) { return m.Sys.Knobs(), nil })
}

// Spec is a system's spec with every live change applied.
func (a *Agent) Spec(ctx context.Context, sys string) (experiment.Spec, error) {
	return fetch(ctx, a, sys, func(m *member) (experiment.Spec, error) { return m.Sys.Spec(), nil })
}

// Basis is what work beside a system begins with: its spec as it stands now.
type Basis struct {
	Sys, Epoch   string
	KnobsVersion int
	Spec         experiment.Spec
	UserCode     []string // transactions that users added, whose code no other system has
}

// Basis is that of a system.
func (a *Agent) Basis(ctx context.Context, sys string) (Basis, error) {
	return fetch(ctx, a, sys, func(m *member) (Basis, error) {
		return Basis{Sys: m.id, Epoch: m.epoch, KnobsVersion: m.Sys.KnobsVersion(), Spec: m.Sys.Spec(), UserCode: userCode(m.added)}, nil
	})
}

// Context ends with the agent.
func (a *Agent) Context() context.Context { return a.ctx }

// Windows returns the kept windows from index from on.
func (a *Agent) Windows(ctx context.Context, sys string, from int) ([]result.Window, error) {
	return fetch(ctx, a, sys, func(m *member) ([]result.Window, error) { return m.Sys.Windows(from), nil })
}

// WindowsFrom returns the kept windows from a virtual time on.
func (a *Agent) WindowsFrom(ctx context.Context, sys string, fromNS int64) ([]result.Window, error) {
	ws, err := a.Windows(ctx, sys, 0)
	for i := range ws {
		if ws[i].T0NS >= fromNS {
			return ws[i:], err
		}
	}
	return nil, err
}

// Events are the latest things that happened to a system, oldest first.
func (a *Agent) Events(ctx context.Context, sys string) ([]session.Event, error) {
	return fetch(ctx, a, sys, func(m *member) ([]session.Event, error) { return append([]session.Event(nil), m.recentEvents...), nil })
}

// Result is what was measured since the last Run began, or since 0.
func (a *Agent) Result(ctx context.Context, sys string) (*result.Result, error) {
	return fetch(ctx, a, sys, func(m *member) (*result.Result, error) { return m.Sys.Result(), nil })
}

// Session is the recording of a system so far, as a session file. One that catches up
// with its own has none yet: what happened and what will are not told apart.
func (a *Agent) Session(ctx context.Context, sys string) ([]byte, error) {
	return fetch(ctx, a, sys, (*member).sessionSoFar)
}

// Recorded is Result and Session of one moment: the session runs again to the result.
func (a *Agent) Recorded(ctx context.Context, sys string) (*result.Result, []byte, error) {
	type both struct {
		result  *result.Result
		session []byte
	}
	x, err := fetch(ctx, a, sys, func(m *member) (both, error) {
		session, err := m.sessionSoFar()
		return both{m.Sys.Result(), session}, err
	})
	return x.result, x.session, err
}

func (m *member) sessionSoFar() ([]byte, error) {
	if err := m.caughtUp(); err != nil {
		return nil, err
	}
	now := m.Mark()
	return m.rec.Bytes(&now)
}

// RecordingErrors gets, once, why the session file can no longer be written. The cluster
// runs on.
func (a *Agent) RecordingErrors() <-chan error { return a.lost }

// Close ends all systems and completes the session file. It returns the first
// error of the recording. A second call waits as well, and gets the same.
func (a *Agent) Close() error {
	a.closing.Do(a.end)
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closeErr
}

func (a *Agent) end() {
	a.mu.Lock()
	a.closed = true // from now on no system is added, and none is closed but here
	a.stop()
	for _, m := range a.members {
		close(m.quit)
	}
	a.mu.Unlock()
	a.standby.End()
	done := make(chan struct{})
	go func() {
		a.loops.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second): // user code that does not end; the process may end all the same
		a.broken(errors.New("a system did not end within 5 s: a transaction of yours may be in an endless loop"))
	}
	a.tasks.cancelAll()
	a.hub.close()
}

// broken keeps the first error of the recordings and of the end.
func (a *Agent) broken(err error) {
	if err == nil {
		return
	}
	a.mu.Lock()
	if a.closeErr == nil {
		a.closeErr = err
	}
	a.mu.Unlock()
}
