package workload

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
)

// Whatever machines write down in whatever order, and whenever that is looked at, is judged in the order of times.
func TestFresh(t *testing.T) {
	const machines, each, keys = 3, 2, 4
	rapid.Check(t, func(r *rapid.T) {
		var f Fresh
		f.Open(machines, "record", keys)
		number := func(most uint64) uint64 { return rapid.Uint64Range(0, most).Draw(r, "") }
		var writes [keys]uint64
		stale := ""
		type begun struct {
			refs   []txn.Ref
			before []uint64
		}
		var open [machines * each]*begun
		var later [machines][]func() // what a machine has done and not yet written down: its cores are ahead of each other
		at := r2.Time(0)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			at += r2.Time(number(3)) + 1
			co := uint32(number(machines*each - 1))
			m, x := int(co)/each, open[co]
			now := at
			switch {
			case number(9) == 0: // a cut
				for _, list := range later {
					for _, write := range list {
						write()
					}
				}
				later = [machines][]func(){}
				f.Look(now)
			case x == nil || number(4) == 0:
				x = &begun{}
				for range 1 + number(2) {
					ref := txn.Ref{Key: number(keys - 1), Write: number(1) == 1}
					x.refs, x.before = append(x.refs, ref), append(x.before, writes[ref.Key])
				}
				open[co] = x
				later[m] = append(later[m], func() { f.begin(m, co, now, x.refs) })
			default:
				var seen []uint64
				lacks := number(3) == 0
				for i, ref := range x.refs {
					v := max(x.before[i], 1) - number(min(1, max(x.before[i], 1)))
					if seen = append(seen, v); v < x.before[i] && stale == "" && !lacks {
						stale = fmt.Sprintf("record %d had the value %d, which was %d when the transaction began", ref.Key, v, x.before[i])
					}
				}
				for _, ref := range x.refs {
					if ref.Write {
						writes[ref.Key]++
					}
				}
				open[co] = nil
				later[m] = append(later[m], func() { f.commit(m, co, now, seen, lacks) })
			}
			if k := int(number(machines)); k < machines && len(later[k]) > 1 && number(1) == 0 { // of two coroutines, the later writes first
				last := len(later[k]) - 1
				later[k][last], later[k][last-1] = later[k][last-1], later[k][last]
			}
		}
		for _, list := range later {
			for _, write := range list {
				write()
			}
		}
		f.Look(math.MaxInt64)
		if f.Stale() != stale {
			r.Fatalf("%q, want %q", f.Stale(), stale)
		}
		for key, n := range writes {
			if f.Writes(uint64(key)) != n {
				r.Fatalf("%d writes of %d, want %d", f.Writes(uint64(key)), key, n)
			}
		}
		for m, log := range f.logs.All() {
			if len(*log) > 0 {
				r.Fatalf("machine %d: %d words are left", m, len(*log))
			}
		}
	})
}

// What is written down again is in memory that was used before.
func TestFreshAllocatesNothing(t *testing.T) {
	var f Fresh
	f.Open(2, "record", 8)
	refs, seen := []txn.Ref{{Key: 1}, {Key: 2, Write: true}}, []uint64{9, 9}
	if n := testing.AllocsPerRun(10, func() {
		for i := range uint32(100) {
			f.begin(int(i%2), i, r2.Time(i), refs)
			f.commit(int(i%2), i, r2.Time(i)+50, seen, true)
		}
		f.Look(math.MaxInt64)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
