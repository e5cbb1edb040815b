package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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
	// frameEvery lets a frame go out every other slice.
	frameEvery = 33 * time.Millisecond
	// checkpointEvery is in wall time: digest and windows go into the session.
	checkpointEvery = 2 * time.Second
	// frameWindows bounds one frame; more windows go out with the next.
	frameWindows = 200
	idleWait     = time.Hour
	eventsKept   = 4096
)

// member is one system of an agent with the goroutine that owns it. Fields
// below loop are touched by that goroutine only; others send it closures.
type member struct {
	id    string
	name  string // of its spec
	of    string // the spec that lists it beside others
	agent *Agent
	cmds  chan func()
	quit  chan struct{}
	done  chan struct{}

	snap   atomic.Pointer[system.Snapshot]
	latest atomic.Pointer[result.Window]
	moved  atomic.Int64 // wall clock of the last advance, Unix ns
	rec    *session.Recorder

	// loop
	session.Track
	epoch        string
	window       int64 // length of one
	err          error // what failed it
	paused       bool
	pace         int64
	goal         *step   // a step or run in progress
	replay       *replay // a session being caught up with
	added        []addedCode
	origin       *member              // the system that it was forked from; nil: none
	chase        bool                 // it is on its way to that one
	history      *session.HistoryFile // that is being written; nil: none
	forkOf       string
	forkEpoch    string // epoch of the system it was forked from
	forkNS       int64
	without      int            // the version of the knobs that a ghost has not got; 0: it is none
	twin         *twin.Follower // of one that is on standby and has no name; nil: it is shown
	burst        twin.Burst
	dueWall      time.Time // pacing: dueVirt is due at dueWall
	dueVirt      int64
	windows      []result.Window // cut, not yet sent
	events       []session.Event // likewise
	autos        int             // primitives that changed by themselves and have been told
	recentEvents []session.Event // sent or not, the latest
	sent         time.Time       // last frame
	checked      time.Time       // last checkpoint
	rateWall     time.Time       // achieved speed is measured from here
	rateVirt     int64
	speed        float64
}

// step is virtual time that someone asked for and waits for.
type step struct {
	from, to   int64
	run        bool       // it measures: a pause holds it
	held       bool       // by a pause, until resumed
	stood      bool       // the system was paused before it was held
	awaitDrain bool       // a run: it begins once a pending change is in effect
	done       chan error // buffered
}

// drainStep is how far a run that is to begin advances between two looks
// whether the drain before a change is over. It is virtual time, so the run
// begins at the same time wherever it is run.
const drainStep = 10_000

// begin starts the measured time of a run.
func (g *step) begin(sys system.System) {
	if g.awaitDrain {
		now := sys.NowNS()
		g.awaitDrain, g.from, g.to = false, now, now+g.to-g.from
		sys.Mark()
	}
}

// addedCode is a transaction that a notebook added; forks need the code.
type addedCode struct {
	session.AddedTxn
	apply func(system.System) error
}

var ErrClosed = errors.New("the cluster is closed")

func newMember(a *Agent, id string, sys system.System, rec *session.Recorder) *member {
	m := &member{
		id: id, name: sys.Spec().Name, agent: a, Track: session.NewTrack(sys), rec: rec, epoch: newEpoch(), window: session.WindowNS(sys.Values()),
		cmds: make(chan func(), 16), quit: make(chan struct{}), done: make(chan struct{}),
	}
	return m
}

// ID is its name, "a" to "d", or what a hidden one is called.
func (m *member) ID() string { return m.id }

// Snapshot is how it stood after its latest slice.
func (m *member) Snapshot() *system.Snapshot { return m.snap.Load() }

// Recorder has its recording.
func (m *member) Recorder() *session.Recorder { return m.rec }

// WindowNS is how long its windows are.
func (m *member) WindowNS() int64 { return m.window }

// start begins the loop; before it the caller owns all fields.
func (m *member) start() {
	m.anchor(time.Now())
	m.checked = time.Now()
	m.store()
	m.agent.loops.Add(1)
	go m.loop()
}

// do runs f on the loop's goroutine, between two slices.
func (m *member) do(ctx context.Context, f func()) error {
	if inBody() {
		return errInBody
	}
	ran := make(chan error, 1)
	c := func() { ran <- m.attempt(f) }
	select {
	case m.cmds <- c:
	case <-m.done:
		return m.closedError()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-ran:
		return err
	case <-m.done:
		return m.closedError()
	case <-ctx.Done():
		return ctx.Err() // f still runs, its outcome is not waited for
	}
}

// call is do for what may be refused.
func (m *member) call(ctx context.Context, f func(m *member) error) error {
	var ferr error
	if err := m.do(ctx, func() { ferr = f(m) }); err != nil {
		return err
	}
	return ferr
}

func (m *member) loop() {
	defer m.agent.loops.Done()
	defer close(m.done)
	defer m.finish()
	timer := time.NewTimer(idleWait)
	defer timer.Stop()
	for {
		select { // a command does not wait behind a slice that could begin now
		case <-m.quit:
			return
		case c := <-m.cmds:
			m.run(c)
			continue
		default:
		}
		wait := m.turn(time.Now())
		if wait == 0 {
			continue
		}
		timer.Reset(wait)
		select {
		case <-m.quit:
			return
		case c := <-m.cmds:
			m.run(c)
		case <-timer.C:
		}
	}
}

// attempt does f. A panic in it is a bug of this system's making, which fails it, and
// requests that wait for f are told.
func (m *member) attempt(f func()) error {
	err := system.Guard("system "+m.id, func() error { f(); return nil })
	if err != nil {
		m.fail(err)
	}
	return err
}

// run executes a command.
func (m *member) run(c func()) {
	c()
	m.store()
}

// turn does one slice if it is time for one, and returns how long to wait
// otherwise.
func (m *member) turn(now time.Time) time.Duration {
	switch {
	case m.err != nil:
		return m.flushLater(now)
	case m.twin != nil:
		return m.follow(now)
	case m.replay != nil:
		m.agent.spare.Busy(now)
		m.catchUp()
		return 0
	case m.chase:
		return m.approach(now)
	case m.goal != nil && m.goal.held:
		return m.flushLater(now)
	case m.goal != nil && m.goal.awaitDrain && m.Sys.State() == engine.StateDraining:
		m.advance(drainStep)
		return 0
	case m.goal != nil:
		m.agent.spare.Busy(now)
		m.goal.begin(m.Sys)
		m.advance(min(m.Slice(), m.goal.to-m.Sys.NowNS()))
		m.stepDone()
		return 0
	case m.paused:
		return m.flushLater(now)
	}
	room := m.agent.room(m)
	if room <= 0 {
		m.anchor(now) // waiting for a slower system is no debt
		return 2 * time.Millisecond
	}
	if m.pace == 0 || m.agent.behind(m) {
		m.agent.spare.Busy(now)
		m.advance(min(m.Slice(), room))
		return 0
	}
	clock := m.agent.opts.Clock()
	due := m.dueVirt + int64(float64(clock.Sub(m.dueWall))*float64(m.pace)/1e9)
	ahead := due - m.Sys.NowNS()
	quantum := max(1, int64(float64(m.pace)*session.SliceWall.Seconds()))
	if ahead < quantum {
		return max(time.Millisecond, time.Duration(float64(quantum-ahead)/float64(m.pace)*1e9))
	}
	if ahead > 3*quantum {
		m.agent.spare.Busy(now)
	}
	if ahead > 10*quantum { // slower than the pace asks: no burst afterwards
		m.dueWall, m.dueVirt = clock, m.Sys.NowNS()+quantum
		ahead = quantum
	}
	m.advance(min(ahead, m.Slice(), room))
	return 0
}

// flushLater sends what is still unsent once a frame is due.
func (m *member) flushLater(now time.Time) time.Duration {
	if len(m.windows) == 0 && len(m.events) == 0 {
		return idleWait
	}
	if wait := frameEvery - now.Sub(m.sent); wait > 0 {
		return wait
	}
	m.publish(now)
	return time.Millisecond
}

// anchor restarts pacing from now.
func (m *member) anchor(now time.Time) {
	m.dueWall, m.dueVirt = m.agent.opts.Clock(), m.Sys.NowNS()
	m.rateWall, m.rateVirt = now, m.dueVirt
}

// advance is a slice, and tells of it.
func (m *member) advance(d int64) {
	if d <= 0 {
		return
	}
	err := m.slide(d)
	now := time.Now()
	m.moved.Store(now.UnixNano())
	m.collect()
	if err != nil {
		m.fail(err)
	}
	if dt := now.Sub(m.rateWall); dt > 500*time.Millisecond {
		m.speed = float64(m.Sys.NowNS()-m.rateVirt) / dt.Seconds()
		m.rateWall, m.rateVirt = now, m.Sys.NowNS()
	}
	m.store()
	if m.err == nil && m.replay == nil && now.Sub(m.checked) >= checkpointEvery {
		m.checked = now
		m.rec.Checkpoint(m.Mark(), false)
	}
	if now.Sub(m.sent) >= frameEvery {
		m.publish(now)
	}
}

// slide moves virtual time by d. A hidden system does so in short slices, a shown one is counted.
func (m *member) slide(d int64) error {
	if m.twin != nil {
		return m.Slide(d, twin.HiddenSlice)
	}
	defer m.agent.spare.Shown(d)()
	return m.Slide(d, session.SliceWall)
}

// collect takes the windows that were cut since the last time.
func (m *member) collect() {
	ws, err := m.Cut()
	if err != nil {
		m.fail(err)
		return
	}
	if len(ws) > 0 {
		last := ws[len(ws)-1]
		m.latest.Store(&last)
		m.windows = append(m.windows, ws...)
		m.tellAutos()
	}
}

// tellAutos makes events of the primitives that changed by themselves, which
// they do at the end of windows.
func (m *member) tellAutos() {
	list := m.Sys.AutoChanges()
	for _, a := range list[m.autos:] {
		m.keep(session.Event{VirtualNS: a.VirtualNS, Kind: "auto", Text: fmt.Sprintf("auto: %s %s → %s, because %s", a.Phase, a.From, a.To, a.Because)})
	}
	m.autos = len(list)
}

// fail stops the system where it is: it can be looked at and reset.
func (m *member) fail(err error) {
	if m.err != nil {
		return
	}
	m.err = err
	if m.replay == nil { // else the file is already past this time
		m.rec.Failed(session.Broken{VirtualNS: m.Sys.NowNS(), Error: words.OneLine(err.Error())})
	}
	m.replay, m.chase = nil, false
	m.event(session.Event{Kind: "failed", Text: words.OneLine(err.Error())})
	if m.goal != nil {
		m.goal.done <- err
		m.goal = nil
	}
	m.agent.taskDone(catchUpTask(m.id), err)
	m.publish(time.Now())
}

func (m *member) event(e session.Event) {
	e.VirtualNS = m.Sys.NowNS()
	m.keep(e)
}

func (m *member) keep(e session.Event) {
	m.events = append(m.events, e)
	if len(m.recentEvents) == eventsKept {
		m.recentEvents = append(m.recentEvents[:0], m.recentEvents[eventsKept/2:]...)
	}
	m.recentEvents = append(m.recentEvents, e)
}

// stepDone ends a step at its goal.
func (m *member) stepDone() {
	g := m.goal
	if g == nil { // failed
		return
	}
	if m.Sys.NowNS() < g.to {
		return
	}
	m.goal = nil
	m.anchor(time.Now())
	m.publish(time.Now())
	m.store()
	g.done <- nil
}

// beginStep asks for d of virtual time, flat out, whatever the pace.
func (m *member) beginStep(d int64) (*step, error) {
	if err := m.free(); err != nil {
		return nil, err
	}
	if d <= 0 {
		return nil, &experiment.SpecError{Field: "virtual_ns", Value: fmt.Sprint(d), Rule: "must be above 0", Next: "such as 1000000, a millisecond"}
	}
	now := m.Sys.NowNS()
	if d > 1<<62-now {
		return nil, &experiment.SpecError{Field: "virtual_ns", Value: fmt.Sprint(d), Rule: "is beyond what a clock can hold", Next: "give less"}
	}
	m.goal = &step{from: now, to: now + d, done: make(chan error, 1)}
	return m.goal, nil
}

// cancelStep ends a step early; the system stays where it is.
func (m *member) cancelStep(g *step, err error) {
	if m.goal == g {
		m.goal = nil
		m.anchor(time.Now())
		m.publish(time.Now())
		g.done <- err
	}
}

// BusyError says that a system cannot take a command just now (HTTP 409).
type BusyError struct{ Sys, Why string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("system %s %s; try again when it is done", e.Sys, e.Why)
}

// ConflictError says in a line why something cannot be done just now (HTTP 409).
type ConflictError struct{ Line string }

func (e *ConflictError) Error() string { return e.Line }

// NotFoundError says in a line what there is none of (HTTP 404).
type NotFoundError struct{ Line string }

func (e *NotFoundError) Error() string { return e.Line }

// FailedError says that a system has failed and only a reset helps (HTTP 409).
type FailedError struct {
	Sys string
	Err error
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("system %s has failed (%s); reset it", e.Sys, words.OneLine(e.Err.Error()))
}

func (e *FailedError) Unwrap() error { return e.Err }

func (m *member) failedError() error { return &FailedError{m.id, m.err} }

// caughtUp refuses what needs a recording that is no further than the system.
func (m *member) caughtUp() error {
	if m.replay != nil {
		return &BusyError{m.id, "is catching up with its session"}
	}
	return nil
}

// live refuses what a system that failed or catches up does not take.
func (m *member) live() error {
	if m.err != nil {
		return m.failedError()
	}
	return m.caughtUp()
}

// free is live for what takes the system's time for itself.
func (m *member) free() error {
	if err := m.live(); err != nil {
		return err
	}
	if m.chase {
		return &BusyError{m.id, "is on its way to the system that it was forked from"}
	}
	if m.goal != nil && m.goal.held {
		return &BusyError{m.id, "is in a run that is paused; resume it"}
	}
	if m.goal != nil {
		return &BusyError{m.id, "is running a step"}
	}
	return nil
}

// set changes knobs now.
func (m *member) set(k experiment.Knobs, by string) (result.Change, error) {
	set, err := m.accepts(k)
	if err != nil {
		return result.Change{}, err
	}
	if err := m.refuseIdle(set); err != nil {
		return result.Change{}, err
	}
	return m.apply(set, by)
}

// accepts checks a change that is to be recorded.
func (m *member) accepts(k experiment.Knobs) (engine.Accepted, error) {
	if err := m.live(); err != nil {
		return engine.Accepted{}, err
	}
	if err := m.rec.Full(); err != nil {
		return engine.Accepted{}, err
	}
	return m.Sys.Accept(k)
}

// apply makes a change that the system accepts, records it and tells readers at once.
func (m *member) apply(a engine.Accepted, by string) (result.Change, error) {
	k := a.Set
	was, before := session.ValuesOf(m.Sys, k), m.Mark()
	version := m.Sys.KnobsVersion()
	c, err := m.Sys.Apply(a, by)
	if err != nil || c.Version == version {
		return c, err // refused, or everything was as asked for already
	}
	if c.Set != nil {
		k = c.Set // as the registry writes it
	}
	first := m.burst.First(c.Version, time.Now())
	m.agent.standby.StayBefore(m, m.epoch, first, c.Version, before)
	m.rec.KeepBefore(first, before)
	m.rec.Change(session.Change{VirtualNS: m.Sys.NowNS(), Version: c.Version, By: by, Set: k})
	m.event(session.Event{Kind: session.KindOf(k), By: by, Version: c.Version, Set: k, Was: was, Pending: c.Pending})
	m.collect()
	m.store()
	m.publish(time.Now())
	return c, nil
}

// addTransaction adds user code to the workload.
func (m *member) addTransaction(t addedCode) error {
	if m.err != nil {
		return m.failedError()
	}
	if err := system.Guard("transaction "+t.Name, func() error { return t.apply(m.Sys) }); err != nil {
		return err
	}
	m.agent.standby.Drop(m) // code is in no session: there is nothing that it could follow
	t.VirtualNS = m.Sys.NowNS()
	m.added = append(m.added, t)
	m.rec.Transaction(t.AddedTxn)
	m.event(session.Event{Kind: "knob", By: "notebook", Text: fmt.Sprintf("transaction %s added, weight %d", t.Name, t.Weight)})
	return nil
}

// finish ends the recording and the system.
func (m *member) finish() {
	if m.goal != nil {
		m.goal.done <- m.closedError()
		m.goal = nil
	}
	m.endRecording()
	m.agent.broken(m.rec.Close())
	m.endHistory()
	system.Close(m.Sys)
}

// endRecording writes how far the system came. The file of one that failed says that
// already, that of one that still catches up is further, and that of one that was drained has ended.
func (m *member) endRecording() {
	if m.err == nil && m.replay == nil && m.Sys.State() != engine.StateDrained {
		m.rec.Checkpoint(m.Mark(), true)
	}
}
