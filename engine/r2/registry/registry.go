package registry

import (
	"fmt"

	"drtmx/engine/r2/datagram"
)

// RPC is one of them, for handlers of type H and requesters of type P.
type RPC[H, P any] struct {
	Name    string // for people
	Serve   H
	AtOnce  bool // Serve never waits for its core's local time
	Defers  bool // Serve may keep a request and have it answered later
	Waits   H    // what serves a request that Serve has kept, on a coroutine that may wait
	Receipt func(m, thread, to int, req []byte)
	Ask     func(machine int, from P, req []byte) // asks the host for what Serve will touch
}

// Table are the RPCs of a cluster, which embeds it.
type Table[H, P any] struct {
	list [datagram.RPCs]RPC[H, P]
	n    int
}

// Handle installs the handler of an RPC and gives it an id, which requests carry. The name is for people: part.what.
func (t *Table[H, P]) Handle(name string, serve H) (id uint8) {
	for i := range t.list[:t.n] {
		if t.list[i].Name == name {
			panic("r2: rpc " + name + " twice")
		}
	}
	if t.n == len(t.list) {
		panic(fmt.Sprintf("r2: no id left for rpc %s: there are %d", name, t.n))
	}
	id = uint8(t.n)
	t.list[id] = RPC[H, P]{Name: name, Serve: serve}
	t.n++
	return id
}

// HandleAtOnce is Handle of one that never waits for its core's local time, so that it Peeks and Pokes: it runs on the worker's own
// stack, without the switch to a coroutine. Should it wait all the same, it panics.
func (t *Table[H, P]) HandleAtOnce(name string, serve H) (id uint8) {
	id = t.Handle(name, serve)
	t.list[id].AtOnce = true
	return id
}

// RPCName is the name of an RPC.
func (t *Table[H, P]) RPCName(id uint8) string { return t.list[id].Name }

// OnReceipt has f called when the receipt of a passive request of that id is in: machine to has served it. m and thread are the
// requester, req is what it sent. f is bookkeeping: it may not post, park or charge.
func (t *Table[H, P]) OnReceipt(id uint8, f func(m, thread, to int, req []byte)) {
	t.list[id].Receipt = f
}

// AheadOf has ask called a little before the handler of an RPC serves a request on a machine, for asking the host for the memory that it
// will touch; it must have no effect on the simulation. The request may be an old one, and its sender's thread a guess.
func (t *Table[H, P]) AheadOf(id uint8, ask func(machine int, from P, req []byte)) {
	t.list[id].Ask = ask
}

// Of is the RPC of an id. One without a handler has no name.
func Of[H, P any](t *Table[H, P], id uint8) *RPC[H, P] { return &t.list[id] }
