package audit

import (
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/store"
)

// The versions of a key grow over its lives, whatever rows it gets, and whoever looked at a life, or at the gap between
// two of them, gets the same version later.
func TestLivesOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l deletions
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
			absent := l.absentAtGap(key, gap)
			if absent < last || absent != last && absent%oneDeletion != 0 {
				t.Fatalf("nothing has version %#x after %#x", absent, last)
			}
			all = append(all, seen{gap: gap, version: absent})
			gap += 2 * uint32(rapid.IntRange(1, 3).Draw(t, "others"))
			row := rapid.Uint32Range(0, 3).Draw(t, "row")
			if rapid.IntRange(0, 4).Draw(t, "back") == 0 { // an insert that is taken back
				l.noteInsert(key, store.NewRef(9, incarnations[9]))
				incarnations[9]++
			}
			ref := store.NewRef(row, incarnations[row])
			incarnations[row]++
			l.noteInsert(key, ref)
			counter := uint64(4)
			for range rapid.IntRange(1, 3).Draw(t, "commits") {
				version := l.version(key, ref, counter)
				if version <= absent || UpdatedVersion(absent, counter) != version {
					t.Fatalf("version %#x after %#x", version, absent)
				}
				last, counter = version, counter+2
			}
			all = append(all, seen{ref: ref, there: true, version: last})
			gap += 2
			l.add(key, ref, gap, 0)
			if last = DeletedVersion(last); l.absentAtGap(key, gap) != last {
				t.Fatalf("nothing has version %#x, the deletion said %#x", l.absentAtGap(key, gap), last)
			}
			for _, x := range all[max(0, len(all)-2*keptDeletions):] {
				now := l.absentAtGap(key, x.gap)
				if x.there {
					now = l.version(key, x.ref, x.version%oneDeletion)
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
	var l deletions
	for i := range uint32(5 * keptDeletions) {
		l.noteInsert(3, store.NewRef(1, uint16(i)))
		l.add(3, store.NewRef(1, uint16(i)), 2*i+2, 0)
	}
	if n := len(l.byKey[3].list); n > 2*keptDeletions || n < keptDeletions {
		t.Errorf("%d deletions remembered", n)
	}
	if v := l.absentAtGap(3, 2*5*keptDeletions); v>>deletionShift != 5*keptDeletions {
		t.Errorf("%d lives, there were %d", v>>deletionShift, 5*keptDeletions)
	}
	if v := l.absentAtGap(4, 100); v != 0 {
		t.Errorf("a key that never was has version %d", v)
	}
}
