package agent

import (
	"testing"

	"drtmx/engine/result"
)

func TestSlowReaderIsDropped(t *testing.T) {
	h := newHub()
	r := h.subscribe(0)
	quick := h.subscribe(0)
	for range readerQueue + 1 {
		h.publish(&Frame{Sys: "a"})
		<-quick.Frames
	}
	n := 0
	for range r.Frames {
		n++
	}
	if n != readerQueue {
		t.Errorf("%d frames before it was dropped", n)
	}
	if len(h.readers) != 1 {
		t.Errorf("%d readers left", len(h.readers))
	}
	h.close()
	if _, ok := <-quick.Frames; ok {
		t.Error("the hub is closed, its reader is not")
	}
	if r := h.subscribe(0); !r.reader.dropped {
		t.Error("a closed hub takes readers")
	}
}

// Who goes after the greeting and comes back with its number gets what came meanwhile, also before
// the greeting was written.
func TestGreetingHasTheNumberOfTheSubscription(t *testing.T) {
	h := newHub()
	h.publish(&Frame{Sys: "a"})
	r := h.subscribe(0)
	h.publish(&Frame{Sys: "a"})
	if back := h.subscribe(r.At); len(back.Backlog) != 1 || back.Gap || len(r.Backlog) != 0 {
		t.Errorf("after frame %d: %d frames, gap %v", r.At, len(back.Backlog), back.Gap)
	}
}

func TestRingIsBounded(t *testing.T) {
	h := newHub()
	big := make([]result.Window, 100)
	for range 3 * ringFrames {
		h.publish(&Frame{Sys: "a", Windows: big})
		if len(h.ring) > ringFrames || h.bytes > ringBytes {
			t.Fatalf("%d frames, %d bytes", len(h.ring), h.bytes)
		}
	}
}
