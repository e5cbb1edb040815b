package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	a := newFake(t, Options{Pace: 50_000_000, Session: path}, fakeOptions{})
	for i := range changes {
		next := stateOf(t, a, "").VirtualNS + 3*fakeWindow/2
		eventually(t, "moves on", func() bool { return stateOf(t, a, "").VirtualNS >= next })
		if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": i + 1}, "page"); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func replayFile(t *testing.T, path string) *Replayed {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Replay(bg, bytes.NewReader(b), ReplayOptions{Open: fakeOpener(fakeOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSessionReplaysToItsDigestAndWindows(t *testing.T) {
	path := recordSession(t, 20)
	r := replayFile(t, path)
	for _, text := range []string{r.String(), (&Replayed{OK: true, Segments: 2, Changes: 1, Checkpoints: 1, Windows: 1}).String()} {
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
		r, err := Replay(bg, strings.NewReader(c.text), ReplayOptions{Open: fakeOpener(fakeOptions{})})
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
		r, err := Replay(bg, strings.NewReader(bad), ReplayOptions{Open: fakeOpener(fakeOptions{})})
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
		if _, err := Replay(bg, strings.NewReader(bad), ReplayOptions{Open: fakeOpener(fakeOptions{})}); err == nil || !strings.Contains(err.Error(), "its header says") {
			t.Errorf("%s: %v", is, err)
		}
	}
	r, err := Replay(bg, bytes.NewReader(b), ReplayOptions{Open: fakeOpener(fakeOptions{drift: 50_000})})
	if err != nil || r.OK {
		t.Errorf("other simulator: %+v, %v", r, err)
	}
}

// Wherever two digests differ, what is said shows it.
func TestDifferentDigestsLookDifferent(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	for i := range len(digest) + 1 {
		recorded := digest[:i]
		if i < len(digest) {
			recorded += "x" + digest[i+1:]
		} else {
			recorded += strings.Repeat("x", sessionLineLimit)
		}
		said := differs(Checkpoint{Digest: recorded}, Checkpoint{Digest: digest}).Error()
		has, want, ok := strings.Cut(strings.TrimPrefix(said, "replay at 0 ns: digest "), ", recorded ")
		if !ok || has == want || has == "" || !strings.HasPrefix(digest, has) || !strings.HasPrefix(recorded, want) || len(said) > 200 {
			t.Errorf("at %d: %.300q", i, said)
		}
	}
	if d := differs(Checkpoint{Digest: digest}, Checkpoint{Digest: digest}); d != nil {
		t.Errorf("of the same: %v", d)
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
		s, err := ReadSession(bytes.NewReader(whole[:cut]))
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if s.Torn == (whole[cut-1] == '\n') {
			t.Errorf("cut at %d: torn %v", cut, s.Torn)
		}
	}
	torn := filepath.Join(t.TempDir(), "torn.jsonl")
	os.WriteFile(torn, whole[:len(whole)-5], 0o644)
	a, err := NewAgent(experiment.Spec{}, Options{Pace: 50_000_000, Resume: torn, Open: fakeOpener(fakeOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "caught up", func() bool { return !stateOf(t, a, "").CatchingUp })
	if s := stateOf(t, a, ""); s.State != StateRunning {
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
	a, err := NewAgent(experiment.Spec{}, Options{Paused: true, Resume: path, Open: fakeOpener(fakeOptions{slow: 20 * time.Millisecond})})
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
	a := newFake(t, Options{Paused: true, Session: path}, fakeOptions{})
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
	fo := fakeOptions{failAt: 1_234_500}
	a := newFake(t, Options{Paused: true, Session: path}, fo)
	a.Step(bg, "", 1_000_000)
	if a.Step(bg, "", 1_000_000) == nil {
		t.Fatal("did not fail")
	}
	a.Close()
	b, _ := os.ReadFile(path)
	r, err := Replay(bg, bytes.NewReader(b), ReplayOptions{Open: fakeOpener(fo)})
	if err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Replay(bg, bytes.NewReader(b), ReplayOptions{Open: fakeOpener(fakeOptions{})})
	if err != nil || r.OK {
		t.Errorf("a replay that does not fail: %+v, %v", r, err)
	}
	if _, err := NewAgent(experiment.Spec{}, Options{Resume: path, Open: fakeOpener(fo)}); err == nil || !strings.Contains(err.Error(), "failure") {
		t.Errorf("resume: %v", err)
	}
}

func TestSessionIsNeverOverwritten(t *testing.T) {
	path := recordSession(t, 2)
	before, _ := os.ReadFile(path)
	if _, err := NewAgent(smallSpec(), Options{Session: path, Open: fakeOpener(fakeOptions{})}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("%v", err)
	}
	after, _ := os.ReadFile(path)
	if !bytes.Equal(before, after) {
		t.Error("the file changed")
	}
	if _, err := NewAgent(smallSpec(), Options{Session: filepath.Join(path, "x"), Open: fakeOpener(fakeOptions{})}); !experiment.IsSpecError(err) {
		t.Errorf("a folder that is a file: %v", err)
	}
	// To read one that is no file, as a pipe, may take for ever.
	if _, err := NewAgent(experiment.Spec{}, Options{Resume: os.DevNull, Open: fakeOpener(fakeOptions{})}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a device: %v", err)
	}
	a, err := NewAgent(experiment.Spec{}, Options{Paused: true, Resume: path, Open: fakeOpener(fakeOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := NewAgent(experiment.Spec{}, Options{Resume: path, Open: fakeOpener(fakeOptions{})}); err == nil || !strings.Contains(err.Error(), "another drtmx") {
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
		"huge line":      {head + `{"end":"` + strings.Repeat("x", sessionLineLimit) + `"}` + "\n", "longer than"},
		"binary":         {"\x00\x01\x02\n", "line 1"},
		"other default":  {strings.Replace(good, `"replicas":3`, `"replicas":2`, 1), "knob replicas"},
	} {
		if c.text == good {
			t.Fatalf("%s: nothing changed", name)
		}
		_, err := Replay(bg, strings.NewReader(c.text), ReplayOptions{Open: fakeOpener(fakeOptions{})})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSessionFromMemory(t *testing.T) {
	a := newFake(t, Options{Paused: true}, fakeOptions{})
	a.Step(bg, "", 500_000)
	a.Set(bg, "", experiment.Knobs{"coroutines": 2}, "script")
	a.Step(bg, "", 500_000)
	b, err := a.Session(bg, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Replay(bg, bytes.NewReader(b), ReplayOptions{Open: fakeOpener(fakeOptions{})})
	if err != nil || !r.OK || r.VirtualNS != 1_000_000 {
		t.Errorf("%+v, %v", r, err)
	}
}

func FuzzReadSession(f *testing.F) {
	f.Add([]byte(`{"session":{"format":1,"code":"x","seed":1,"window_ns":1,"spec":{"preset":"drtm+h","set":{"nodes":4}},"values":{"nodes":4}}}` + "\n" +
		`{"change":{"virtual_ns":10,"version":2,"by":"page","set":{"coroutines":4,"x":1.5,"s":"t"}}}` + "\n" +
		`{"checkpoint":{"virtual_ns":20,"digest":"d","windows":1,"windows_hash":"h","knobs_version":2}}` + "\n" + `{"end":{"virt`))
	f.Add([]byte(`{"session":{"format":2}}` + "\n"))
	f.Add([]byte("{}\n[]\nnull\n1e999\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadSession(bytes.NewReader(b))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		if s.Bytes > int64(len(b)) || len(s.Segments) == 0 {
			t.Errorf("%d of %d bytes, %d segments", s.Bytes, len(b), len(s.Segments))
		}
		last := int64(0)
		for _, g := range s.Segments {
			last = 0
			for _, st := range g.Steps {
				if st.VirtualNS < last {
					t.Error("time goes back")
				}
				last = st.VirtualNS
			}
			if _, err := json.Marshal(g.Header); err != nil {
				t.Error(err)
			}
		}
		// What is whole reads the same again.
		again, err := ReadSession(bytes.NewReader(b[:s.Bytes]))
		if err != nil || again.Torn || len(again.Segments) != len(s.Segments) {
			t.Errorf("the whole part: %v", err)
		}
	})
}

// A session file that can no longer be written is said at once, and the cluster
// runs on.
func TestLostSessionFileIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	a := newFake(t, Options{Pace: 50_000_000, Session: path}, fakeOptions{})
	m, err := a.member("")
	if err != nil {
		t.Fatal(err)
	}
	if got := m.rec.broken(); got != "" {
		t.Fatalf("broken from the start: %s", got)
	}
	m.rec.mu.Lock()
	m.rec.file.f.Close() // as if the disk had gone
	m.rec.mu.Unlock()
	if _, err := a.Set(bg, "", experiment.Knobs{"coroutines": 3}, "page"); err != nil {
		t.Fatalf("a change fails with the recording: %v", err)
	}
	eventually(t, "it is said that the session is no longer written", func() bool { return m.snap.Load().Unrecorded != "" })
	if err := <-a.Unrecorded(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("said %v", err)
	}
	if s := m.snap.Load(); s.State == StateFailed || !strings.Contains(s.Unrecorded, "s.jsonl") {
		t.Errorf("state %s, %q", s.State, s.Unrecorded)
	}
	if err := a.Close(); err == nil {
		t.Error("Close says nothing")
	}
}

// A session file that does not take even its header is no session: nothing starts, and
// the name is free for the next one.
func TestSessionWithoutItsHeaderIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var opened, closed atomic.Int32
	open := func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (System, error) {
		sys, err := fakeOpener(fakeOptions{opened: &opened, closed: &closed})(ctx, spec, progress)
		if err == nil {
			sys.(*fake).values["unwritable"] = math.NaN()
		}
		return sys, err
	}
	if _, err := NewAgent(smallSpec(), Options{Session: path, Open: open}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), path+": cannot be written") {
		t.Errorf("%v", err)
	}
	if opened.Load() != 1 || closed.Load() != 1 {
		t.Errorf("%d opened, %d closed", opened.Load(), closed.Load())
	}
	file, err := createSession(path)
	if err != nil {
		t.Fatal(err)
	}
	file.f.Close()
	if file.f, err = os.Open(path); err != nil { // takes nothing, as a disk that is full
		t.Fatal(err)
	}
	if err := newRecorder(Header{}, file).begun(); !experiment.IsSpecError(err) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("%v", err)
	}
	a := newFake(t, Options{Session: path}, fakeOptions{})
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if r := replayFile(t, path); !r.OK {
		t.Errorf("%+v", r)
	}
}

// What the disk says when it is asked to keep what it has is not forgotten.
func TestSyncErrorEndsTheRecording(t *testing.T) {
	file, err := createSession(filepath.Join(t.TempDir(), "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	good := file.f
	r, w, err := os.Pipe() // takes writes and no sync
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	defer r.Close()
	file.f = w
	file.sync()
	file.f = good
	if err := file.append(&record{End: &Checkpoint{}}); err == nil {
		t.Error("goes on after a sync that failed")
	}
	w.Close()
	if err := file.close(); err == nil {
		t.Error("close says nothing")
	}
}
