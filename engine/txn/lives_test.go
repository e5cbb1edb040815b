package txn

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/store"
)

// The versions of a key grow over its lives, whatever rows it gets, and whoever looked at a life, or at the gap between
// two of them, gets the same version later.
func TestLivesOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l lives
		const key = 7
		type seen struct {
			ref     store.Ref // of a record
			gap     uint32    // of none
			there   bool
			version uint64
		}
		var all []seen
		last, gap, incarnations := uint64(0), uint32(2), map[uint32]uint16{}
		for range rapid.IntRange(1, 60).Draw(t, "lives") {
			absent := l.absent(key, gap)
			if absent < last || absent != last && absent%oneLife != 0 {
				t.Fatalf("nothing has version %#x after %#x", absent, last)
			}
			all = append(all, seen{gap: gap, version: absent})
			gap += 2 * uint32(rapid.IntRange(1, 3).Draw(t, "others"))
			row := rapid.Uint32Range(0, 3).Draw(t, "row")
			if rapid.IntRange(0, 4).Draw(t, "back") == 0 { // an insert that is taken back
				l.begin(key, store.NewRef(9, incarnations[9]))
				incarnations[9]++
			}
			ref := store.NewRef(row, incarnations[row])
			incarnations[row]++
			l.begin(key, ref)
			counter := uint64(4)
			for range rapid.IntRange(1, 3).Draw(t, "commits") {
				version := l.of(key, ref, counter)
				if version <= absent || Updated(absent, counter) != version {
					t.Fatalf("version %#x after %#x", version, absent)
				}
				last, counter = version, counter+2
			}
			all = append(all, seen{ref: ref, there: true, version: last})
			gap += 2
			l.end(key, ref, gap, 0)
			if last = Deleted(last); l.absent(key, gap) != last {
				t.Fatalf("nothing has version %#x, the deletion said %#x", l.absent(key, gap), last)
			}
			for _, x := range all[max(0, len(all)-2*keptDeaths):] {
				now := l.absent(key, x.gap)
				if x.there {
					now = l.of(key, x.ref, x.version%oneLife)
				}
				if now != x.version {
					t.Fatalf("%+v has version %#x now", x, now)
				}
			}
		}
	})
}

// Of a key that is deleted over and over the last deletions are remembered.
func TestLivesForget(t *testing.T) {
	var l lives
	for i := range uint32(5 * keptDeaths) {
		l.begin(3, store.NewRef(1, uint16(i)))
		l.end(3, store.NewRef(1, uint16(i)), 2*i+2, 0)
	}
	if n := len(l.ended[3].list); n > 2*keptDeaths || n < keptDeaths {
		t.Errorf("%d deletions remembered", n)
	}
	if v := l.absent(3, 2*5*keptDeaths); v>>lifeShift != 5*keptDeaths {
		t.Errorf("%d lives, there were %d", v>>lifeShift, 5*keptDeaths)
	}
	if v := l.absent(4, 100); v != 0 {
		t.Errorf("a key that never was has version %d", v)
	}
}
