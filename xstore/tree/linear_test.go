package tree

import (
	"fmt"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/sim"

	"github.com/anishathalye/porcupine"
)

// What is done to a key.
const (
	doGet = iota
	doUpdate
	doInsert
	doDelete
)

type keyOp struct {
	op          int
	key, change uint64
}

// answer is whether the key was there, or was inserted, and the change that a GET saw.
type answer struct {
	yes    bool
	change uint64
}

const linearKeys = 24

// perKey is a map, each key by itself. Even keys are there from the start, with change 0. A state is the change plus one, 0
// for a key that is not there.
var perKey = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, linearKeys)
		for _, x := range history {
			key := x.Input.(keyOp).key
			if len(parts[key]) == 0 && key > 0 && key%2 == 0 { // as if it had been inserted at first
				parts[key] = append(parts[key], porcupine.Operation{Input: keyOp{doInsert, key, 0}, Output: answer{yes: true}, Call: -2, Return: -1})
			}
			parts[key] = append(parts[key], x)
		}
		return parts
	},
	Init: func() any { return uint64(0) },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(uint64), input.(keyOp), output.(answer)
		switch {
		case in.op == doInsert && s == 0:
			return out.yes, in.change + 1
		case in.op == doInsert:
			return !out.yes, s
		case out.yes != (s != 0):
			return false, s
		case in.op == doGet:
			return s == 0 || out.change+1 == s, s
		case in.op == doUpdate && s != 0:
			return true, in.change + 1
		case in.op == doDelete:
			return true, uint64(0)
		}
		return true, s
	},
}

// Operations of the server's workers on the same few keys are, for each key, as if they came one after the other, each at a
// moment between its begin and its end.
func TestLinearizablePerKey(t *testing.T) {
	fallbacks, aborts, splits := uint64(0), uint64(0), uint64(0)
	for seed := uint64(1); seed <= 20; seed++ {
		b := newBed(t, seed, 2, 5)
		o := Options{Keys: steps{linearKeys/2 - 1, 2}, ValueBytes: 64, Slots: 4, Fanout: 4, Spare: 1000, Value: firstValue}
		if seed%2 == 0 {
			o.Heap = 1 << 20
		}
		tr := b.tree(o)
		var history []porcupine.Operation
		var done []*bool
		over, change := false, uint64(0)
		for n := range 8 {
			done = append(done, b.spawn(0, n%4, func(c *r2.Co) {
				for range 30 {
					change++
					in := keyOp{int(c.Rand().Uint64n(4)), c.Rand().Uint64n(linearKeys), change}
					begin := c.Now()
					out := perform(c, tr, in)
					history = append(history, porcupine.Operation{ClientId: int(c.ID()), Input: in, Call: int64(begin), Output: out, Return: int64(c.Now())})
					c.Yield()
				}
			}))
		}
		disturber := b.spawn(0, 4, func(c *r2.Co) { // has regions end up under the lock, see TestRemoteReads
			for !over {
				c.Store64(tr.lock.Addr+8, 1)
				c.Sleep(sim.Time(c.Rand().Uint64n(600)) * sim.Nanosecond)
			}
		})
		b.run(done...)
		over = true
		b.run(disturber)
		if !porcupine.CheckOperations(perKey, history) {
			t.Errorf("seed %d: %d operations have no order", seed, len(history))
		}
		b.audit(tr)
		n := b.cl.HTMCounts()
		fallbacks, aborts, splits = fallbacks+n.Fallbacks, aborts+n.Core, splits+tr.Stats().Splits
		b.close()
	}
	if t.Logf("%d regions ended by others, %d under the lock, %d splits", aborts, fallbacks, splits); fallbacks == 0 || splits == 0 {
		t.Error("no region ran under the lock, or no leaf has split")
	}
}

func perform(c *r2.Co, tr *Tree, in keyOp) (out answer) {
	value := make([]byte, tr.o.ValueBytes)
	if tr.heap != nil {
		value = value[:8+in.change%uint64(len(value)-8)]
	}
	valueOf(in.key, in.change, value)
	var err error
	switch in.op {
	case doGet:
		value = value[:cap(value)]
		n := 0
		if n, out.yes = tr.Get(c, in.key, value); out.yes {
			var ok bool
			if out.change, ok = changeOf(in.key, value[:n]); !ok {
				err = fmt.Errorf("key %d has value %x", in.key, value[:n])
			}
		}
	case doUpdate:
		out.yes, err = tr.Update(c, in.key, value)
	case doInsert:
		out.yes, err = tr.Insert(c, in.key, value)
	case doDelete:
		out.yes = tr.Delete(c, in.key)
	}
	if err != nil {
		panic(err)
	}
	return out
}
