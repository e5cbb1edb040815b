package twin

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// Host is the agent whose systems are shown.
type Host interface {
	// Member finds a system that is shown; "" is the first one.
	Member(sys string) (Member, error)
	// Open makes a system, unless ctx ends before.
	Open(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error)
	// Hide starts a system without a name that follows another. End ends it.
	Hide(of Member, sys system.System, f *Follower) (m Member, end func())
	// Go runs f beside the systems. Its context ends with the agent, which waits for f.
	Go(f func(ctx context.Context))
	// Announce sends a frame with how the twin is.
	Announce()
	// ShortOfMemory says why there is no room for another system, "" if there is.
	ShortOfMemory(spec experiment.Spec) string
}

// Standby keeps a twin of the system that a page shows: hidden, with the same changes
// at the same virtual times, on spare CPU. When a knob is turned the twin stays behind as
// the ghost of that change, still hidden, until it is asked for; the next twin is then
// built from 0. Both are systems like the shown ones, so a twin changes no result, and a
// ghost is what a replay of the session without the change gives.
//
// There is none of a system that a notebook drives or that has transactions of a notebook,
// none while no page is open, and none where memory is short.
type Standby struct {
	host       Host
	spare      *Spare
	notebook   bool // drives the systems: there is no twin
	leaveAfter time.Duration

	mu          sync.Mutex
	on          bool
	ended       bool
	looping     bool
	pages       []*Viewer // that are open; the last is the one that chose last
	shown       string    // the system that it chose
	left        time.Time // when the last of them was closed
	twin        *hidden
	ghost       *hidden
	opening     context.CancelFunc // of the next twin, nil: none is being opened
	broken      string             // epoch of a system whose twin failed
	why         string             // there is no twin
	state       atomic.Pointer[Twin]
	announced   Twin
	announcedAt time.Time
}

// Viewer is a page that shows a system.
type Viewer struct {
	of   *Standby
	sys  string
	left bool
}

// hidden is a system without a name.
type hidden struct {
	m      Member
	end    func()
	follow *Follower
	of     Member
	epoch  string // of that
	level  bool   // it has been where that is
	ownNS  int64  // where the two were when speed was measured last, and how fast
	ofNS   int64  // they have come closer since, in virtual ns per second
	at     time.Time
	closer float64

	first, last int   // versions of a ghost's changes
	from        int64 // when the first of them was made
}

// Twin says how the standby twin of the shown system is.
type Twin struct {
	Sys       string `json:"sys,omitempty"`
	State     string `json:"state"`         // off, none, building or ready
	Why       string `json:"why,omitempty"` // there is none
	VirtualNS int64  `json:"virtual_ns,omitempty"`
	// ReadyInMS is about how long a twin that is being built takes until it is level, in
	// wall time: 0 is not known yet, -1 comes no closer.
	ReadyInMS int64  `json:"ready_in_ms,omitempty"`
	Ghost     *Ghost `json:"ghost,omitempty"`
}

// Ghost is a ghost on standby.
type Ghost struct {
	FirstVersion int   `json:"first_version"` // of the changes that it has not got
	LastVersion  int   `json:"last_version"`
	VirtualNS    int64 `json:"virtual_ns"` // when the first of them was made
	Level        bool  `json:"level"`      // it can be shown at once
}

const (
	standbyEvery  = 100 * time.Millisecond
	leaveAfter    = 10 * time.Second // a page that is loaded again is back by then
	announceEvery = 500 * time.Millisecond
	closerOver    = time.Second
)

// Options say when there is a twin.
type Options struct {
	Off        bool          // until it is switched on
	Notebook   bool          // drives the systems: never
	LeaveAfter time.Duration // how long it outlives the last page, for one that is loaded again; 0: 10 s
}

// NewStandby has no twin until a page is open.
func NewStandby(host Host, spare *Spare, o Options) *Standby {
	return &Standby{host: host, spare: spare, on: !o.Off, notebook: o.Notebook, leaveAfter: cmp.Or(o.LeaveAfter, leaveAfter)}
}

// Switch switches the twin on or off.
func (s *Standby) Switch(on bool) {
	s.mu.Lock()
	s.on, s.broken = on, ""
	s.announced, s.announcedAt = Twin{}, time.Time{} // it is announced at once, and what follows is compared with that
	s.mu.Unlock()
	s.tick(time.Now())
}

// Now is how the twin is, nil while no page is open.
func (s *Standby) Now() *Twin { return s.state.Load() }

// Open notes a page, which shows nothing yet.
func (s *Standby) Open() *Viewer { return &Viewer{of: s} }

// Show notes what a page shows; what is no system means nothing.
func (v *Viewer) Show(sys string) {
	s := v.of
	if _, err := s.host.Member(sys); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.left {
		return
	}
	v.sys = sys
	s.pages = append(slices.DeleteFunc(s.pages, func(o *Viewer) bool { return o == v }), v)
	if s.notebook {
		s.state.Store(s.describe(nil, ""))
		return
	}
	if s.looping || s.ended {
		return
	}
	s.looping = true
	s.host.Go(s.loop)
}

// Leave notes that a page is closed.
func (v *Viewer) Leave() {
	s := v.of
	s.mu.Lock()
	defer s.mu.Unlock()
	v.left = true
	s.pages = slices.DeleteFunc(s.pages, func(o *Viewer) bool { return o == v })
	s.left = time.Now()
}

// loop runs while there are pages or what was made for them.
func (s *Standby) loop(ctx context.Context) {
	t := time.NewTicker(standbyEvery)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			s.tick(now)
			if s.idle() {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// idle ends the loop if there is nothing left to look after.
func (s *Standby) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looping = len(s.pages) > 0 || s.twin != nil || s.ghost != nil || s.opening != nil
	return !s.looping
}

// tick closes what is not wanted, opens what is missing and says how it stands.
func (s *Standby) tick(now time.Time) {
	of, why := s.wanted(now)
	s.mu.Lock()
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil && (of == nil || (*h).of != of || (*h).epoch != of.Snapshot().Epoch) {
			retire(h)
		}
	}
	s.failed()
	if of == nil && s.opening != nil {
		s.opening()
	}
	if of != nil && s.twin == nil && s.opening == nil {
		if why = s.refusal(of); why == "" {
			s.build(of)
		}
	}
	s.why = why
	for _, h := range []*hidden{s.twin, s.ghost} {
		if h != nil {
			h.measure(now)
		}
	}
	state := s.describe(of, why)
	s.state.Store(state)
	due := state != nil && now.Sub(s.announcedAt) >= announceEvery && !state.same(&s.announced)
	if due {
		s.announced, s.announcedAt = *state, now
	}
	s.mu.Unlock()
	if due {
		s.host.Announce()
	}
}

// wanted is the system that a twin is for, or why there is none.
func (s *Standby) wanted(now time.Time) (Member, string) {
	s.mu.Lock()
	if n := len(s.pages); n > 0 {
		s.shown = s.pages[n-1].sys
	} else if now.Sub(s.left) > s.leaveAfter {
		s.shown = ""
	}
	sys, on := s.shown, s.on && !s.ended && !s.notebook
	s.mu.Unlock()
	if !on || sys == "" {
		return nil, ""
	}
	m, err := s.host.Member(sys)
	switch {
	case err != nil:
		return nil, ""
	case m.Recorder().HasCode():
		return nil, "the system has transactions of a notebook"
	case m.Snapshot().State == system.StateFailed:
		return nil, "the system has failed"
	case m.Snapshot().CatchingUp:
		return nil, "the system is catching up"
	}
	return m, ""
}

// failed closes a hidden system that failed; s.mu is held. Another twin of the same
// system would fail at the same time.
func (s *Standby) failed() {
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil && (*h).m.Snapshot().State == system.StateFailed {
			s.broken, s.why = (*h).epoch, "the twin failed: "+(*h).m.Snapshot().Error
			retire(h)
		}
	}
}

// refusal says why no twin can be built now, "" if one can; s.mu is held.
func (s *Standby) refusal(of Member) string {
	if s.broken == of.Snapshot().Epoch {
		return s.why
	}
	return s.host.ShortOfMemory(of.Recorder().Head().Spec)
}

// build opens the next twin; s.mu is held.
func (s *Standby) build(of Member) {
	if s.ended {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.opening = cancel
	epoch := of.Snapshot().Epoch
	segment, _ := of.Recorder().Count()
	header := of.Recorder().Head()
	s.host.Go(func(life context.Context) {
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		sys, err := s.host.Open(ctx, header.Spec, func(string, int, int) { s.spare.Wait(ctx) })
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opening = nil
		switch {
		case err != nil && ctx.Err() == nil:
			s.broken, s.why = epoch, words.OneLine(err.Error())
		case err == nil && (s.ended || ctx.Err() != nil || of.Snapshot().Epoch != epoch):
			system.Close(sys)
		case err == nil:
			f := newFollower(of, epoch, segment)
			m, end := s.host.Hide(of, sys, f)
			s.twin = &hidden{m: m, end: end, follow: f, of: of, epoch: epoch}
		}
	})
}

// retire ends a hidden system; s.mu is held.
func retire(h **hidden) {
	(*h).end()
	*h = nil
}

// StayBefore lets the twin of a system be the ghost of a change that is about to be recorded, on the loop of that
// system, whose epoch it is. What belongs to the change before has its ghost already.
func (s *Standby) StayBefore(m Member, epoch string, first, version int, before session.Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.ghost; g != nil && g.of == m && g.epoch == epoch && g.first == first {
		g.last = version
		return
	}
	t := s.twin
	if t == nil || t.of != m || t.epoch != epoch || !t.level || first != version {
		return
	}
	if s.ghost != nil {
		retire(&s.ghost)
	}
	t.first, t.last, t.from = first, version, before.VirtualNS
	_, steps := m.Recorder().Count()
	t.follow.stopBefore(steps, before)
	s.ghost, s.twin = t, nil
}

// Drop closes what follows a system, which the twin can do no longer.
func (s *Standby) Drop(m Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil && (*h).of == m {
			retire(h)
		}
	}
	if s.opening != nil {
		s.opening()
	}
}

// Change is a change of a system, before which a ghost stops.
type Change struct {
	Of    Member
	Epoch string
	First int                 // the version of the knobs that it made
	AtNS  int64               // when
	Steps int                 // recorded before it
	Mark  *session.Checkpoint // how the system was then; nil: that was not kept
}

// TakeGhost hands over the ghost without a change, or a twin that is on its way there. It is
// nil if there is neither.
func (s *Standby) TakeGhost(c Change) Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range []**hidden{&s.ghost, &s.twin} {
		x := *h
		if x == nil || x.of != c.Of || x.epoch != c.Epoch || x.first != 0 && x.first != c.First || x.m.Snapshot().State == system.StateFailed {
			continue
		}
		if x.first == 0 { // a twin on its way: it can stay at what it has not come to yet
			if c.Mark == nil || x.m.Snapshot().VirtualNS >= c.AtNS {
				continue
			}
			x.follow.stopBefore(c.Steps, *c.Mark)
			if x.m.Snapshot().VirtualNS >= c.AtNS { // it has come there meanwhile, and may have the change
				retire(h)
				continue
			}
		}
		*h = nil
		return x.m
	}
	return nil
}

// End ends what is hidden. Nothing is built any more.
func (s *Standby) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil {
			retire(h)
		}
	}
}

// measure finds out whether a hidden system is level with the one that it follows, and
// how much closer it comes.
func (h *hidden) measure(now time.Time) {
	own, of := h.m.Snapshot(), h.of.Snapshot()
	lead := max(of.Pace/10, 4*h.m.WindowNS(), 1)
	h.level = h.level || of.VirtualNS-own.VirtualNS <= lead && own.VirtualNS > 0
	if h.at.IsZero() {
		h.at, h.ownNS, h.ofNS = now, own.VirtualNS, of.VirtualNS
		return
	}
	if d := now.Sub(h.at); d >= closerOver {
		closer := float64((own.VirtualNS-h.ownNS)-(of.VirtualNS-h.ofNS)) / d.Seconds()
		if h.closer == 0 {
			h.closer = closer
		}
		h.closer += (closer - h.closer) / 3
		h.at, h.ownNS, h.ofNS = now, own.VirtualNS, of.VirtualNS
	}
}

// near says whether a hidden system can be shown at once.
func (h *hidden) near() bool {
	of := h.of.Snapshot()
	return h.level && of.VirtualNS-h.m.Snapshot().VirtualNS <= max(of.Pace/5, 8*h.m.WindowNS())
}

// describe is how it stands; s.mu is held.
func (s *Standby) describe(of Member, why string) *Twin {
	switch {
	case len(s.pages) == 0:
		return nil
	case s.notebook:
		return &Twin{State: "none", Why: "a notebook drives this cluster"}
	case !s.on:
		return &Twin{State: "off"}
	}
	t := &Twin{State: "building"}
	if of != nil {
		t.Sys = of.ID()
	}
	if g := s.ghost; g != nil {
		t.Ghost = &Ghost{g.first, g.last, g.from, g.near()}
	}
	switch h := s.twin; {
	case h == nil && why != "":
		t.State, t.Why = "none", why
	case h == nil:
	case h.level:
		t.State, t.VirtualNS = "ready", h.m.Snapshot().VirtualNS
	default:
		t.VirtualNS = h.m.Snapshot().VirtualNS
		t.ReadyInMS = h.readyIn()
	}
	return t
}

// readyIn is Twin.ReadyInMS.
func (h *hidden) readyIn() int64 {
	gap := float64(h.of.Snapshot().VirtualNS - h.m.Snapshot().VirtualNS)
	switch {
	case h.closer == 0:
		return 0
	case h.closer < 0 || gap/h.closer > time.Hour.Seconds():
		return -1
	}
	return max(int64(1000*gap/h.closer), 1)
}

// same is true for what a reader need not be told again.
func (t *Twin) same(o *Twin) bool {
	ghost := func(x *Twin) Ghost {
		if x.Ghost == nil {
			return Ghost{}
		}
		return *x.Ghost
	}
	return t.Sys == o.Sys && t.State == o.State && t.Why == o.Why && ghost(t) == ghost(o) && t.ReadyInMS/1000 == o.ReadyInMS/1000
}
