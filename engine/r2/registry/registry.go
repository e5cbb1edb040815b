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

// Table are the RPCs of a cluster.
type Table[H, P any] struct {
	list [datagram.RPCs]RPC[H, P]
	n    int
}

// Add gives an RPC its id.
func (t *Table[H, P]) Add(name string, serve H) (id uint8) {
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

// Of is the RPC of an id. One that was not added has no name, and nothing that serves it.
func (t *Table[H, P]) Of(id uint8) *RPC[H, P] { return &t.list[id] }
