package history

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// serialisable tries every order of the committed transactions. It knows nothing
// of graphs: each read must see the version that is current when its transaction
// has its turn, each write must replace the current one by a larger one.
func serialisable(txns []Txn, strict bool, initial uint64) bool {
	var todo []*Txn
	for i := range txns {
		if txns[i].Status == Committed {
			todo = append(todo, &txns[i])
		}
	}
	return try(todo, map[Key]uint64{}, strict, initial)
}

func try(todo []*Txn, state map[Key]uint64, strict bool, initial uint64) bool {
	if len(todo) == 0 {
		return true
	}
	for i, t := range todo {
		if strict && precedes(todo, t) {
			continue
		}
		after, ok := apply(t, state, initial)
		if !ok {
			continue
		}
		rest := append(append([]*Txn{}, todo[:i]...), todo[i+1:]...)
		if try(rest, after, strict, initial) {
			return true
		}
	}
	return false
}

// precedes says that one of todo ended before t began.
func precedes(todo []*Txn, t *Txn) bool {
	for _, u := range todo {
		if u.End < t.Begin {
			return true
		}
	}
	return false
}

func apply(t *Txn, state map[Key]uint64, initial uint64) (map[Key]uint64, bool) {
	at := func(m map[Key]uint64, k Key) uint64 {
		if v, ok := m[k]; ok {
			return v
		}
		return initial
	}
	for _, r := range t.Reads {
		own := false
		for _, w := range t.Writes {
			own = own || (w.Key == r.Key && w.New == r.Version)
		}
		if !own && at(state, r.Key) != r.Version {
			return nil, false
		}
	}
	after := map[Key]uint64{}
	for k, v := range state {
		after[k] = v
	}
	writes := slices.Clone(t.Writes) // their order in the list means nothing
	slices.SortFunc(writes, func(a, b Write) int { return cmp.Compare(a.New, b.New) })
	for _, w := range writes {
		if at(after, w.Key) != w.Old || w.New <= w.Old {
			return nil, false
		}
		after[w.Key] = w.New
	}
	return after, true
}

// drawSerial draws a history that came about by running one transaction after
// the other, each at some point between its begin and its end.
func drawSerial(t *rapid.T, n, keys int) []Txn {
	state := make([]uint64, keys)
	for i := range state {
		state[i] = 2
	}
	txns := make([]Txn, n)
	for i := range txns {
		x := &txns[i]
		point := int64(10 * i)
		x.ID = uint64(i + 1)
		x.Session = uint32(i)
		x.Begin = point - rapid.Int64Range(0, 25).Draw(t, "before")
		x.End = point + rapid.Int64Range(0, 25).Draw(t, "after")
		if rapid.IntRange(0, 9).Draw(t, "fate") == 0 {
			x.Status = Aborted
		}
		for k := range state {
			key := MakeKey(1, uint64('a'+k))
			what := rapid.IntRange(0, 4).Draw(t, "what")
			if what&1 != 0 {
				x.Reads = append(x.Reads, Read{key, state[k]})
			}
			if x.Status != Committed {
				continue
			}
			for w := what; w >= 2 && w != 4; w -= 2 {
				x.Writes = append(x.Writes, Write{key, state[k], state[k] + 2})
				state[k] += 2
			}
			if what == 4 && len(x.Writes) > 0 && rapid.Bool().Draw(t, "twice") {
				x.Writes = append(x.Writes,
					Write{key, state[k], state[k] + 2}, Write{key, state[k] + 2, state[k] + 4})
				state[k] += 4
			}
		}
	}
	return txns
}

// mutate changes one thing.
func mutate(t *rapid.T, txns []Txn) string {
	x := &txns[rapid.IntRange(0, len(txns)-1).Draw(t, "victim")]
	version := func() uint64 { return uint64(rapid.IntRange(1, 5).Draw(t, "version") * 2) }
	switch rapid.IntRange(0, 6).Draw(t, "mutation") {
	case 0:
		if len(x.Reads) > 0 {
			r := &x.Reads[rapid.IntRange(0, len(x.Reads)-1).Draw(t, "read")]
			r.Version = version()
			return fmt.Sprintf("T%d reads version %d", x.ID, r.Version)
		}
	case 1:
		if len(x.Writes) > 0 {
			w := &x.Writes[rapid.IntRange(0, len(x.Writes)-1).Draw(t, "write")]
			w.Old = version()
			return fmt.Sprintf("T%d overwrites version %d", x.ID, w.Old)
		}
	case 2:
		if len(x.Writes) > 0 {
			w := &x.Writes[rapid.IntRange(0, len(x.Writes)-1).Draw(t, "write")]
			w.New = version()
			return fmt.Sprintf("T%d installs version %d", x.ID, w.New)
		}
	case 3:
		d := rapid.Int64Range(-60, 60).Draw(t, "shift")
		x.Begin += d
		x.End += d
		return fmt.Sprintf("T%d shifted by %d", x.ID, d)
	case 4:
		x.Status = Aborted
		return fmt.Sprintf("T%d aborted", x.ID)
	case 5:
		x.Reads = append(x.Reads, Read{MakeKey(1, 'a'), version()})
		return fmt.Sprintf("T%d reads a", x.ID)
	case 6:
		v := version()
		x.Writes = append(x.Writes, Write{MakeKey(1, 'a'), v, v + 2})
		return fmt.Sprintf("T%d writes a", x.ID)
	}
	return "nothing"
}

func TestSerialIsClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		txns := drawSerial(t, rapid.IntRange(1, 40).Draw(t, "n"), 3)
		for _, initial := range []uint64{0, 2} {
			if rep := Check(txns, Options{Initial: initial, KeyName: letter}); len(rep.Anomalies) > 0 {
				t.Fatalf("%+v\n%+v", rep.Anomalies, txns)
			}
		}
	})
}

func TestAgreesWithBruteForce(t *testing.T) {
	broken, notStrict := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		txns := drawSerial(t, rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "keys"))
		what := mutate(t, txns)
		if rapid.Bool().Draw(t, "again") {
			what += ", " + mutate(t, txns)
		}
		for _, claim := range []Claim{StrictSerializable, Serializable} {
			want := serialisable(txns, claim == StrictSerializable, 2)
			rep := Check(txns, Options{Claim: claim, Initial: 2, KeyName: letter})
			if !rep.Failed() != want {
				t.Fatalf("%s, %s: brute force says %v, the checker %v: %+v\n%+v", claim, what, want, rep.OK, rep.Anomalies, txns)
			}
			switch {
			case !want && claim == Serializable:
				broken++
			case !want:
				notStrict++
			}
		}
	})
	t.Logf("%d not strictly serialisable, %d of them not serialisable", notStrict, broken)
}
