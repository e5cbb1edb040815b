package cluster

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sort"
	"strings"
	"time"

	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// replay is a session that a member catches up with: a fork with the session of
// another system, a resumed one with its file.
type replay struct {
	steps  []Step
	next   int
	target int64
	code   []addedCode  // of the steps that add transactions, in order
	then   func() error // at the target; nil: nothing
	task   string
}

// catchUp does the next slice or step of the replay.
func (m *member) catchUp() {
	r := m.replay
	now := m.sys.NowNS()
	to := r.target
	if r.next < len(r.steps) {
		to = r.steps[r.next].VirtualNS
	}
	if now < to {
		m.advance(min(m.slice, to-now))
		m.agent.taskProgress(r.task, m.sys.NowNS(), r.target)
		return
	}
	if r.next < len(r.steps) {
		st := r.steps[r.next]
		r.next++
		if err := m.redo(st, r); err != nil {
			m.fail(err)
		}
		return
	}
	m.replay = nil
	if r.then != nil {
		if err := r.then(); err != nil {
			m.fail(err)
			return
		}
	}
	// Only an origin that has gone on meanwhile is pursued: one that stood, as a notebook's, moves when it is
	// told to, and the fork stays where it was forked.
	if m.chase = m.origin != nil && m.origin.snap.Load().VirtualNS > m.sys.NowNS(); !m.chase {
		m.agent.taskDone(r.task, nil)
	}
	m.anchor(time.Now())
	m.publish(time.Now())
}

// redo repeats a recorded step on the loop.
func (m *member) redo(st Step, r *replay) error {
	switch {
	case st.Change != nil:
		was := valuesOf(m.sys, st.Change.Set)
		c, err := m.sys.Set(st.Change.Set, st.Change.By)
		if err != nil {
			return fmt.Errorf("replay at %d ns: %w", st.VirtualNS, err)
		}
		m.event(Event{Kind: kindOf(st.Change.Set), By: st.Change.By, Version: c.Version, Set: st.Change.Set, Was: was, Pending: c.Pending})
	case st.Transaction != nil:
		if len(r.code) == 0 {
			return notReplayable(st.Transaction)
		}
		t := r.code[0]
		r.code = r.code[1:]
		m.added = append(m.added, t)
		return t.apply(m.sys)
	case st.Checkpoint != nil:
		return differs(*st.Checkpoint, m.mark())
	case st.Failed != nil:
		return fmt.Errorf("the session failed here: %s", st.Failed.Error)
	}
	return nil
}

func notReplayable(t *AddedTxn) error {
	return fmt.Errorf("transaction %s at %d ns is notebook code, which the session does not hold; run the notebook again instead",
		t.Name, t.VirtualNS)
}

// differs compares what a replay has with what was recorded.
func differs(want, got Checkpoint) error {
	switch {
	case got.Digest != want.Digest:
		have, recorded := apart(got.Digest, want.Digest)
		return fmt.Errorf("replay at %d ns: digest %s, recorded %s", want.VirtualNS, have, recorded)
	case got.Windows != want.Windows:
		return fmt.Errorf("replay at %d ns: %d windows, recorded %d", want.VirtualNS, got.Windows, want.Windows)
	case got.WindowsHash != want.WindowsHash:
		return fmt.Errorf("replay at %d ns: the windows differ from the recorded ones", want.VirtualNS)
	case got.KnobsVersion != want.KnobsVersion:
		return fmt.Errorf("replay at %d ns: version %d of the knobs, recorded %d", want.VirtualNS, got.KnobsVersion, want.KnobsVersion)
	}
	return nil
}

// apart shortens two digests as far as they still show that they differ.
func apart(a, b string) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	n = (n/16 + 1) * 16
	return a[:min(n, len(a))], b[:min(n, len(b))]
}

// headerOf describes a system that was just opened.
func headerOf(id string, sys System) Header {
	v := sys.Values()
	return Header{Format: SessionFormat, Code: code.Build(), Sys: id, Seed: v["seed"], WindowNS: windowNS(v), Spec: sys.Spec(), Values: v}
}

func windowNS(v experiment.Knobs) int64 {
	switch n := v["window_ns"].(type) {
	case int:
		return int64(n)
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

// Replayable says why a session cannot be run again here, nil if it can.
func (s *Session) Replayable() error {
	for i := range s.Segments {
		g := &s.Segments[i]
		if build := code.Build(); g.Header.Code != build {
			return fmt.Errorf("recorded by code %s, this is %s: results may differ, so replay it with the build that wrote it", oneLine(g.Header.Code), build)
		}
		for _, st := range g.Steps {
			if st.Transaction != nil {
				return notReplayable(st.Transaction)
			}
		}
	}
	return nil
}

// reopen opens what a segment was recorded on.
func (g *Segment) reopen(ctx context.Context, open Opener, progress engine.Progress) (System, error) {
	if h := &g.Header; !sameValue(h.Seed, h.Values["seed"]) || h.WindowNS != windowNS(h.Values) {
		return nil, fmt.Errorf("its header says seed %v and window_ns %d, its knobs %v and %v: the file was changed",
			h.Seed, h.WindowNS, h.Values["seed"], h.Values["window_ns"])
	}
	sys, err := open(ctx, g.Header.Spec, progress)
	if err != nil {
		return nil, fmt.Errorf("the session's spec: %w", err)
	}
	if k := knobThatDiffers(g.Header.Values, sys.Values()); k != "" {
		sys.Close()
		return nil, fmt.Errorf("knob %s had the value %v and now resolves to %v: replay it with the build that wrote it",
			k, g.Header.Values[k], sys.Values()[k])
	}
	return sys, nil
}

// knobThatDiffers names the first of them, "" for none.
func knobThatDiffers(a, b experiment.Knobs) string {
	var names []string
	for k := range a {
		names = append(names, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			names = append(names, k)
		}
	}
	sort.Strings(names)
	for _, k := range names {
		if !sameValue(a[k], b[k]) {
			return k
		}
	}
	return ""
}

// sameValue compares knob values of which one may have been through JSON.
func sameValue(a, b any) bool {
	x, xok := asFloat(a)
	y, yok := asFloat(b)
	if xok && yok {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func asFloat(v any) (float64, bool) {
	rv := reflect.ValueOf(v)
	switch {
	case rv.CanInt():
		return float64(rv.Int()), true
	case rv.CanUint():
		return float64(rv.Uint()), true
	case rv.CanFloat():
		return rv.Float(), true
	}
	return 0, false
}

// Replayed is what running a session again found.
type Replayed struct {
	OK          bool           `json:"ok"`
	Why         string         `json:"why,omitempty"` // not OK: the first difference
	Code        string         `json:"code"`
	Segments    int            `json:"segments"`
	VirtualNS   int64          `json:"virtual_ns"` // of the last segment
	Changes     int            `json:"changes"`
	Checkpoints int            `json:"checkpoints"`
	Windows     int            `json:"windows"`
	Digest      string         `json:"digest"`
	Recorded    string         `json:"recorded_digest,omitempty"` // what Digest was compared with; "": the session goes on after its last checkpoint
	Torn        bool           `json:"torn"`                      // the file's last line was cut short by a crash
	Result      *result.Result `json:"result,omitempty"`
}

// ReplayOptions of Replay.
type ReplayOptions struct {
	Open     Opener                // nil: the engine
	Progress func(done, total int) // microseconds of virtual time
	Keep     func(Recording)       // unless nil, is given each segment when it has been run again
	// History takes every access of the session's last segment, in the form that the name asks
	// for; nil: nobody asks.
	History     io.Writer
	HistoryName string

	turn func(ctx context.Context) (done func(), err error) // waits until the next slice may begin; nil: it may
}

// Replay runs a recorded session again and compares digest and windows at every
// checkpoint. An error means that it could not be run; a difference is in the
// outcome.
func Replay(ctx context.Context, r io.Reader, o ReplayOptions) (*Replayed, error) {
	s, err := ReadSession(r)
	if err != nil {
		return nil, err
	}
	if err := s.Replayable(); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	if o.Open == nil {
		o.Open = openEngine
	}
	out := &Replayed{OK: true, Code: code.Build(), Segments: len(s.Segments), Torn: s.Torn}
	var total, before int64
	for i := range s.Segments {
		total += s.Segments[i].EndNS()
	}
	for i := range s.Segments {
		g := &s.Segments[i]
		p := func(now int64) {
			if o.Progress != nil {
				o.Progress(int((before+now)/1000), int(total/1000))
			}
		}
		at := o
		if i < len(s.Segments)-1 {
			at.History = nil // another begins at virtual time 0
		}
		if err := g.rerun(ctx, at, p, out); err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
		if !out.OK {
			break
		}
		before += g.EndNS()
	}
	return out, nil
}

// rerun replays one segment into out.
func (g *Segment) rerun(ctx context.Context, o ReplayOptions, progress func(now int64), out *Replayed) error {
	sys, err := g.reopen(ctx, o.Open, nil)
	if err != nil {
		return err
	}
	defer closeSystem(sys)
	if o.History != nil {
		if err := sys.RecordHistory(o.HistoryName, o.History); err != nil {
			return err
		}
		defer sys.EndHistory() // also of one that is cancelled
	}
	out.Recorded = ""
	m := &member{sys: sys, slice: firstSlice}
	if o.turn != nil {
		m.twin = &follower{} // it is hidden, and its slices are as short
	}
	for _, st := range g.Steps {
		to := st.VirtualNS
		if st.Failed != nil {
			to++ // what failed it happened at that very time
		}
		err := m.rerunTo(ctx, to, o.turn, progress)
		out.Recorded = "" // what was compared is not the end, unless this is a checkpoint too
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && st.Failed != nil:
			if got := oneLine(err.Error()); got != st.Failed.Error {
				out.fail(fmt.Sprintf("failed with %q, recorded %q", got, st.Failed.Error))
			}
		case err != nil:
			out.fail(err.Error())
		case st.Failed != nil:
			out.fail(fmt.Sprintf("replay at %d ns: did not fail, recorded %q", st.VirtualNS, st.Failed.Error))
		case st.Change != nil:
			out.Changes++
			m.remember(st.Change)
			if _, err := sys.Set(st.Change.Set, st.Change.By); err != nil {
				out.fail(fmt.Sprintf("replay at %d ns: %v", st.VirtualNS, err))
			}
		case st.Checkpoint != nil:
			out.Checkpoints++
			out.Recorded = st.Checkpoint.Digest
			if err := differs(*st.Checkpoint, m.mark()); err != nil {
				out.fail(err.Error())
			}
		}
		if !out.OK || st.Failed != nil {
			break
		}
	}
	out.VirtualNS, out.Windows, out.Digest = sys.NowNS(), m.hash.n, sys.Digest()
	sys.EndHistory()
	out.Result = sys.Result()
	if o.Keep != nil {
		o.Keep(m.recording(g))
	}
	return nil
}

func (r *Replayed) fail(why string) {
	if r.OK {
		r.OK, r.Why = false, oneLine(why)
	}
}

// rerunTo advances without an agent, in slices so that it can be cancelled.
func (m *member) rerunTo(ctx context.Context, to int64, turn func(context.Context) (func(), error), progress func(now int64)) error {
	for m.sys.NowNS() < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		done := func() {}
		if turn != nil {
			var err error
			if done, err = turn(ctx); err != nil {
				return err
			}
		}
		err := m.slide(min(m.slice, to-m.sys.NowNS()))
		done()
		ws := m.sys.Windows(m.hash.n)
		for i := range ws {
			if err := m.hash.add(&ws[i]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
		progress(m.sys.NowNS())
	}
	return nil
}

func (r *Replayed) String() string {
	var b strings.Builder
	verdict := "same digest"
	switch {
	case !r.OK:
		verdict = "DIFFERENT: " + r.Why
	case r.Checkpoints == 0:
		verdict = "no digest to compare with: the session ends before its first checkpoint"
	case r.Recorded == "":
		verdict = "same digest at every checkpoint; the session goes on after the last of them"
	}
	fmt.Fprintf(&b, "%s\n%d ns, %s, %s, %s, digest %s", verdict,
		r.VirtualNS, counted(r.Changes, "change"), counted(r.Checkpoints, "checkpoint"), counted(r.Windows, "window"), r.Digest)
	if r.Segments > 1 {
		fmt.Fprintf(&b, "\nreset %s: time, windows and digest are those after the last reset", counted(r.Segments-1, "time"))
	}
	if r.Torn {
		b.WriteString("\nthe last line of the file was cut short and is left out")
	}
	return b.String()
}
