package kvscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/anishathalye/porcupine"

	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// register is a key as porcupine has it.
func register(start state) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(s, in, _ any) (bool, any) {
			o := in.(operation)
			next, ok := o.step(s.(state))
			return ok, next
		},
	}
}

// history makes answers of a few clients that mostly fit: each request takes effect at some moment, and one in some is wrong.
func history(r *rand.Rand) (ops []operation, start state) {
	start = state(r.UintN(2))
	now, s, value := r2.Time(0), start, initial
	for range 2 + r.UintN(12) {
		now += r2.Time(r.UintN(4))
		o := operation{kind: kind(r.UintN(4)), begin: now - r2.Time(r.UintN(8)), end: now + r2.Time(r.UintN(8)), client: int(r.UintN(4))}
		switch o.kind {
		case get:
			if o.value = s; r.UintN(12) == 0 {
				o.value = state(r.UintN(uint(value) + 1))
			}
		default:
			value++
			o.value, o.done = value, (s == absent) == (o.kind == insert)
			if r.UintN(30) == 0 {
				o.done = !o.done
			}
			if next, ok := o.step(s); ok {
				s = next
			}
		}
		ops = append(ops, o)
	}
	return ops, start
}

// The verdict is porcupine's.
func TestOrderedAgreesWithPorcupine(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	verdicts := map[bool]int{}
	for range 20_000 {
		ops, start := history(r)
		var theirs []porcupine.Operation
		for i, o := range ops {
			theirs = append(theirs, porcupine.Operation{ClientId: i, Input: o, Call: int64(o.begin), Return: int64(o.end)})
		}
		got := ordered(ops, start)
		if want := porcupine.CheckOperations(register(start), theirs); got != want {
			t.Fatalf("%v, porcupine %v: from %d, %s", got, want, start, story(ops))
		}
		verdicts[got]++
	}
	if verdicts[true] < 3000 || verdicts[false] < 3000 {
		t.Errorf("verdicts %v: one of them hardly comes up", verdicts)
	}
}

// As many as there may be are soon found to have no order, also where those of all clients meet.
func TestOrderedIsFast(t *testing.T) {
	var ops []operation
	for i := range mostRequests {
		at := r2.Time(i / mostClients)
		ops = append(ops, operation{kind: update, value: initial + 1 + state(i), done: true, begin: 10 * at, end: 10*at + 9, client: i % mostClients})
	}
	look := operation{kind: get, value: initial, begin: 2000, end: 2000, client: noClient}
	if ordered(append(ops, look), initial) {
		t.Error("what was overwritten is there")
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"10 20:g20  u20;i15 s10+3 ; d20": "10 20: g20 u20; i15 s10+3; d20", "0:g0": "0: g0",
	} {
		if got, rule := normal(text); got != want || rule != "" {
			t.Errorf("%q is %q, %q, want %q", text, got, rule, want)
		}
	}
	for text, says := range map[string]string{
		"": "no keys at the start", "g20": "no keys at the start", ": g20": "0 keys at the start", "20 10: g20": `"10" is no key at the start`, "10 10: g10": "numbers that rise",
		"4294967296: g1": "below 4294967296", "10: ": "no requests", "10: g10;": "no requests", "10: x10": `"x10" is no request`, "10: g": `"g" is no request`, "10: s10": `"s10" is no request`,
		"10: g10+3": `"g10+3" is no request`, "10: s10+0": "3 pairs from key 10 on, of 100 at most", "10: s10+101": "is no request", "10: g-1": "is no request",
		"10: " + strings.Repeat("g10 ", 49): "49 requests of 1 clients: at most 48 of 4", "10: g10" + strings.Repeat("; g10", 4): "5 requests of 5 clients",
		strings.Repeat("1", 3) + ":g" + strings.Repeat("9", 30): "is no request",
	} {
		if got, rule := normal(text); !strings.Contains(rule, says) {
			t.Errorf("%q is %q, refused with %q, want %q", text, got, rule, says)
		}
	}
}

// kept is a store that holds what it is told, for the look at rest.
type kept map[uint64][]byte

func (k kept) Client(*r2.Co) store.KVClient { return nil }
func (k kept) Warm() error                  { return nil }
func (k kept) Audit(func(string))           {}

func (k kept) Find(key uint64, value []byte) bool {
	copy(value, k[key])
	return k[key] != nil
}

// Values, pairs and orders that cannot be are named, and the first of them is the fault.
func TestRefutations(t *testing.T) {
	value := func(key uint64, s state) []byte {
		v := make([]byte, 16)
		fill(key, s, v)
		return v
	}
	mixed := append(value(20, initial)[:8], value(20, initial+1)[8:]...)
	for _, c := range []struct {
		name string
		do   func(w *Script, r *runner)
		want string
	}{
		{"another key's", func(w *Script, r *runner) { w.parseValue(r.own, 20, value(30, initial)) }, "another key's"},
		{"of nobody", func(w *Script, r *runner) { w.parseValue(r.own, 20, value(20, initial+9)) }, "no client has written"},
		{"mixed", func(w *Script, r *runner) { w.parseValue(r.own, 20, mixed) }, "of several writes"},
		{"out of order", func(_ *Script, r *runner) { r.scanned(request{kind: scan, key: 10, n: 3}, 0) }, "has key 20 behind key 30"},
		{"of nobody's key", func(_ *Script, r *runner) {
			r.pairs = []store.Pair{{Key: 25, Value: value(25, initial)}}
			r.scanned(request{kind: scan, key: 25, n: 1}, 0)
		}, "has key 25, which no client inserted"},
		{"a lost key", func(w *Script, r *runner) {
			r.own.list = append(r.own.list, answer{20, operation{kind: get, client: 2, begin: 1_500_000, end: 2_000_000}})
			w.judge(20, operation{kind: get, value: initial, client: noClient, begin: 3_000_000, end: 3_000_000})
		}, "key 20: GET of client 2 from 1.500 to 2.000 µs did not find it; the store's contents at rest: saw the initial value"},
	} {
		w, err := New(Options{Script: "10 20 30: g20 u20; s10+3", ValueBytes: 16})
		if err != nil {
			t.Fatal(err)
		}
		w.kv, w.own = kept{}, owned.New[answers](1, nil)
		c.do(w, &runner{w: w, own: w.own.Of(0), pairs: []store.Pair{{Key: 30, Value: value(30, initial)}, {Key: 20, Value: value(20, initial)}}})
		if fault := w.own.Of(0).fault + w.verdict.fault; !strings.Contains(fault, c.want) {
			t.Errorf("%s: %q, want %q", c.name, fault, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	k := initialKeys{10, 20, 40}
	got := ""
	for _, key := range []uint64{0, 10, 15, 40, 41} {
		i, ok := k.Rank(key)
		got += fmt.Sprint(i, ok, " ")
	}
	if got != "0 false 0 true 1 false 2 true 3 false " {
		t.Error(got)
	}
}
