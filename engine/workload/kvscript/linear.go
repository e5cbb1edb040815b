package kvscript

import (
	"fmt"
	"strings"

	"drtmx/engine/r2"
)

// state is that of a key: absent, or the number of the write whose value it has.
type state uint16

const (
	absent  state = 0
	initial state = 1 // writes of the script follow
)

// operation is a request, as far as it is about one key, and its answer.
type operation struct {
	kind       kind
	value      state // of a GET: what it saw; else what it writes
	done       bool  // the key was there; of an INSERT: it was not
	client     int
	begin, end r2.Time
}

// step is what an operation makes of a key. ok is false if its answer cannot be that.
func (o *operation) step(s state) (next state, ok bool) {
	switch o.kind {
	case get:
		return s, o.value == s
	case update:
		if s == absent {
			return s, !o.done
		}
		return o.value, o.done
	case insert:
		if s != absent {
			return s, !o.done
		}
		return o.value, o.done
	}
	return absent, o.done == (s != absent)
}

func (o *operation) String() string {
	answer := "was refused"
	switch {
	case o.kind == get && o.value == absent:
		answer = "did not find it"
	case o.kind == get:
		answer = "saw " + o.value.String()
	case o.done && o.kind == remove:
		answer = "took it out"
	case o.done:
		answer = "wrote " + o.value.String()
	}
	if o.client == noClient {
		return "the store's contents at rest: " + answer
	}
	return fmt.Sprintf("%s of client %d from %.3f to %.3f µs %s", strings.ToUpper(kindNames[o.kind]), o.client, us(o.begin), us(o.end), answer)
}

// noClient stands for the client where the contents are checked at the end.
const noClient = -1

func (s state) String() string {
	if s == initial {
		return "the initial value"
	}
	return fmt.Sprintf("value %d", s-initial)
}

func us(t r2.Time) float64 { return float64(t) / 1e6 }

// order searches for an order of operations on one key which has them one after the other, each between its begin and its
// end. There are at most 64.
type order struct {
	ops  []operation
	seen map[searchState]bool
}

// searchState is what is left to order, and what the key is by then. Of two ways to get there the second leads nowhere else.
type searchState struct {
	done  uint64
	state state
}

// ordered says whether there is one.
func ordered(ops []operation, start state) bool {
	x := order{ops: ops, seen: map[searchState]bool{}}
	return x.from(searchState{state: start})
}

func (x *order) from(p searchState) bool {
	if p.done == 1<<len(x.ops)-1 {
		return true
	}
	if x.seen[p] {
		return false
	}
	x.seen[p] = true
	first := r2.Time(1<<63 - 1) // one that begins behind the end of another comes behind it
	for i := range x.ops {
		if p.done&(1<<i) == 0 {
			first = min(first, x.ops[i].end)
		}
	}
	for i := range x.ops {
		o := &x.ops[i]
		if p.done&(1<<i) != 0 || o.begin > first {
			continue
		}
		if next, ok := o.step(p.state); ok && x.from(searchState{p.done | 1<<i, next}) {
			return true
		}
	}
	return false
}
