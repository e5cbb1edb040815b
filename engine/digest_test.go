package engine

import (
	"testing"

	"drtmx/engine/experiment"
	layout "drtmx/engine/record"
	"drtmx/engine/result"
	"drtmx/engine/workload/registers"
)

// What is checked changes the history's digest, and neither what the system does nor its events; another
// seed changes all three.
func TestDigestsTellWhatChanged(t *testing.T) {
	drained := func(k experiment.Knobs) result.Digests {
		s := open(t, small(k))
		if err := s.Advance(200_000); err != nil {
			t.Fatal(err)
		}
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		return s.Digests()
	}
	plain, off := drained(experiment.Knobs{"check": "full"}), drained(experiment.Knobs{"check": "off"})
	if off.Behaviour != plain.Behaviour || off.Trace != plain.Trace {
		t.Errorf("without a check %+v, with one %+v", off, plain)
	}
	if off.History != "" || plain.History == "" {
		t.Errorf("histories %q without a check, %q with one", off.History, plain.History)
	}
	if d := drained(experiment.Knobs{"check": "full", "seed": 7}); d.Behaviour == plain.Behaviour || d.Trace == plain.Trace || d.History == plain.History {
		t.Errorf("seed 7 %+v, seed 1 %+v", d, plain)
	}
}

// The values of rows count as behaviour, the headers of the protocol do not.
func TestContentsAreValues(t *testing.T) {
	s := open(t, small(experiment.Knobs{"workload": "registers"}))
	if err := s.Advance(100_000); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
	db, before := s.load.db, s.contents.rows
	if before == 0 || db.Contents() != before {
		t.Fatalf("contents %x, at the drain %x", db.Contents(), before)
	}
	const id = registers.Table
	var key uint64
	db.EachTouched(id, func(k uint64) { key = k })
	loc, ok := db.Table(id).Find(key)
	if !ok {
		t.Fatalf("key %d is gone", key)
	}
	row := s.fab.Machine(loc.Machine).Mem.Bytes(loc.Addr, db.Table(id).RowBytes())
	row[layout.LockSeq.Stamp]++
	if db.Contents() != before {
		t.Error("a header counts as contents")
	}
	row[len(row)-1]++
	if db.Contents() == before {
		t.Error("a value that changed is not seen")
	}
}
