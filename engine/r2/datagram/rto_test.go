package datagram

import (
	"testing"

	"drtmx/engine/sim"
)

const us = sim.Microsecond

// Answers that take long raise the timeout above them, and quick ones let it fall
// back to the least.
func TestRTO(t *testing.T) {
	s := RTOs{Least: 200 * us}
	want := func(what string, least, most Time) {
		t.Helper()
		if got := s.After(nil); got < least*us || got > most*us {
			t.Errorf("%d µs %s, want %d to %d", got/us, what, least, most)
		}
	}
	want("at first", 200, 200)
	for range 100 {
		s.Heard(nil, 0, true, 500*us)
	}
	want("after answers of 500", 500, 600)
	for range 1000 {
		s.Heard(nil, 0, true, 10*us)
	}
	want("after quick answers", 200, 200)
	for range 100 {
		s.Heard(nil, 0, true, sim.Second)
	}
	want("at most", MaxBackoff*200, MaxBackoff*200)
}

// A timeout that was too short is doubled, once for all requests that went out before it
// was, on this channel alone; until one is answered that was not repeated.
func TestRTODoubles(t *testing.T) {
	s := RTOs{Least: 200 * us}
	var own *RTO
	for _, step := range []struct {
		at, sent Time
		want     Time
	}{{200, 0, 400}, {250, 50, 400}, {600, 200, 800}, {700, 300, 800}, {1400, 600, 1600}} {
		own = s.Overdue(own, step.sent*us, step.at*us)
		if got := s.After(own); got != step.want*us {
			t.Errorf("%d µs at %d, when a request sent at %d was overdue, want %d", got/us, step.at, step.sent, step.want)
		}
	}
	s.Heard(own, 1, true, 10*us)
	if got := s.After(own); got != 1600*us {
		t.Errorf("%d µs when a repetition is answered", got/us)
	}
	if got := s.After(nil); got != 200*us {
		t.Errorf("%d µs on another channel", got/us)
	}
	s.Heard(own, 0, true, 10*us)
	if got := s.After(own); got != 200*us {
		t.Errorf("%d µs when a request is answered at once", got/us)
	}
	for range 100 {
		own = s.Overdue(own, 1400*us, 1400*us)
	}
	if got := s.After(own); got != MaxBackoff*200*us {
		t.Errorf("%d µs at most", got/us)
	}
}
