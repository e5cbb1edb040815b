package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestBarIsForTerminals(t *testing.T) {
	var b bytes.Buffer
	x := New(&b, "run")
	x.began = time.Now().Add(-time.Hour)
	x.Update(1, 2)
	x.End()
	if b.Len() > 0 {
		t.Errorf("a bar in a file: %q", b.String())
	}
	x = newBarEvery(&b, "run", 10*time.Millisecond) // lines, also while nothing is news
	x.Tell("draining", 1, 2)
	for lines := 0; lines < 2; time.Sleep(time.Millisecond) {
		x.mu.Lock()
		lines = strings.Count(b.String(), "run: 50 % after 0s, 0s left: draining\n")
		x.mu.Unlock()
	}
	x.End()
	written := b.Len()
	if time.Sleep(50 * time.Millisecond); b.Len() != written {
		t.Error("lines behind the end")
	}
	b.Reset()
	x = &Bar{w: &b, on: true, title: "run", began: time.Now().Add(-time.Hour)}
	x.Update(1, 2)
	if !strings.Contains(b.String(), "50 %") {
		t.Errorf("%q", b.String())
	}
	x.drawn = time.Time{}
	x.Part(50, 100)("draining", 1, 2)
	if !strings.Contains(b.String(), "75 %") || !strings.HasSuffix(b.String(), ": draining") {
		t.Errorf("%q", b.String())
	}
	x.End()
	if !strings.HasSuffix(b.String(), "\x1b[K") {
		t.Error("the bar stays")
	}
}
