package kvtest

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// What is done to a key, and what came of it.
const (
	opGet = iota
	opUpdate
	opInsert
	opDelete
)

type access struct {
	op        int
	key, with uint64
}

type answer struct {
	yes   bool
	value uint64
}

// perKey is a map, each key by itself. A key's number is that of its history.
func perKey(keys []uint64, begin map[uint64]answer) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, len(keys))
			for _, x := range history {
				for i, key := range keys {
					if key == x.Input.(access).key {
						parts[i] = append(parts[i], x)
					}
				}
			}
			return parts
		},
		Init: func() any { return nil },
		Step: func(state, input, output any) (bool, any) {
			in, out := input.(access), output.(answer)
			is, ok := state.(answer)
			if !ok {
				is = begin[in.key]
			}
			switch in.op {
			case opGet:
				return out == is, is
			case opUpdate:
				if is.yes {
					is = answer{true, in.with}
					return out.yes, is
				}
				return !out.yes, is
			case opInsert:
				if is.yes {
					return !out.yes, is
				}
				return out.yes, answer{true, in.with}
			}
			return out.yes == is.yes, answer{}
		},
	}
}

// History is what clients that all work on the same few keys saw.
type History struct {
	Keys       int // they are neighbours
	Operations int // of a coroutine
	Bytes      int // of a value
	NoScan     bool
	// Wide spreads them: changes of other keys, so many for each, keep splitting nodes.
	Wide uint64
}

// Linear runs clients on the same keys once and reports what is wrong: "" is nothing.
func (h History) Linear(t testing.TB, mk Make, seed uint64) (wrong string) {
	size := Size{Machines: 3, Threads: 4, Coroutines: 2, Servers: 1 + int(seed%2)}
	initial := Even{N: 64, First: 1, Step: 2 + h.Wide}
	b := NewBed(t, mk, seed, size, Hardware(size.Machines), store.KVSpec{Name: "linear", Keys: initial, ValueBytes: h.Bytes, Spare: 100_000})
	defer b.Close()
	begin, from := map[uint64]answer{}, initial.Key(30)
	var keys []uint64
	for i := range uint64(h.Keys) {
		key := from + i*(1+h.Wide)
		keys = append(keys, key)
		if _, ok := initial.Rank(key); ok {
			begin[key] = answer{true, w8(first(key), h.Bytes)}
		}
	}
	var history []porcupine.Operation
	for n := range size.Machines * size.Threads * size.Coroutines {
		b.Spawn(n%size.Machines, n/size.Machines%size.Threads, func(c *r2.Co, kv store.KVClient) {
			x := client{h: h, c: c, kv: kv, keys: keys, id: uint64(n), value: make([]byte, h.Bytes)}
			for range h.Operations {
				c.Reset()
				history = append(history, x.step(n)...)
			}
			if x.wrong != "" {
				wrong = x.wrong
			}
		})
	}
	b.Run()
	b.KV.Audit(func(text string) { wrong = "audit: " + text })
	if wrong == "" && !porcupine.CheckOperations(perKey(keys, begin), history) {
		wrong = "a key's operations have no order"
	}
	return wrong
}

type client struct {
	h     History
	c     *r2.Co
	kv    store.KVClient
	keys  []uint64
	id    uint64
	calls uint64
	value []byte
	wrong string
}

// step is one operation, or one for each key of a scan.
func (x *client) step(n int) []porcupine.Operation {
	r := x.c.Rand()
	x.calls++
	in := access{op: int(r.Uint64n(4)), key: x.keys[r.Uint64n(uint64(len(x.keys)))], with: w8(x.id<<32|x.calls<<8|7, x.h.Bytes)}
	begin := x.c.Now()
	done := func(in access, out answer) porcupine.Operation {
		return porcupine.Operation{ClientId: n, Input: in, Call: int64(begin), Output: out, Return: int64(x.c.Now())}
	}
	if x.h.Wide > 0 && r.Uint64n(2) == 0 {
		x.disturb(in.key+1+r.Uint64n(x.h.Wide), in.op)
		return nil
	}
	if !x.h.NoScan && r.Uint64n(5) == 0 {
		return x.scan(in.key, 1+int(r.Uint64n(30)), done)
	}
	var out answer
	var err error
	switch in.op {
	case opGet:
		if out.yes, err = x.kv.Get(in.key, x.value); out.yes {
			out.value = x.number(in.key, x.value)
		}
	case opUpdate:
		Fill(in.with, x.value)
		out.yes, err = x.kv.Update(in.key, x.value)
	case opInsert:
		Fill(in.with, x.value)
		out.yes, err = x.kv.Insert(in.key, x.value)
	default:
		out.yes, err = x.kv.Delete(in.key)
	}
	if err != nil {
		x.wrong = err.Error()
	}
	return []porcupine.Operation{done(in, out)}
}

func (x *client) number(key uint64, value []byte) uint64 {
	v, err := Number(key, value)
	if err != nil {
		x.wrong = err.Error()
	}
	return v
}

// disturb changes a key without a history.
func (x *client) disturb(key uint64, op int) {
	var err error
	Fill(key, x.value)
	if op == opDelete {
		_, err = x.kv.Delete(key)
	} else {
		_, err = x.kv.Insert(key, x.value)
	}
	if err != nil {
		x.wrong = err.Error()
	}
}

// scan is a look at each of the keys that it came past.
func (x *client) scan(from uint64, n int, done func(access, answer) porcupine.Operation) (list []porcupine.Operation) {
	pairs, err := x.kv.Scan(from, n, nil)
	if err != nil {
		x.wrong = err.Error()
		return nil
	}
	found := map[uint64]answer{}
	for i, p := range pairs {
		if p.Key < from || i > 0 && p.Key <= pairs[i-1].Key {
			x.wrong = "a scan is out of order"
		}
		found[p.Key] = answer{true, x.number(p.Key, p.Value)}
	}
	to := ^uint64(0)
	if len(pairs) == n {
		to = pairs[n-1].Key
	}
	for _, key := range x.keys {
		if key >= from && key <= to {
			list = append(list, done(access{op: opGet, key: key}, found[key]))
		}
	}
	return list
}
