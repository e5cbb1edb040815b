package ordered

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

// access is what is done to an entry, and answer what came of it.
type access struct {
	op        int // 0 scan of the one key, 1 insert, 2 delete
	key, with uint64
}

type answer struct {
	yes   bool
	value uint64
}

const linearKeys = 9

// perEntry is a map, each key by itself.
var perEntry = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, linearKeys)
		for _, x := range history {
			key := x.Input.(access).key
			parts[key] = append(parts[key], x)
		}
		return parts
	},
	Init: func() any { return answer{} },
	Step: func(state, input, output any) (bool, any) {
		is, in, out := state.(answer), input.(access), output.(answer)
		switch in.op {
		case 1:
			if is.yes {
				return !out.yes, is
			}
			return out.yes, answer{true, in.with}
		case 2:
			return out.yes == is.yes, answer{}
		default:
			return out == is, is
		}
	},
}

// TestLinearizablePerKey: scans, inserts and deletes of machines that all work on the same keys are for each key as if
// they came one after the other, each at a moment between its begin and its end, though messages are lost.
func TestLinearizablePerKey(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 8
	}
	refused, done := 0, 0
	for seed := uint64(1); seed <= seeds; seed++ {
		const machines, threads, coroutines, each = 3, 2, 2, 40
		s, cl := newCluster(t, seed, fabric.Config{Machines: machines, LossPPM: 10_000}, r2.Config{Threads: threads, Coroutines: coroutines})
		x, err := NewService(cl).add(Spec{ID: 1, Name: "linear", Servers: machines, Parts: 1})
		if err != nil {
			t.Fatal(err)
		}
		var history []porcupine.Operation
		left := machines * threads * coroutines
		for n := range left {
			cl.Spawn(n%machines, n/machines%threads, func(c *r2.Co) {
				for i := range uint64(each) {
					c.Reset()
					in := access{int(c.Rand().Uint64n(3)), c.Rand().Uint64n(linearKeys), uint64(n)<<32 | i}
					begin := c.Now()
					out, err := do(c, x, in)
					if err != nil {
						t.Error(err)
					}
					if in.op != 0 && !out.yes {
						refused++
					}
					history = append(history, porcupine.Operation{ClientId: n, Input: in, Call: int64(begin), Output: out, Return: int64(c.Now())})
				}
				left--
			})
		}
		for range 1000 {
			if err := s.Run(s.Now() + sim.Millisecond); err != nil {
				t.Fatal(err)
			}
			if left == 0 {
				break
			}
		}
		if left > 0 {
			t.Fatalf("%d coroutines have not ended: %v", left, cl.Waiting(8))
		}
		if !porcupine.CheckOperations(perEntry, history) {
			t.Errorf("seed %d: %d operations have no order", seed, len(history))
		}
		done += len(history)
	}
	t.Logf("%d operations, %d changes refused", done, refused)
	if refused == 0 {
		t.Error("no insert or delete was ever refused")
	}
}

func do(c *r2.Co, x *Table, in access) (out answer, err error) {
	switch in.op {
	case 1:
		err = x.Insert(c, 0, in.key, in.with)
	case 2:
		err = x.Delete(c, 0, in.key)
	default:
		list, err := x.Scan(c, Range{From: in.key, To: in.key, Limit: 1}, nil)
		for _, e := range list {
			return answer{true, e.Value}, err
		}
		return answer{}, err
	}
	if errors.Is(err, ErrExists) || errors.Is(err, ErrMissing) {
		return answer{}, nil
	}
	return answer{yes: true}, err
}
