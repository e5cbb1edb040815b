package kvbench

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"drtmx/engine/r2"
)

// crash ends a history of one key. Answers of before durable survive it, and the key comes back as found, 0 if it is not there.
type crash struct {
	at, durable r2.Time
	found       state
}

func (z *crash) happen(k *checker, key uint64) {
	k.home = func(uint64) int { return 0 }
	k.register(key)
	k.crashed(0, z.durable)
	k.recovered(0, func(key uint64, value []byte) bool {
		if z.found != 0 {
			put(key, id(z.found), value)
		}
		return z.found != 0
	})
}

// survivors is the state of a key and those that it may have behind a crash: none of before the last durable write.
type survivors struct {
	now state
	all [20]state // those but now, the latest last
}

func (s survivors) write(to state, durable bool) survivors {
	copy(s.all[:], s.all[1:])
	s.all[len(s.all)-1] = s.now
	if durable {
		for i := range s.all {
			s.all[i] = to
		}
	}
	s.now = to
	return s
}

// crashModel is model with requests that have no answer, whose output is nil, and with the crash.
func crashModel(first state, z *crash) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return survivors{}.write(first, true) },
		Step: func(s, input, output any) (bool, any) {
			was := s.(survivors)
			x, isRequest := input.(*request)
			if !isRequest {
				return was.now == z.found || slices.Contains(was.all[:], z.found), was
			}
			ok, saw, next := x.step(was.now)
			now := was
			if ok && x.typ != Get {
				now = was.write(next, r2.Time(x.end) < z.durable)
			}
			return output == nil || ok == x.ok && (x.typ != Get || saw == x.saw), now
		},
	}
}

// The checker says what porcupine says of what a key has behind a crash, whether it forgets or not.
func TestRecoveryVerdictsArePorcupines(t *testing.T) {
	good, bad := 0, 0
	for range 50 {
		rapid.Check(t, func(t *rapid.T) { checkRecovery(t, &good, &bad) })
	}
	if good < 50 || bad < 50 {
		t.Errorf("%d recoveries can be and %d cannot: the test is blind", good, bad)
	}
}

func checkRecovery(t *rapid.T, good, bad *int) {
	key, first := uint64(64), state(initial)
	if rapid.Bool().Draw(t, "not there") {
		key, first = 65, 0
	}
	list := drawHistory(t, first)
	ends := []int64{0}
	for _, x := range list {
		ends = append(ends, x.begin, x.end)
	}
	z := &crash{at: r2.Time(rapid.SampledFrom(ends).Draw(t, "crash")) + 1, found: first}
	z.durable = min(z.at, r2.Time(rapid.SampledFrom(ends).Draw(t, "durable"))+1)
	if x := list[rapid.IntRange(0, len(list)-1).Draw(t, "found")]; x.typ != Get {
		z.found = state(x.id)
	}
	ops := []porcupine.Operation{{ClientId: 9, Call: int64(z.at), Return: int64(z.at) + 1}}
	for _, x := range list {
		switch {
		case x.end < int64(z.at):
			ops = append(ops, porcupine.Operation{ClientId: x.client, Input: x, Output: x, Call: x.begin, Return: x.end})
		case x.begin < int64(z.at):
			ops = append(ops, porcupine.Operation{ClientId: x.client, Input: x, Call: x.begin, Return: int64(z.at) + 2})
		}
	}
	want := porcupine.CheckOperations(crashModel(first, z), ops)
	if want {
		*good++
	} else {
		*bad++
	}
	for _, forget := range []bool{false, true} {
		if fault := tellHistory(key, list, forget, z); (fault == "") != want {
			for _, x := range list {
				t.Logf("client %d: %s of %v from %d to %d: %v, saw %v", x.client, TypeNames[x.typ], x.id, x.begin, x.end, x.ok, x.saw)
			}
			t.Fatalf("crash %+v, forgets %v: fault %q, porcupine says %v", *z, forget, fault, want)
		}
	}
}

// Reads order writes, also by way of one that nobody answered: here one was there before two, and two before three, though one
// and three overlap.
func TestRecoveryIsOrderedByReads(t *testing.T) {
	one, two, three := newID(1, 1), newID(2, 1), newID(3, 1)
	for _, c := range []struct {
		durable r2.Time
		found   id
		ok      bool
	}{
		{100, one, false}, {100, two, false}, {100, three, true},
		{11, initial, false}, {11, one, true}, {11, two, true}, {11, three, true}, {1, initial, true},
	} {
		s := tell(t)
		s.write(64, one, 1, 10)
		s.write(64, two, 1, never)
		s.get(64, two, 2, 3)
		s.get(64, two, 12, 14)
		s.write(64, three, 8, 20)
		(&crash{at: 1000, durable: c.durable, found: state(c.found)}).happen(s.checker, 64)
		if (s.fault == "") != c.ok {
			t.Errorf("%v, durable until %d: fault %q", c.found, c.durable, s.fault)
		}
	}
}
