package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"

	"github.com/anishathalye/porcupine"
)

// What is done to a key, and what came of it.
const (
	doLook = iota
	doInsert
	doRemove
)

type keyOp struct {
	op  int
	key uint64
}

// perKey is a set of keys, each by itself: a look says whether the key is there, an insert whether it was not, a
// remove whether it was.
var perKey = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, linearKeys)
		for _, x := range history {
			key := x.Input.(keyOp).key
			parts[key] = append(parts[key], x)
		}
		return parts
	},
	Init: func() any { return nil }, // the first operation may find it there or not
	Step: func(state, input, output any) (bool, any) {
		yes := output.(bool)
		switch in := input.(keyOp); in.op {
		case doInsert:
			return state == nil || yes != state.(bool), true
		case doRemove:
			return state == nil || yes == state.(bool), false
		default:
			return state == nil || yes == state.(bool), yes
		}
	},
}

const (
	linearKeys   = 14
	linearBefore = 6 // that are there from the start
)

// linearizer runs operations and writes down when they began and ended.
type linearizer struct {
	rpc     uint8
	b       *bed
	tb      *Table
	history []porcupine.Operation
	moved   int // inserts that were told of another version of their gap
}

// serve does on the server's CPU what a protocol's handlers do.
func (l *linearizer) serve(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	rep[0] = l.change(c, int(req[0]), uint64(req[1]), binary.LittleEndian.Uint64(req[8:]))
	return 1
}

// The answers.
const (
	saidNo = iota
	saidYes
	saidMoved
)

// change inserts or removes a key. Nobody reads the rows, so they need no locks.
func (l *linearizer) change(c *r2.Co, op int, key, seen uint64) byte {
	if op == doInsert {
		own := make([]byte, 8)
		own[0] = 1
		switch _, err := l.tb.Insert(c, key, own, seen); {
		case err == nil:
			return saidYes
		case errors.Is(err, store.ErrChanged):
			return saidMoved
		case !errors.Is(err, store.ErrExists):
			l.b.Error(err)
		}
		return saidNo
	}
	loc, ok, err := l.tb.LookupLocal(c, key)
	if err != nil {
		l.b.Error(err)
	}
	if !ok {
		return saidNo
	}
	if _, err := l.tb.Remove(c, key, loc.Ref); err != nil { // somebody else was faster
		return saidNo
	}
	l.tb.Free(c, key, loc.Ref)
	return saidYes
}

func (l *linearizer) look(c *r2.Co, key uint64) (loc Location, ok bool) {
	var err error
	if l.tb.Primary(key) == c.Machine() {
		loc, ok, err = l.tb.LookupLocal(c, key)
	} else {
		loc, ok, err = l.tb.LookupRemote(c, key)
	}
	if err != nil {
		l.b.Error(err)
	}
	return loc, ok
}

// step is one operation of a coroutine. An insert looks before, every other time, and then wants the gap that it saw.
func (l *linearizer) step(c *r2.Co) {
	c.Reset()
	in := keyOp{int(c.Rand().Uint64n(3)), c.Rand().Uint64n(linearKeys)}
	begin, said, seen := c.Now(), byte(saidNo), store.AnyVersion
	if in.op == doInsert && c.Rand().Uint64n(2) == 0 {
		loc, ok := l.look(c, in.key)
		if ok {
			in.op, said = doLook, saidYes
		}
		seen = uint64(uint32(loc.Ref))
	}
	switch {
	case said == saidYes:
	case in.op == doLook:
		if _, ok := l.look(c, in.key); ok {
			said = saidYes
		}
	case l.tb.Primary(in.key) == c.Machine():
		said = l.change(c, in.op, in.key, seen)
	default:
		req := make([]byte, 16)
		req[0], req[1] = byte(in.op), byte(in.key)
		binary.LittleEndian.PutUint64(req[8:], seen)
		rep := c.Call(l.tb.Primary(in.key), l.rpc, req)
		if err := c.Wait(); err != nil {
			l.b.Error(err)
			return
		}
		said = rep.B[0]
	}
	if said == saidMoved { // nothing happened
		l.moved++
		return
	}
	l.history = append(l.history, porcupine.Operation{ClientId: int(c.ID()), Input: in, Call: int64(begin), Output: said == saidYes, Return: int64(c.Now())})
}

// TestLinearizablePerKey: inserts, removes and lookups of machines that all work on the same few chains, by READs, by
// RPC and by the server's own CPU, are for each key as if they came one after the other, each at a moment between its begin and its end.
func TestLinearizablePerKey(t *testing.T) {
	moved, operations, seeds := 0, 0, uint64(60)
	if testing.Short() {
		seeds = 12
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		for i, spec := range []Spec{{}, {}, {Tree: true}} {
			t.Run(fmt.Sprint(seed, i), func(t *testing.T) {
				l := &linearizer{b: seededBed(t, seed, 3, 2, 3)}
				l.b.kind, spec.Seed = kinds[i%2], seed
				l.run(t, spec, 10+4*int(seed%8))
				moved, operations = moved+l.moved, operations+len(l.history)
			})
		}
	}
	t.Logf("%d operations, %d inserts found another version of their gap", operations, moved)
	if moved == 0 {
		t.Error("no insert ever met a change of its gap")
	}
}

// run has eighteen coroutines work, with so many operations each, and looks for an order.
func (l *linearizer) run(t *testing.T, spec Spec, each int) {
	spec.ID, spec.Name, spec.ValueBytes, spec.Spare = 7, "linear", 16, 200
	var err error
	if l.tb, err = l.b.kind.newTable(l.b.cl, record.LockSeq, spec, Placement{Partition: store.Blocks(3, linearBefore), Replicas: 1}); err != nil {
		t.Fatal(err)
	}
	l.rpc = l.b.cl.Handle("test.linear", l.serve)
	var done []*bool
	for n := range 18 {
		done = append(done, l.b.spawn(n%3, n/3%2, func(c *r2.Co) {
			for range each {
				l.step(c)
			}
		}))
	}
	l.b.run(done...)
	if !porcupine.CheckOperations(perKey, l.history) {
		t.Errorf("%d operations have no order", len(l.history))
	}
	l.tb.Audit(func(text string) { t.Error(text) })
}

// TestLinearizableFindsFaults: an operation that saw what it cannot have seen is found out.
func TestLinearizableFindsFaults(t *testing.T) {
	at := func(op int, yes bool, call, ret int64) porcupine.Operation {
		return porcupine.Operation{Input: keyOp{op, 1}, Output: yes, Call: call, Return: ret}
	}
	for _, x := range []struct {
		ops  []porcupine.Operation
		want bool
	}{
		{[]porcupine.Operation{at(doInsert, true, 0, 2), at(doLook, false, 1, 3), at(doLook, true, 4, 5)}, true},
		{[]porcupine.Operation{at(doInsert, true, 0, 2), at(doLook, false, 3, 4)}, false},
		{[]porcupine.Operation{at(doInsert, true, 0, 2), at(doInsert, true, 1, 3)}, false},
		{[]porcupine.Operation{at(doRemove, true, 0, 1), at(doRemove, true, 2, 3)}, false},
	} {
		if got := porcupine.CheckOperations(perKey, x.ops); got != x.want {
			t.Errorf("%v: %v", x.ops, got)
		}
	}
}
