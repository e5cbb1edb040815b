package kvbench

import (
	"cmp"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/xstore/dataset"
)

// request is one of a history of one key: what was asked, and what was answered.
type request struct {
	client     int
	typ        int // Get, Update or Insert
	id         id  // what it writes
	begin, end int64
	at         int64 // when it happened in truth, before answers were changed

	ok  bool // found, or inserted
	saw id   // by a GET that found it
}

// state of a key: its value, 0 if it is not there.
type state id

// step is the key as it should be.
func (x *request) step(s state) (ok bool, saw id, next state) {
	switch {
	case x.typ == Get:
		return s != 0, id(s), s
	case x.typ == Update && s != 0, x.typ == Insert && s == 0:
		return true, 0, state(x.id)
	}
	return false, 0, s
}

func model(first state) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(s, input, output any) (bool, any) {
			x := input.(*request)
			ok, saw, next := x.step(s.(state))
			return ok == x.ok && (x.typ != Get || saw == x.saw), next
		},
	}
}

// drawHistory draws requests of a few clients, lets them happen, and may then change an answer.
func drawHistory(t *rapid.T, first state) []*request {
	var list []*request
	clients := rapid.IntRange(1, 4).Draw(t, "clients")
	inserts := first == 0
	for c := range clients {
		at := int64(0)
		for i := range rapid.IntRange(1, 4).Draw(t, "requests") {
			x := &request{client: c, typ: rapid.SampledFrom([]int{Get, Get, Update, Insert}).Draw(t, "type"), id: newID(uint32(c), uint32(i+1))}
			if x.typ == Insert && !inserts {
				x.typ = Update
			}
			x.begin = at + rapid.Int64Range(1, 20).Draw(t, "pause")
			x.at = x.begin + rapid.Int64Range(1, 20).Draw(t, "way")
			x.end = x.at + rapid.Int64Range(1, 20).Draw(t, "back")
			at = x.end
			list = append(list, x)
		}
	}
	for i, x := range list { // no two times are equal
		n := int64(len(list))
		x.begin, x.at, x.end = x.begin*n+int64(i), x.at*n+int64(i), x.end*n+int64(i)
	}
	slices.SortFunc(list, func(a, b *request) int { return cmp.Compare(a.at, b.at) })
	s := first
	for _, x := range list {
		x.ok, x.saw, s = x.step(s)
	}
	for range rapid.IntRange(0, 2).Draw(t, "changes") {
		x := list[rapid.IntRange(0, len(list)-1).Draw(t, "changed")]
		if x.typ != Get {
			x.ok = !x.ok
			continue
		}
		y := list[rapid.IntRange(0, len(list)-1).Draw(t, "instead")]
		switch {
		case y.typ != Get:
			x.ok, x.saw = true, y.id
		case first != 0 && rapid.Bool().Draw(t, "back to the begin"):
			x.ok, x.saw = true, id(first)
		default:
			x.ok, x.saw = y.ok, y.saw
		}
	}
	return list
}

// tellHistory tells a checker of them as they begin and end, up to the crash if there is one. forget has it forget what it may at
// every step.
func tellHistory(key uint64, list []*request, forget bool, z *crash) (fault string) {
	type event struct {
		at int64
		x  *request
	}
	var events []event
	for _, x := range list {
		events = append(events, event{x.begin, x}, event{x.end, x})
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	now := r2.Time(0)
	k := newChecker(dataset.Linear(10), "full", 8)
	k.now = func() r2.Time { return now }
	for i := range 4 {
		k.client(i, 0)
	}
	if z != nil {
		k.durable = func(uint64) r2.Time { return z.durable }
		events = slices.DeleteFunc(events, func(e event) bool { return r2.Time(e.at) >= z.at })
	}
	for _, e := range events {
		x, begin, end := e.x, r2.Time(e.x.begin), r2.Time(e.x.end)
		switch now = r2.Time(e.at); {
		case e.at == x.begin:
			k.began[x.client] = begin
			if x.typ != Get {
				k.begin(key, x.id, begin, x.typ == Insert)
			}
		case x.typ != Get:
			k.end(key, x.id, begin, end, x.ok)
			k.began[x.client] = never
		default:
			if x.ok {
				k.read(key, valueOf(key, x.saw), begin, end)
			} else {
				k.missing(key, begin, end)
			}
			k.began[x.client] = never
		}
		if r := k.registers[key]; r != nil && forget {
			r.prune(k.earliest(), k.durable(key))
		}
	}
	if z != nil {
		now = z.at
		z.happen(k, key)
	}
	return k.fault
}

// The checker says what porcupine says, of histories that can be and of those that cannot, whether it forgets or not.
func TestVerdictsArePorcupines(t *testing.T) {
	good, bad := 0, 0
	for range 50 { // one in some thousand histories tells whether a rule is missing
		rapid.Check(t, func(t *rapid.T) { checkVerdict(t, &good, &bad) })
	}
	if good < 10 || bad < 10 {
		t.Errorf("%d histories can be and %d cannot: the test is blind", good, bad)
	}
}

func checkVerdict(t *rapid.T, good, bad *int) {
	key, first := uint64(64), state(initial)
	if rapid.Bool().Draw(t, "not there") {
		key, first = 65, 0
	}
	list := drawHistory(t, first)
	var ops []porcupine.Operation
	for _, x := range list {
		ops = append(ops, porcupine.Operation{ClientId: x.client, Input: x, Output: x, Call: x.begin, Return: x.end})
	}
	want := porcupine.CheckOperations(model(first), ops)
	if want {
		*good++
	} else {
		*bad++
	}
	for _, forget := range []bool{false, true} {
		if fault := tellHistory(key, list, forget, nil); (fault == "") != want {
			for _, x := range list {
				t.Logf("client %d: %s of %v from %d to %d: %v, saw %v", x.client, TypeNames[x.typ], x.id, x.begin, x.end, x.ok, x.saw)
			}
			t.Fatalf("forgets %v: fault %q, porcupine says %v", forget, fault, want)
		}
	}
}
