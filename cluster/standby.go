package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
)

// standby keeps a twin of the system that a page shows: hidden, with the same changes
// at the same virtual times, on spare CPU. When a knob is turned the twin stays behind as
// the ghost of that change, still hidden, until somebody asks for it; the next twin is then
// built from 0. Both are systems like the shown ones, so a twin changes no result, and a
// ghost is what a replay of the session without the change gives.
//
// There is none of a system that a notebook drives or that has transactions of a notebook,
// none while no page is open, and none where memory is short.
type standby struct {
	agent *Agent

	mu      sync.Mutex
	on      bool
	ended   bool
	looping bool
	pages   []*watcher // that are open; the last is the one that chose last
	shown   string     // the system that it chose
	left    time.Time  // when the last of them was closed
	twin    *hidden
	ghost   *hidden
	opening context.CancelFunc // of the next twin, nil: none is being opened
	broken  string             // epoch of a system whose twin failed
	why     string             // there is no twin
	state   atomic.Pointer[Twin]
	told    Twin
	toldAt  time.Time
}

// watcher is a page that shows a system.
type watcher struct {
	sys  string
	gone bool
}

// hidden is a system without a name.
type hidden struct {
	m      *member
	of     *member
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
	ReadyInMS int64       `json:"ready_in_ms,omitempty"`
	Ghost     *TwinsGhost `json:"ghost,omitempty"`
}

// TwinsGhost is a ghost on standby.
type TwinsGhost struct {
	FirstVersion int   `json:"first_version"` // of the changes that it has not got
	LastVersion  int   `json:"last_version"`
	VirtualNS    int64 `json:"virtual_ns"` // when the first of them was made
	Level        bool  `json:"level"`      // it can be shown at once
}

const (
	standbyEvery = 100 * time.Millisecond
	leaveAfter   = 10 * time.Second // a page that is loaded again is back by then
	tellEvery    = 500 * time.Millisecond
	closerOver   = time.Second
	// memoryFor is for how many more systems there must be memory: the twin, and what the
	// shown ones still grow.
	memoryFor = 2
)

func newStandby(a *Agent) *standby { return &standby{agent: a, on: !a.opts.NoTwin} }

// SetTwin switches the standby twin on or off.
func (a *Agent) SetTwin(on bool) {
	s := a.standby
	s.mu.Lock()
	s.on, s.broken = on, ""
	s.mu.Unlock()
	s.tick(time.Now())
	a.announce()
}

// Twin is how the standby twin is, nil while no page is open.
func (a *Agent) Twin() *Twin { return a.standby.now() }

func (s *standby) now() *Twin { return s.state.Load() }

// show notes what a page shows.
func (s *standby) show(w *watcher, sys string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.gone {
		return
	}
	w.sys = sys
	s.pages = append(slices.DeleteFunc(s.pages, func(o *watcher) bool { return o == w }), w)
	if s.agent.opts.notebook {
		s.state.Store(s.describe(nil, ""))
		return
	}
	if s.looping || s.ended {
		return
	}
	s.looping = true
	s.agent.loops.Add(1)
	go s.loop()
}

// leave notes that a page is closed.
func (s *standby) leave(w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.gone = true
	s.pages = slices.DeleteFunc(s.pages, func(o *watcher) bool { return o == w })
	s.left = time.Now()
}

// loop runs while there are pages or what was made for them.
func (s *standby) loop() {
	defer s.agent.loops.Done()
	t := time.NewTicker(standbyEvery)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			s.tick(now)
			if s.idle() {
				return
			}
		case <-s.agent.ctx.Done():
			return
		}
	}
}

// idle ends the loop if there is nothing left to look after.
func (s *standby) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looping = len(s.pages) > 0 || s.twin != nil || s.ghost != nil || s.opening != nil
	return !s.looping
}

// tick closes what is not wanted, opens what is missing and says how it stands.
func (s *standby) tick(now time.Time) {
	of, why := s.wanted(now)
	s.mu.Lock()
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil && (of == nil || (*h).of != of || (*h).epoch != of.snap.Load().Epoch) {
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
	tell := state != nil && now.Sub(s.toldAt) >= tellEvery && !state.same(&s.told)
	if tell {
		s.told, s.toldAt = *state, now
	}
	s.mu.Unlock()
	if tell {
		s.agent.announce()
	}
}

// wanted is the system that a twin is for, or why there is none.
func (s *standby) wanted(now time.Time) (*member, string) {
	s.mu.Lock()
	if n := len(s.pages); n > 0 {
		s.shown = s.pages[n-1].sys
	} else if now.Sub(s.left) > leaveAfter {
		s.shown = ""
	}
	sys, on := s.shown, s.on && !s.ended && !s.agent.opts.notebook
	s.mu.Unlock()
	if !on || sys == "" {
		return nil, ""
	}
	m, err := s.agent.member(sys)
	switch {
	case err != nil:
		return nil, ""
	case m.rec.HasCode():
		return nil, "the system has transactions of a notebook"
	case m.snap.Load().State == system.StateFailed:
		return nil, "the system has failed"
	case m.snap.Load().CatchingUp:
		return nil, "the system is catching up"
	}
	return m, ""
}

// failed closes a hidden system that failed; s.mu is held. Another twin of the same
// system would fail at the same time.
func (s *standby) failed() {
	for _, h := range []**hidden{&s.twin, &s.ghost} {
		if *h != nil && (*h).m.snap.Load().State == system.StateFailed {
			s.broken, s.why = (*h).epoch, "the twin failed: "+(*h).m.snap.Load().Error
			retire(h)
		}
	}
}

// refusal says why no twin can be built now, "" if one can; s.mu is held.
func (s *standby) refusal(of *member) string {
	if s.broken == of.snap.Load().Epoch {
		return s.why
	}
	return s.agent.shortOfMemory(of.rec.Head().Spec)
}

// shortOfMemory says why there is no room for a hidden system, "" if there is.
func (a *Agent) shortOfMemory(spec experiment.Spec) string {
	free := experiment.AvailableMemory
	if a.opts.memory != nil {
		free = a.opts.memory
	}
	e, err := experiment.EstimateOf(spec)
	if err != nil {
		return words.OneLine(err.Error())
	}
	if n := free(); n > 0 && memoryFor*e.MaxMemoryBytes > n {
		return fmt.Sprintf("memory is short: it may need %d MB, and %d MB are available", e.MaxMemoryBytes/1e6, n/1e6)
	}
	return ""
}

// build opens the next twin; s.mu is held.
func (s *standby) build(of *member) {
	if s.ended {
		return
	}
	a := s.agent
	ctx, cancel := context.WithCancel(a.ctx)
	s.opening = cancel
	epoch := of.snap.Load().Epoch
	begun, _ := of.rec.Count()
	header := of.rec.Head()
	a.loops.Add(1)
	go func() {
		defer a.loops.Done()
		defer cancel()
		sys, err := a.open(ctx, header.Spec, func(string, int, int) { // on spare CPU too
			for ctx.Err() == nil && since(time.Now(), &a.spare.pressed) < pressedFor && a.spare.working.Load() > 0 {
				time.Sleep(hiddenWait)
			}
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opening = nil
		switch {
		case err != nil && ctx.Err() == nil:
			s.broken, s.why = epoch, words.OneLine(err.Error())
		case err == nil && (s.ended || ctx.Err() != nil || of.snap.Load().Epoch != epoch):
			system.Close(sys)
		case err == nil:
			m := newMember(a, "twin of "+of.id, sys, session.NewRecorder(header, nil))
			m.twin = newFollower(of, epoch, begun)
			s.twin = &hidden{m: m, of: of, epoch: epoch}
			m.start()
		}
	}()
}

// retire ends a hidden system; s.mu is held.
func retire(h **hidden) {
	close((*h).m.quit)
	*h = nil
}

// stay lets the twin of a system be the ghost of a change that is about to be recorded,
// on the loop of that system. What belongs to the change before has its ghost already.
func (s *standby) stay(m *member, first, version int, before session.Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.ghost; g != nil && g.of == m && g.epoch == m.epoch && g.first == first {
		g.last = version
		return
	}
	t := s.twin
	if t == nil || t.of != m || t.epoch != m.epoch || !t.level || first != version {
		return
	}
	if s.ghost != nil {
		retire(&s.ghost)
	}
	t.first, t.last, t.from = first, version, before.VirtualNS
	_, steps := m.rec.Count()
	t.m.twin.stay(steps, before)
	s.ghost, s.twin = t, nil
}

// drop closes what follows a system, which the twin can do no longer.
func (s *standby) drop(m *member) {
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

// take hands over the ghost without a change, or a twin that is on its way there. It is
// nil if there is neither.
func (s *standby) take(g *past) *hidden {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range []**hidden{&s.ghost, &s.twin} {
		x := *h
		if x == nil || x.of != g.of || x.epoch != g.epoch || x.first != 0 && x.first != g.first || x.m.snap.Load().State == system.StateFailed {
			continue
		}
		if x.first == 0 { // a twin on its way: it can stay at what it has not come to yet
			n := len(g.segment.Steps)
			if n == g.changes || x.m.snap.Load().VirtualNS >= g.at {
				continue
			}
			x.m.twin.stay(g.changes, *g.segment.Steps[n-1].Checkpoint)
			if x.m.snap.Load().VirtualNS >= g.at { // it has come there meanwhile, and may have the change
				retire(h)
				continue
			}
		}
		*h = nil
		return x
	}
	return nil
}

func (s *standby) end() {
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
	own, of := h.m.snap.Load(), h.of.snap.Load()
	lead := max(of.Pace/10, 4*h.m.window, 1)
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
	of := h.of.snap.Load()
	return h.level && of.VirtualNS-h.m.snap.Load().VirtualNS <= max(of.Pace/5, 8*h.m.window)
}

// describe is how it stands; s.mu is held.
func (s *standby) describe(of *member, why string) *Twin {
	switch {
	case len(s.pages) == 0:
		return nil
	case s.agent.opts.notebook:
		return &Twin{State: "none", Why: "a notebook drives this cluster"}
	case !s.on:
		return &Twin{State: "off"}
	}
	t := &Twin{State: "building"}
	if of != nil {
		t.Sys = of.id
	}
	if g := s.ghost; g != nil {
		t.Ghost = &TwinsGhost{g.first, g.last, g.from, g.near()}
	}
	switch h := s.twin; {
	case h == nil && why != "":
		t.State, t.Why = "none", why
	case h == nil:
	case h.level:
		t.State, t.VirtualNS = "ready", h.m.snap.Load().VirtualNS
	default:
		t.VirtualNS = h.m.snap.Load().VirtualNS
		t.ReadyInMS = h.readyIn()
	}
	return t
}

// readyIn is Twin.ReadyInMS.
func (h *hidden) readyIn() int64 {
	gap := float64(h.of.snap.Load().VirtualNS - h.m.snap.Load().VirtualNS)
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
	ghost := func(x *Twin) TwinsGhost {
		if x.Ghost == nil {
			return TwinsGhost{}
		}
		return *x.Ghost
	}
	return t.Sys == o.Sys && t.State == o.State && t.Why == o.Why && ghost(t) == ghost(o) && t.ReadyInMS/1000 == o.ReadyInMS/1000
}
