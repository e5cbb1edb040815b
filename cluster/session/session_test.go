package session

import (
	"bytes"
	"drtmx/engine/experiment"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Wherever two digests differ, what is said shows it.
func TestDifferentDigestsLookDifferent(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	for i := range len(digest) + 1 {
		recorded := digest[:i]
		if i < len(digest) {
			recorded += "x" + digest[i+1:]
		} else {
			recorded += strings.Repeat("x", SessionLineLimit)
		}
		said := Differs(Checkpoint{Digest: recorded}, Checkpoint{Digest: digest}).Error()
		has, want, ok := strings.Cut(strings.TrimPrefix(said, "replay at 0 ns: digest "), ", recorded ")
		if !ok || has == want || has == "" || !strings.HasPrefix(digest, has) || !strings.HasPrefix(recorded, want) || len(said) > 200 {
			t.Errorf("at %d: %.300q", i, said)
		}
	}
	if d := Differs(Checkpoint{Digest: digest}, Checkpoint{Digest: digest}); d != nil {
		t.Errorf("of the same: %v", d)
	}
}

func FuzzReadSession(f *testing.F) {
	f.Add([]byte(`{"session":{"format":1,"code":"x","seed":1,"window_ns":1,"spec":{"preset":"drtm+h","set":{"nodes":4}},"values":{"nodes":4}}}` + "\n" +
		`{"change":{"virtual_ns":10,"version":2,"by":"page","set":{"coroutines":4,"x":1.5,"s":"t"}}}` + "\n" +
		`{"checkpoint":{"virtual_ns":20,"digest":"d","windows":1,"windows_hash":"h","knobs_version":2}}` + "\n" + `{"end":{"virt`))
	f.Add([]byte(`{"session":{"format":2}}` + "\n"))
	f.Add([]byte("{}\n[]\nnull\n1e999\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read(bytes.NewReader(b))
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
		again, err := Read(bytes.NewReader(b[:s.Bytes]))
		if err != nil || again.Torn || len(again.Segments) != len(s.Segments) {
			t.Errorf("the whole part: %v", err)
		}
	})
}

// What the disk says when it is asked to keep what it has is not forgotten.
func TestSyncErrorEndsTheRecording(t *testing.T) {
	file, err := Create(filepath.Join(t.TempDir(), "s.jsonl"))
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

// The file of a recorder that does not take even the header is removed: its name is free for the next one.
func TestFileWithoutItsHeaderIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	for range 2 {
		file, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		file.f.Close()
		if file.f, err = os.Open(path); err != nil { // takes nothing, as a disk that is full
			t.Fatal(err)
		}
		if err := NewRecorder(Header{}, file).Begun(); !experiment.IsSpecError(err) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%v", err)
		}
	}
}
