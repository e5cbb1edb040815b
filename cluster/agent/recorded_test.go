package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

// recordSession runs a live cluster with changes, each at least one window and a
// half after the one before, and returns the file's path. It waits for virtual time:
// on a loaded machine a moment of the wall clock may be none of the cluster's.
func recordSession(t *testing.T, changes int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	a := newFake(t, Options{Pace: 50_000_000, Session: path}, systemtest.Options{})
	for i := range changes {
		next := stateOf(t, a, "").VirtualNS + 3*systemtest.Window/2
		systemtest.Eventually(t, "moves on", func() bool { return stateOf(t, a, "").VirtualNS >= next })
		if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": i + 1}, "page"); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func replayFile(t *testing.T, path string) *session.Replayed {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSessionReplaysToItsDigestAndWindows(t *testing.T) {
	path := recordSession(t, 20)
	r := replayFile(t, path)
	for _, text := range []string{r.String(), (&session.Replayed{OK: true, Segments: 2, Changes: 1, Checkpoints: 1, Windows: 1}).String()} {
		if strings.Contains(text, "(s)") || strings.Contains(text, " 1 changes") {
			t.Error(text)
		}
	}
	if !r.OK || r.Changes != 19 && r.Changes != 20 || r.Checkpoints < 1 || r.Windows == 0 {
		t.Errorf("%+v", r)
	}
	if r.Digest != r.Recorded {
		t.Errorf("digest %s, recorded %s", r.Digest, r.Recorded)
	}
}

// A replay names the recorded digest only beside one that was compared with it, and finds
// nothing the same where there is none.
func TestReplayComparesWhatThereIs(t *testing.T) {
	b, _ := os.ReadFile(recordSession(t, 5))
	lines := strings.SplitAfter(strings.TrimSpace(string(b)), "\n")
	end := lines[len(lines)-1] + "\n"
	for _, c := range []struct {
		name, text, says    string
		checkpoints, digest bool
	}{
		{"ended", string(b), "same digest\n", true, true},
		{"killed after a checkpoint", strings.Replace(string(b), end, strings.Replace(end, `{"end"`, `{"checkpoint"`, 1)+
			fmt.Sprintf(`{"change":{"virtual_ns":%d,"version":9,"set":{"coroutines":7}}}`+"\n", 60_000_000), 1), "goes on after the last", true, false},
		{"killed at once", lines[0], "no digest to compare with", false, false},
		{"killed after a reset", string(b) + lines[0], "goes on after the last", true, false},
	} {
		r, err := session.Replay(bg, strings.NewReader(c.text), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
		if err != nil || !r.OK {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		if r.Checkpoints > 0 != c.checkpoints || c.digest != (r.Recorded == r.Digest) || !c.digest && r.Recorded != "" || !strings.Contains(r.String(), c.says) {
			t.Errorf("%s: recorded %q, digest %q, %d checkpoints: %s", c.name, r.Recorded, r.Digest, r.Checkpoints, r)
		}
	}
}

func TestReplayNoticesADifference(t *testing.T) {
	path := recordSession(t, 5)
	b, _ := os.ReadFile(path)
	for name, change := range map[string]func(string) string{
		"digest": func(s string) string {
			i := strings.Index(s, `"digest":"`) + 10
			return s[:i] + "0123" + s[i+4:]
		},
		"windows": func(s string) string {
			i := strings.Index(s, `"windows_hash":"`) + 16
			return s[:i] + "0123" + s[i+4:]
		},
		"change": func(s string) string { return strings.Replace(s, `"coroutines":3`, `"coroutines":31`, 1) },
		"version": func(s string) string {
			i := strings.LastIndex(s, `"knobs_version":`) + 16
			return s[:i] + "9" + s[i:]
		},
	} {
		bad := change(string(b))
		if bad == string(b) {
			t.Fatalf("%s: nothing changed", name)
		}
		r, err := session.Replay(bg, strings.NewReader(bad), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
		if err != nil || r.OK || r.Why == "" || strings.Contains(r.Why, "\n") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	// What a header says twice has to agree.
	for was, is := range map[string]string{`"seed":7,"window_ns":`: `"seed":8,"window_ns":`, `"window_ns":400000,"spec"`: `"window_ns":400001,"spec"`} {
		bad := strings.Replace(string(b), was, is, 1)
		if bad == string(b) {
			t.Fatalf("no %s in %.300s", was, b)
		}
		if _, err := session.Replay(bg, strings.NewReader(bad), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})}); err == nil || !strings.Contains(err.Error(), "its header says") {
			t.Errorf("%s: %v", is, err)
		}
	}
	r, err := session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{Drift: 50_000})})
	if err != nil || r.OK {
		t.Errorf("other simulator: %+v, %v", r, err)
	}
}

func TestTornSessionIsReadAndContinued(t *testing.T) {
	path := recordSession(t, 8)
	whole, _ := os.ReadFile(path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	// Cut anywhere in the last two records: what is whole is read, the rest is
	// what a crash leaves.
	from := len(whole) - len(lines[len(lines)-2]) - len(lines[len(lines)-3])
	for cut := from + 1; cut < len(whole); cut += 7 {
		s, err := session.Read(bytes.NewReader(whole[:cut]))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if s.Torn == (whole[cut-1] == '\n') {
			t.Errorf("cut at %d: torn %v", cut, s.Torn)
		}
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	os.WriteFile(torn, whole[:len(whole)-5], 0o644)
	a, err := New(experiment.Spec{}, Options{Pace: 50_000_000, Resume: torn, Open: systemtest.Opener(systemtest.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	systemtest.Eventually(t, "caught up", func() bool { return !stateOf(t, a, "").CatchingUp })
	if s := stateOf(t, a, ""); s.State != system.StateRunning {
		t.Fatalf("%+v", s)
	}
	if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": 30}, "page"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if r := replayFile(t, torn); !r.OK || r.Torn {
		t.Errorf("%+v", r)
	}
	after, _ := os.ReadFile(torn)
	if !bytes.HasPrefix(after, whole[:len(whole)-len(lines[len(lines)-2])]) {
		t.Error("what was recorded before is not there any more")
	}
}

// A file that is further than the system which catches up with it stays whole, whatever
// is asked of the system meanwhile.
func TestCatchingUpLeavesTheFileWhole(t *testing.T) {
	path := recordSession(t, 8)
	before, _ := os.ReadFile(path)
	a, err := New(experiment.Spec{}, Options{Paused: true, Resume: path, Open: systemtest.Opener(systemtest.Options{Slow: 20 * time.Millisecond})})
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := a.Session(bg, ""); !errors.As(err, &busy) {
		t.Errorf("a session while it catches up: %v", err)
	}
	if !stateOf(t, a, "").CatchingUp {
		t.Fatal("it has caught up already: nothing is tested")
	}
	if err := a.Reset(bg, "", experiment.Knobs{"nodes": 5}, nil, ""); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(path); !bytes.HasPrefix(after, before) {
		t.Error("what was recorded before is not there any more")
	}
	if r := replayFile(t, path); !r.OK {
		t.Errorf("%+v", r)
	}
}

func TestResetBeginsASegment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	a := newFake(t, Options{Paused: true, Session: path}, systemtest.Options{})
	a.Step(bg, "", 500_000)
	a.Set(bg, "", experiment.Knobs{"coroutines": 2}, "script")
	a.Step(bg, "", 500_000)
	if err := a.Reset(bg, "", experiment.Knobs{"nodes": 3}, 5, "page"); err != nil {
		t.Fatal(err)
	}
	a.Step(bg, "", 300_000)
	a.Close()
	r := replayFile(t, path)
	if !r.OK || r.Segments != 2 || r.VirtualNS != 300_000 || r.Changes != 1 {
		t.Errorf("%+v", r)
	}
}

func TestFailedSessionReplaysToItsFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	fo := systemtest.Options{FailAt: 1_234_500}
	a := newFake(t, Options{Paused: true, Session: path}, fo)
	a.Step(bg, "", 1_000_000)
	if a.Step(bg, "", 1_000_000) == nil {
		t.Fatal("did not fail")
	}
	a.Close()
	b, _ := os.ReadFile(path)
	r, err := session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{Open: systemtest.Opener(fo)})
	if err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
	if err != nil || r.OK {
		t.Errorf("a replay that does not fail: %+v, %v", r, err)
	}
	if _, err := New(experiment.Spec{}, Options{Resume: path, Open: systemtest.Opener(fo)}); err == nil || !strings.Contains(err.Error(), "failure") {
		t.Errorf("resume: %v", err)
	}
}

func TestSessionIsNeverOverwritten(t *testing.T) {
	path := recordSession(t, 2)
	before, _ := os.ReadFile(path)
	if _, err := New(systemtest.Spec(), Options{Session: path, Open: systemtest.Opener(systemtest.Options{})}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("%v", err)
	}
	after, _ := os.ReadFile(path)
	if !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
	if _, err := New(systemtest.Spec(), Options{Session: filepath.Join(path, "x"), Open: systemtest.Opener(systemtest.Options{})}); !experiment.IsSpecError(err) {
		t.Errorf("a folder that is a file: %v", err)
	}
	// To read one that is no file, as a pipe, may take for ever.
	if _, err := New(experiment.Spec{}, Options{Resume: os.DevNull, Open: systemtest.Opener(systemtest.Options{})}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device: %v", err)
	}
	a, err := New(experiment.Spec{}, Options{Paused: true, Resume: path, Open: systemtest.Opener(systemtest.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := New(experiment.Spec{}, Options{Resume: path, Open: systemtest.Opener(systemtest.Options{})}); err == nil || !strings.Contains(err.Error(), "another drtmx") {
		t.Errorf("two writers of one session: %v", err)
	}
}

func TestBadSessionsAreRefusedWithOneLine(t *testing.T) {
	b, _ := os.ReadFile(recordSession(t, 3))
	good := string(b)
	lines := strings.SplitAfter(good, "\n")
	head := lines[0]
	for name, c := range map[string]struct{ text, says string }{
		"empty":          {"", "no header"},
		"no header":      {lines[1], "line 1: is no session's header"},
		"another file":   {"{}\n", "line 1: is no session's header; give a file that drtmx up --session wrote"},
		"other format":   {strings.Replace(good, `"format":1`, `"format":2`, 1), "format 2, this drtmx reads 1"},
		"later format":   {strings.Replace(good, `"format":1`, `"format":7,"new":true`, 1), "format 7"},
		"no format":      {strings.Replace(good, `"format":1,`, ``, 1), "format"},
		"other code":     {strings.Replace(good, `"code":"`+code.Build(), `"code":"zzz`, 1), "recorded by code zzz"},
		"not JSON":       {head + "{]\n", "line 2"},
		"unknown record": {head + `{"later":{}}` + "\n", "line 2"},
		"two fields":     {head + `{"end":{},"failed":{}}` + "\n", "one field"},
		"goes back":      {head + `{"end":{"virtual_ns":5}}` + "\n" + `{"end":{"virtual_ns":4}}` + "\n", "goes back"},
		"negative":       {head + `{"end":{"virtual_ns":-4}}` + "\n", "goes back"},
		"after failure":  {head + `{"failed":{"virtual_ns":5,"error":"x"}}` + "\n" + `{"end":{"virtual_ns":5}}` + "\n", "follows the failure"},
		"notebook code":  {head + `{"transaction":{"virtual_ns":5,"name":"swap","weight":1}}` + "\n", "notebook code"},
		"huge line":      {head + `{"end":"` + strings.Repeat("x", session.SessionLineLimit) + `"}` + "\n", "longer than"},
		"binary":         {"\x00\x01\x02\n", "line 1"},
		"other default":  {strings.Replace(good, `"replicas":3`, `"replicas":2`, 1), "knob replicas"},
	} {
		if c.text == good {
			t.Fatalf("%s: nothing changed", name)
		}
		_, err := session.Replay(bg, strings.NewReader(c.text), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSessionFromMemory(t *testing.T) {
	a := newFake(t, Options{Paused: true}, systemtest.Options{})
	a.Step(bg, "", 500_000)
	a.Set(bg, "", experiment.Knobs{"coroutines": 2}, "script")
	a.Step(bg, "", 500_000)
	b, err := a.Session(bg, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.Replay(bg, bytes.NewReader(b), session.ReplayOptions{Open: systemtest.Opener(systemtest.Options{})})
	if err != nil || !r.OK || r.VirtualNS != 1_000_000 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A session file that does not take even its header is no session: nothing starts, and
// the name is free for the next one.
func TestSessionWithoutItsHeaderIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var opened, closed atomic.Int32
	open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (system.System, error) {
		sys, err := systemtest.Opener(systemtest.Options{Opened: &opened, Closed: &closed})(ctx, spec, progress)
		if err == nil {
			sys.(*systemtest.Fake).Held["unwritable"] = math.NaN()
		}
		return sys, err
	}
	if _, err := New(systemtest.Spec(), Options{Session: path, Open: open}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), path+": cannot be written") {
		t.Errorf("%v", err)
	}
	if opened.Load() != 1 || closed.Load() != 1 {
		t.Errorf("%d opened, %d closed", opened.Load(), closed.Load())
	}
	a := newFake(t, Options{Session: path}, systemtest.Options{})
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if r := replayFile(t, path); !r.OK {
		t.Errorf("%+v", r)
	}
}
