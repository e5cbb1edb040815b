package history

import (
	"container/heap"
	"math/rand/v2"
)

// call is one call of a recorder: Begin when txn is nil, else Add.
type call struct {
	session uint32
	at      int64
	txn     *Txn
}

// shape of a simulated run. Sessions run transactions of reads and
// read-modify-writes that take effect at one point between begin and end.
type shape struct {
	seed     uint64
	txns     int
	sessions int
	keys     int
	reads    int
	writes   int
	flaw     float64 // share of transactions with something wrong
	flaws    []string
}

type event struct {
	at      int64
	session uint32
	what    int // 0 begin, 1 take effect, 2 end
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	if e[i].at != e[j].at {
		return e[i].at < e[j].at
	}
	return e[i].session < e[j].session
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// simulate returns the calls in the order of time.
func simulate(s shape) []call {
	rnd := rand.New(rand.NewPCG(s.seed, 1))
	state := make([]uint64, s.keys)
	before := make([]uint64, s.keys) // the version before the current one
	for i := range state {
		state[i], before[i] = 2, 2
	}
	active := make([]*Txn, s.sessions)
	var queue events
	for i := range active {
		heap.Push(&queue, event{rnd.Int64N(10_000_000), uint32(i), 0})
	}
	var calls []call
	span := func() int64 { return 1 + rnd.Int64N(5_000_000) }
	for id := uint64(0); queue.Len() > 0; {
		e := heap.Pop(&queue).(event)
		switch e.what {
		case 0:
			if id++; id > uint64(s.txns) {
				continue
			}
			calls = append(calls, call{session: e.session, at: e.at})
			active[e.session] = &Txn{ID: id, Session: e.session, Begin: e.at}
			heap.Push(&queue, event{e.at + span(), e.session, 1})
		case 1:
			flaw := ""
			if rnd.Float64() < s.flaw {
				flaw = s.flaws[rnd.IntN(len(s.flaws))]
			}
			takeEffect(rnd, s, active[e.session], state, before, flaw)
			heap.Push(&queue, event{e.at + span(), e.session, 2})
		case 2:
			t := active[e.session]
			t.End = e.at
			calls = append(calls, call{e.session, e.at, t})
			heap.Push(&queue, event{e.at + rnd.Int64N(1_000_000), e.session, 0})
		}
	}
	return calls
}

func takeEffect(rnd *rand.Rand, s shape, t *Txn, state, before []uint64, flaw string) {
	used := map[int]bool{}
	for i := range s.reads + s.writes {
		k := rnd.IntN(s.keys)
		if used[k] {
			continue
		}
		used[k] = true
		key := MakeKey(1, uint64(k))
		old := state[k]
		switch flaw {
		case "stale":
			old, flaw = before[k], ""
		case "unknown":
			old, flaw = old+100, ""
		case "between":
			old, flaw = old-1, ""
		}
		t.Reads = append(t.Reads, Read{key, old})
		sum := 1000*uint64(k) + old
		if flaw == "value" {
			sum, flaw = sum+1, ""
		}
		t.ReadSums = append(t.ReadSums, sum)
		if i < s.reads {
			continue
		}
		old = state[k]
		if flaw == "lost" && before[k] < old {
			old, flaw = before[k], ""
		}
		t.Writes = append(t.Writes, Write{key, old, old + 2})
		t.WriteSums = append(t.WriteSums, 1000*uint64(k)+old+2)
		before[k], state[k] = state[k], old+2
	}
}

// play makes the calls.
func play(r *Recorder, calls []call) {
	for _, c := range calls {
		if c.txn == nil {
			r.Begin(c.session, c.at)
		} else {
			r.Add(c.txn)
		}
	}
}

func transactions(calls []call) []Txn {
	var txns []Txn
	for _, c := range calls {
		if c.txn != nil {
			txns = append(txns, *c.txn)
		}
	}
	return txns
}
