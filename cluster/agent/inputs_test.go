package agent

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/engine/experiment"
)

// Whatever replays a session looks into the files that its knobs name: other keys under the same name are said to be others, by
// the command, by a fork and by a ghost, and so is a file that is gone. The same keys in a new file are the same.
func TestSessionKnowsTheContentOfItsFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	write := func(stride uint64) {
		b := binary.LittleEndian.AppendUint64(nil, 64)
		for i := range uint64(64) {
			b = binary.LittleEndian.AppendUint64(b, i*stride)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(3)
	a, err := New(experiment.Spec{Workload: "ycsb-c", Set: experiment.Knobs{"servers": 1, "clients": 1, "replicas": 1, "threads": 1, "coroutines": 1, "xstore.trainers": 1,
		"workload.dataset": "sosd:" + file, "workload.keys": 64, "window_ns": "10us"}}, Options{Paused: true, Open: system.OpenEngine})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Step(bg, "", 20_000); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Set(bg, "", experiment.Knobs{"ddio": false}, "script"); err != nil {
		t.Fatal(err)
	}
	if err := a.Step(bg, "", 20_000); err != nil {
		t.Fatal(err)
	}
	recorded, err := a.Session(bg, "")
	if err != nil {
		t.Fatal(err)
	}
	replay := func() (*session.Replayed, error) {
		return session.Replay(bg, bytes.NewReader(recorded), session.ReplayOptions{})
	}
	write(3)
	if r, err := replay(); err != nil || !r.OK {
		t.Fatalf("with the same keys: %+v, %v", r, err)
	}
	for name, change := range map[string]func(){ // order-free: each on its own
		"other keys": func() { write(5) },
		"none": func() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		write(3)
		change()
		_, forked := a.Fork(bg, "", nil, "script")
		_, ghost := a.Ghost(bg, "", 2, "script")
		_, replayed := replay()
		for who, err := range map[string]error{"replay": replayed, "fork": forked, "ghost": ghost} { // order-free: an error each
			if err == nil || !strings.Contains(err.Error(), "another content than when the session was recorded") || !strings.Contains(err.Error(), "workload.dataset") {
				t.Errorf("%s, %s: %v", name, who, err)
			}
		}
	}
}
