package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

func NotReplayable(t *AddedTxn) error {
	return fmt.Errorf("transaction %s at %d ns is notebook code, which the session does not hold; run the notebook again instead",
		t.Name, t.VirtualNS)
}

// Differs compares what a replay has with what was recorded.
func Differs(want, got Checkpoint) error {
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

// HeaderOf describes a system that was just opened.
func HeaderOf(id string, sys system.System) Header {
	v := sys.Values()
	inputs, _ := experiment.Inputs(v) // one that is gone by now is ""
	return Header{Format: Format, Code: code.Build(), Sys: id, Seed: v["seed"], WindowNS: WindowNS(v), Spec: sys.Spec(), Values: v, Inputs: inputs}
}

// SameInputs says which file that a knob names has another content than when the system was opened: it cannot be opened once more.
func (h *Header) SameInputs() error {
	now, _ := experiment.Inputs(h.Values) // likewise
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was := h.Inputs[name]; was == "" || was != now[name] {
			return &experiment.SpecError{Field: name, Value: fmt.Sprint(h.Values[name]), Rule: "is a file with another content than when the session was recorded: sha256 was " + shortSum(was) + ", is " + shortSum(now[name]),
				Next: "bring that file back: what is measured depends on it"}
		}
	}
	return nil
}

// shortSum is a hash for people.
func shortSum(sum string) string {
	if sum == "" {
		return "unknown, for it could not be read"
	}
	return fmt.Sprintf("%.16s", sum)
}

func WindowNS(v experiment.Knobs) int64 {
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
			return fmt.Errorf("recorded by code %s, this is %s: results may differ, so replay it with the build that wrote it", words.OneLine(g.Header.Code), build)
		}
		for _, st := range g.Steps {
			if st.Transaction != nil {
				return NotReplayable(st.Transaction)
			}
		}
	}
	return nil
}

// Reopen opens what a segment was recorded on.
func (g *Segment) Reopen(ctx context.Context, open system.Opener, progress engine.Progress) (system.System, error) {
	if h := &g.Header; !reflect.DeepEqual(h.Seed, h.Values["seed"]) || h.WindowNS != WindowNS(h.Values) {
		return nil, fmt.Errorf("its header says seed %v and window_ns %d, its knobs %v and %v: the file was changed",
			h.Seed, h.WindowNS, h.Values["seed"], h.Values["window_ns"])
	}
	if err := g.Header.SameInputs(); err != nil {
		return nil, err
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
		if !reflect.DeepEqual(a[k], b[k]) {
			return k
		}
	}
	return ""
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
	Open     system.Opener         // nil: the engine
	Progress func(done, total int) // microseconds of virtual time
	Keep     func(Recording)       // unless nil, is given each segment when it has been run again
	// History takes every access of the session's last segment, in the form that the name asks
	// for; nil: none.
	History     io.Writer
	HistoryName string

	Turn  Turn          // waits until the next slice may begin; nil: it may
	Slice time.Duration // about how long a slice takes; 0: SliceWall
}

// Turn waits until a slice may begin. Done is called at its end.
type Turn func(ctx context.Context) (done func(), err error)

// Replay runs a recorded session again and compares digest and windows at every
// checkpoint. An error means that it could not be run; a difference is in the
// outcome.
func Replay(ctx context.Context, r io.Reader, o ReplayOptions) (*Replayed, error) {
	s, err := Read(r)
	if err != nil {
		return nil, err
	}
	if err := s.Replayable(); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	if o.Open == nil {
		o.Open = system.OpenEngine
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
		if err := g.Rerun(ctx, at, p, out); err != nil {
			return nil, fmt.Errorf("session: %w", err)
		}
		if !out.OK {
			break
		}
		before += g.EndNS()
	}
	return out, nil
}

// Rerun replays one segment into out.
func (g *Segment) Rerun(ctx context.Context, o ReplayOptions, progress func(now int64), out *Replayed) error {
	sys, err := g.Reopen(ctx, o.Open, nil)
	if err != nil {
		return err
	}
	defer system.Close(sys)
	if o.History != nil {
		if err := sys.RecordHistory(o.HistoryName, o.History); err != nil {
			return err
		}
		defer sys.EndHistory() // also of one that is cancelled
	}
	out.Recorded = ""
	track, aim := NewTrack(sys), cmp.Or(o.Slice, SliceWall)
	var events []Event
	for _, st := range g.Steps {
		to := st.VirtualNS
		if st.Failed != nil {
			to++ // what failed it happened at that very time
		}
		err := track.runTo(ctx, to, aim, o.Turn, progress)
		out.Recorded = "" // what was compared is not the end, unless this is a checkpoint too
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && st.Failed != nil:
			if got := words.OneLine(err.Error()); got != st.Failed.Error {
				out.fail(fmt.Sprintf("failed with %q, recorded %q", got, st.Failed.Error))
			}
		case err != nil:
			out.fail(err.Error())
		case st.Failed != nil:
			out.fail(fmt.Sprintf("replay at %d ns: did not fail, recorded %q", st.VirtualNS, st.Failed.Error))
		case st.Change != nil:
			out.Changes++
			events = append(events, Event{VirtualNS: st.Change.VirtualNS, Kind: KindOf(st.Change.Set), By: st.Change.By, Version: st.Change.Version, Set: st.Change.Set, Was: ValuesOf(sys, st.Change.Set)})
			if _, err := sys.Set(st.Change.Set, st.Change.By); err != nil {
				out.fail(fmt.Sprintf("replay at %d ns: %v", st.VirtualNS, err))
			}
		case st.Checkpoint != nil:
			out.Checkpoints++
			out.Recorded = st.Checkpoint.Digest
			if err := Differs(*st.Checkpoint, track.Mark()); err != nil {
				out.fail(err.Error())
			}
		}
		if !out.OK || st.Failed != nil {
			break
		}
	}
	out.VirtualNS, out.Windows, out.Digest = sys.NowNS(), track.hash.n, sys.Digest()
	sys.EndHistory()
	out.Result = sys.Result()
	if o.Keep != nil {
		o.Keep(g.recording(sys, events))
	}
	return nil
}

func (r *Replayed) fail(why string) {
	if r.OK {
		r.OK, r.Why = false, words.OneLine(why)
	}
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
		r.VirtualNS, words.Counted(r.Changes, "change"), words.Counted(r.Checkpoints, "checkpoint"), words.Counted(r.Windows, "window"), r.Digest)
	if r.Segments > 1 {
		fmt.Fprintf(&b, "\nreset %s: time, windows and digest are those after the last reset", words.Counted(r.Segments-1, "time"))
	}
	if r.Torn {
		b.WriteString("\nthe last line of the file was cut short and is left out")
	}
	return b.String()
}
