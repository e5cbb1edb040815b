package kvbench

import (
	"strings"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/dataset"
)

// story is a checker of the keys 64 to 640 and what clients tell it.
type story struct {
	*checker
	t *testing.T
}

func tell(t *testing.T) *story {
	k := newChecker(dataset.Linear(10), "full", 8)
	k.client(0, 0)
	k.now = func() r2.Time { return 1000 }
	return &story{k, t}
}

func (s *story) write(key uint64, x id, begin, end r2.Time) {
	s.begin(key, x, begin, key%64 != 0)
	if end != never {
		s.end(key, x, begin, end, true)
	}
}

func (s *story) get(key uint64, of id, begin, end r2.Time) { s.read(key, valueOf(key, of), begin, end) }

func valueOf(key uint64, x id) []byte {
	value := make([]byte, 8)
	put(key, x, value)
	return value
}

func pair(key uint64, x id) store.Pair { return store.Pair{Key: key, Value: valueOf(key, x)} }

// What can be is accepted, and each fault is named.
func TestAnswers(t *testing.T) {
	one, two := newID(1, 1), newID(2, 1)
	for _, c := range []struct {
		name string
		run  func(s *story)
		want string // in the fault; "": none
	}{
		{"a value from the start", func(s *story) { s.get(64, initial, 10, 20) }, ""},
		{"a write that is under way may be seen or not", func(s *story) {
			s.write(64, one, 10, never)
			s.get(64, initial, 20, 30)
			s.get(64, one, 20, 30)
		}, ""},
		{"a write that ended during the request", func(s *story) {
			s.write(64, one, 10, 25)
			s.get(64, initial, 20, 30)
		}, ""},
		{"writes that overlap come in any order", func(s *story) {
			s.write(64, one, 10, 20)
			s.write(64, two, 15, 25)
			s.get(64, one, 18, 40)
			s.get(64, two, 30, 40)
			s.get(64, two, 50, 60)
		}, ""},
		{"writes that overlap, both seen after both", func(s *story) {
			s.write(64, one, 10, 20)
			s.write(64, two, 15, 25)
			s.get(64, one, 30, 40)
			s.get(64, two, 30, 40)
		}, "and again after"},
		{"writes that overlap, seen in both orders", func(s *story) {
			s.write(64, one, 10, 20)
			s.write(64, two, 15, 25)
			s.get(64, one, 30, 40)
			s.get(64, two, 45, 50)
			s.get(64, one, 55, 60)
		}, "and again after"},
		{"insert of a key that is there", func(s *story) {
			s.begin(64, one, 10, true)
			s.end(64, one, 10, 20, false)
			s.get(64, initial, 30, 40)
		}, ""},
		{"insert that overwrites", func(s *story) {
			s.begin(64, one, 10, true)
			s.end(64, one, 10, 20, true)
		}, "there from the start"},
		{"insert that is refused for nothing", func(s *story) {
			s.begin(65, one, 10, true)
			s.end(65, one, 10, 20, false)
		}, "no client had inserted it"},
		{"two inserts of a key", func(s *story) {
			s.write(65, one, 10, 20)
			s.write(65, two, 15, 25)
		}, "two INSERTs"},
		{"update that found nothing, and was seen", func(s *story) {
			s.begin(64, one, 10, false)
			s.get(64, one, 11, 12)
			s.end(64, one, 10, 20, false)
		}, "no effect"},
		{"update that found nothing", func(s *story) {
			s.begin(64, one, 10, false)
			s.end(64, one, 10, 20, false)
		}, "did not find it"},
		{"stale value", func(s *story) {
			s.write(64, one, 10, 20)
			s.get(64, initial, 21, 30)
		}, "and again after"},
		{"back to a value from before one that was seen", func(s *story) {
			s.write(64, one, 10, never)
			s.get(64, one, 20, 30)
			s.get(64, initial, 31, 40)
		}, "and again after"},
		{"value of nobody", func(s *story) { s.get(64, one, 10, 20) }, "or was never there"},
		{"value of nobody, of a key that was written", func(s *story) {
			s.write(64, one, 10, 20)
			s.get(64, two, 30, 40)
		}, "or was never there"},
		{"another key's value", func(s *story) { s.read(64, valueOf(128, initial), 10, 20) }, "another key's"},
		{"lost key", func(s *story) { s.missing(64, 10, 20) }, "key 64: it was there from the start"},
		{"lost insert", func(s *story) {
			s.write(65, one, 10, 20)
			s.missing(65, 21, 30)
		}, "key 65: it was there by 0.000 µs, and a request from 0.000 µs"},
		{"insert that is under way", func(s *story) {
			s.write(65, one, 10, 20)
			s.missing(65, 15, 18)
		}, ""},
		{"scan", func(s *story) {
			s.write(130, one, 10, 20)
			s.scan(100, 3, []store.Pair{pair(128, initial), pair(130, one), pair(192, initial)}, 30, 40)
		}, ""},
		{"scan to the end", func(s *story) { s.scan(600, 5, []store.Pair{pair(640, initial)}, 30, 40) }, ""},
		{"scan that leaves out an initial key", func(s *story) {
			s.scan(100, 2, []store.Pair{pair(128, initial), pair(256, initial)}, 30, 40)
		}, "key 192: it was there from the start"},
		{"scan that leaves out an inserted key", func(s *story) {
			s.write(130, one, 10, 20)
			s.scan(100, 2, []store.Pair{pair(128, initial), pair(192, initial)}, 30, 40)
		}, "key 130: it was there by"},
		{"scan with a key of nobody", func(s *story) {
			s.scan(100, 2, []store.Pair{pair(128, initial), pair(130, initial)}, 30, 40)
		}, "no client inserted"},
		{"scan that ends too early", func(s *story) { s.scan(500, 9, []store.Pair{pair(512, initial)}, 30, 40) }, "key 576: it was there from the start"},
		{"scan with a key twice", func(s *story) {
			s.scan(100, 2, []store.Pair{pair(128, initial), pair(128, initial)}, 30, 40)
		}, "behind key 128"},
		{"scan with a stale value", func(s *story) {
			s.write(128, one, 10, 20)
			s.scan(100, 1, []store.Pair{pair(128, initial)}, 30, 40)
		}, "and again after"},
	} {
		s := tell(t)
		c.run(s)
		if c.want == "" && s.fault != "" || c.want != "" && !strings.Contains(s.fault, c.want) {
			t.Errorf("%s: fault %q, want %q", c.name, s.fault, c.want)
		}
	}
}

// A longer value is looked at as a whole.
func TestTornValues(t *testing.T) {
	k := newChecker(dataset.Linear(10), "full", 64)
	a, b := make([]byte, 64), make([]byte, 64)
	put(64, newID(1, 1), a)
	put(64, newID(1, 2), b)
	k.begin(64, newID(1, 1), 1, false)
	k.begin(64, newID(1, 2), 2, false)
	copy(a[32:], b[32:])
	k.read(64, a, 3, 4)
	if !strings.Contains(k.fault, "several writes") {
		t.Errorf("fault %q", k.fault)
	}
}

// Writes that nobody can see any more are forgotten, and those that somebody may are not.
func TestRegistersAreBounded(t *testing.T) {
	s := tell(t)
	at := r2.Time(0)
	next := func(seq uint32) {
		at += 10
		s.began[0] = at
		s.write(64, newID(1, seq), at, at+5)
		s.began[0] = never
		s.now = func() r2.Time { return at }
	}
	for seq := uint32(1); seq <= 1000; seq++ {
		next(seq)
		s.get(64, newID(1, seq), at+6, at+7)
	}
	if n := len(s.registers[64].versions); n > 40 || s.fault != "" {
		t.Errorf("%d writes are remembered; fault %q", n, s.fault)
	}
	s.get(64, newID(1, 3), at+8, at+9)
	if s.fault == "" {
		t.Error("a value from long ago was accepted")
	}
}

// Only some keys are watched where check is sampled, and none where it is off.
func TestSampledAnswers(t *testing.T) {
	for _, c := range []struct {
		mode        string
		least, most int
	}{{"full", 10_000, 10_000}, {"sampled", 80, 250}, {"off", 0, 0}} {
		k := newChecker(dataset.Linear(10_000), c.mode, 8)
		for i := range uint64(10_000) {
			k.read(k.keys.Key(i), valueOf(k.keys.Key(i), initial), 1, 2)
		}
		if n := int(k.checked); n < c.least || n > c.most || k.fault != "" {
			t.Errorf("%s: %d answers of 10000 were judged; fault %q", c.mode, n, k.fault)
		}
	}
}
