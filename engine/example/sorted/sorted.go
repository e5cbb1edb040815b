// Package sorted is an ordered key-value store as it can be least: a sorted array of pairs on each server, which clients reach
// by RPC. A handler searches the array by halves, and moves what is behind an INSERT or a DELETE. It is for few keys.
//
// Left out: client caches, one-sided READs, and whatever lets several cores of a server change the array at a time. A
// handler waits once for its core's local time, when it looks at the head, and from there on is one step.
package sorted

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/workload"
)

// Kind is the store in a list of parts.
var Kind = store.KVKind{
	Name: "sorted",
	Doc:  "a sorted array, for few keys",
	Rules: []func(v knob.Values) error{func(v knob.Values) error {
		if n := workload.Scaled(v, "workload.keys"); n > mostKeys {
			return knob.Invalid("workload.keys", v.Int("workload.keys"), fmt.Sprintf("use at most %d, or another store.ordered", mostKeys), "store.ordered=sorted moves half of its keys for an INSERT")
		}
		return nil
	}},
	Open: func(cl *r2.Cluster, s store.KVSpec, _ knob.Values) (store.KV, error) { return Open(cl, s) },
	Footprint: func(_ knob.Values, keys uint64, valueBytes int) int64 {
		return int64(keys) * int64(keyBytes+valueBytes)
	},
}

const (
	mostKeys  = 100_000
	keyBytes  = 8
	headBytes = 64 // in front of the pairs: their number
)

// Requests: an operation, a key, and a value or the number of pairs of a scan. The reply to a scan has the pairs, that to another
// a byte, and of a GET the value.
const (
	opGet = iota
	opUpdate
	opInsert
	opDelete
	opScan
)

const (
	replyNo = iota
	replyYes
	replyFull
)

// KV is a store of a cluster.
type KV struct {
	spec   store.KVSpec
	cl     *r2.Cluster
	ranges *store.Ranges
	heads  []r2.Addr // by server
	pair   int       // bytes
	moved  [][]byte  // owner: each machine, its scratch
	rpc    uint8
}

// Open makes the arrays.
func Open(cl *r2.Cluster, s store.KVSpec) (*KV, error) {
	kv := &KV{spec: s, cl: cl, ranges: store.RangesOf(&s), pair: keyBytes + s.ValueBytes, moved: make([][]byte, cl.Machines())}
	for m := range s.Servers {
		keys, mem := kv.ranges.Keys(m), cl.Mem(m)
		a, err := mem.Alloc(host.Alloc{Name: "sorted", Bytes: headBytes + (keys.Len()+s.Spare)*uint64(kv.pair)})
		if err != nil {
			return nil, fmt.Errorf("store %s: %w", s.Name, err)
		}
		kv.heads = append(kv.heads, a)
		binary.LittleEndian.PutUint64(mem.Bytes(a, 8), keys.Len())
		for i := range keys.Len() {
			b := mem.Bytes(kv.at(m, i), kv.pair)
			binary.LittleEndian.PutUint64(b, keys.Key(i))
			if s.Value != nil {
				s.Value(keys.Key(i), b[keyBytes:])
			}
		}
	}
	kv.rpc = cl.Handle("sorted.request", kv.serve)
	return kv, nil
}

// at is where a pair is.
func (kv *KV) at(server int, i uint64) r2.Addr {
	return kv.heads[server] + headBytes + r2.Addr(i*uint64(kv.pair))
}

// search is how many keys are below one, and whether it is there. look reads a key.
func search(n, key uint64, look func(i uint64) uint64) (uint64, bool) {
	low, high := uint64(0), n
	for low < high {
		if mid := (low + high) / 2; look(mid) < key {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < n && look(low) == key
}

// serve is the server's side of all requests.
func (kv *KV) serve(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	m := c.Machine()
	n, key := c.Load64(kv.heads[m]), binary.LittleEndian.Uint64(req[1:])
	i, ok := search(n, key, func(i uint64) uint64 { return binary.LittleEndian.Uint64(c.Peek(kv.at(m, i), keyBytes)) })
	if req[0] == opScan {
		n = min(n-i, binary.LittleEndian.Uint64(req[9:]), uint64(len(rep)/kv.pair))
		return copy(rep, c.Peek(kv.at(m, i), int(n)*kv.pair))
	}
	value, insert := req[9:], req[0] == opInsert
	switch rep[0] = replyYes; {
	case ok == insert:
		rep[0] = replyNo
		return 1
	case insert && n == kv.ranges.Keys(m).Len()+kv.spec.Spare:
		rep[0] = replyFull
		return 1
	}
	switch req[0] {
	case opGet:
		return 1 + copy(rep[1:], c.Peek(kv.at(m, i)+keyBytes, kv.spec.ValueBytes))
	case opUpdate:
		c.Poke(kv.at(m, i)+keyBytes, value)
	case opInsert:
		kv.move(c, i, i+1, n-i)
		c.Poke(kv.at(m, i), req[1:])
		c.Poke(kv.heads[m], c.Word(n+1))
	case opDelete:
		kv.move(c, i+1, i, n-i-1)
		c.Poke(kv.heads[m], c.Word(n-1))
	}
	return 1
}

// move copies n pairs.
func (kv *KV) move(c *r2.Co, from, to, n uint64) {
	m := c.Machine()
	kv.moved[m] = append(kv.moved[m][:0], c.Peek(kv.at(m, from), int(n)*kv.pair)...)
	c.Poke(kv.at(m, to), kv.moved[m])
}

// Warm has nothing to fill: clients keep nothing.
func (kv *KV) Warm() error { return nil }

// Find looks a key up, free of time.
func (kv *KV) Find(key uint64, value []byte) bool {
	m := kv.ranges.Server(key)
	mem := kv.cl.Mem(m)
	look := func(a r2.Addr) uint64 { return binary.LittleEndian.Uint64(mem.Bytes(a, 8)) }
	i, ok := search(look(kv.heads[m]), key, func(i uint64) uint64 { return look(kv.at(m, i)) })
	if ok {
		copy(value, mem.Bytes(kv.at(m, i)+keyBytes, kv.spec.ValueBytes))
	}
	return ok
}

// Audit looks whether keys rise and are where they belong.
func (kv *KV) Audit(bad func(text string)) {
	for m := range kv.spec.Servers {
		mem := kv.cl.Mem(m)
		n, next := binary.LittleEndian.Uint64(mem.Bytes(kv.heads[m], 8)), uint64(0)
		for i := range n {
			key := binary.LittleEndian.Uint64(mem.Bytes(kv.at(m, i), 8))
			if key < next || kv.ranges.Server(key) != m {
				bad(fmt.Sprintf("machine %d has key %d in place %d, behind key %d", m, key, i, next-1))
			}
			next = key + 1
		}
	}
}

// Client is that of a coroutine.
func (kv *KV) Client(c *r2.Co) store.KVClient { return &client{kv, c} }

type client struct {
	kv *KV
	c  *r2.Co
}

// ask sends a request to the server of its key.
func (x *client) ask(op byte, server int, key uint64, more []byte) ([]byte, error) {
	req := binary.LittleEndian.AppendUint64(append(x.c.Request(), op), key)
	rep := x.c.Call(server, x.kv.rpc, append(req, more...))
	err := x.c.Wait()
	return rep.B, err
}

func (x *client) one(op byte, key uint64, more []byte) (bool, error) {
	b, err := x.ask(op, x.kv.ranges.Server(key), key, more)
	if err == nil && b[0] == replyFull {
		err = store.ErrFull
	}
	return err == nil && b[0] == replyYes, err
}

// Get copies the value of a key.
func (x *client) Get(key uint64, value []byte) (bool, error) {
	b, err := x.ask(opGet, x.kv.ranges.Server(key), key, nil)
	if err != nil || b[0] == replyNo {
		return false, err
	}
	copy(value, b[1:])
	return true, nil
}

// Update overwrites the value of a key that is there.
func (x *client) Update(key uint64, value []byte) (bool, error) { return x.one(opUpdate, key, value) }

// Insert adds a key that is not there.
func (x *client) Insert(key uint64, value []byte) (bool, error) { return x.one(opInsert, key, value) }

// Delete takes a key out.
func (x *client) Delete(key uint64) (bool, error) { return x.one(opDelete, key, nil) }

// Scan asks one server after the other, several times where its pairs do not fit into one message.
func (x *client) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	for m := x.kv.ranges.Server(key); m < x.kv.spec.Servers && n > 0; {
		b, err := x.ask(opScan, m, key, binary.LittleEndian.AppendUint64(nil, uint64(n)))
		if err != nil {
			return dst, err
		}
		if len(b) == 0 {
			m++
			continue
		}
		for ; len(b) > 0; b = b[x.kv.pair:] {
			dst = append(dst, store.Pair{Key: binary.LittleEndian.Uint64(b), Value: b[keyBytes:x.kv.pair]})
			n--
		}
		key = dst[len(dst)-1].Key + 1
	}
	return dst, nil
}
