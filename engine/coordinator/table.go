package coordinator

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/wire"
)

// State is what the word of a transaction says of it.
type State uint8

const (
	Running State = iota
	Committed
	Aborted // by others, or by itself
)

var stateNames = [...]string{"running", "committed", "aborted"}

func (s State) String() string { return stateNames[s] }

// TxnID names a transaction for others: the coroutine that runs it, and how many it has run before. Numbers are never used again, so a
// word that has another one tells that the transaction is over.
type TxnID struct {
	Owner  record.Owner
	Number uint64
}

// stateBits are the lowest of a word, below its number.
const stateBits = 2

func (x TxnID) word(s State) uint64 { return x.Number<<stateBits | uint64(s) }

// Table has a word for each coroutine that runs transactions, in registered memory of its machine. Its index is the coroutine's name, so a
// transaction that has met another one knows where its word is. All change words by CAS: by the RNIC's if the table is for verbs, the owner
// over loopback, or else by the CPU of the owner's machine, which others ask by RPC. The two are not atomic with each other (§4.3.2).
type Table struct {
	cl    *r2.Cluster
	verbs bool
	words []r2.Loc // by machine
	kill  uint8
}

// wordsPerThread are as many as a lock word can name.
const wordsPerThread = record.MaxCoroutines

// OpenTable makes the words of all machines, and if they are not for verbs the handler that changes them.
func OpenTable(cl *r2.Cluster, name string, verbs bool) (*Table, error) {
	t := &Table{cl: cl, verbs: verbs}
	for m := range cl.Machines() {
		mem, bytes := cl.Mem(m), uint64(8*wordsPerThread*max(1, cl.Threads(m)))
		a, err := mem.Alloc(host.Alloc{Name: name, Bytes: bytes, Tracked: true})
		if err != nil {
			return nil, fmt.Errorf("states of transactions of machine %d: %w", m, err)
		}
		mr := mem.Register(a, bytes, host.RemoteRead|host.RemoteAtomic)
		t.words = append(t.words, r2.Loc{Machine: m, RKey: mr.RKey, Addr: mr.Addr})
	}
	if !verbs {
		t.kill = cl.Handle(name+".kill", t.serveKill)
	}
	return t, nil
}

// at is the word of a coroutine's transactions.
func (t *Table) at(o record.Owner) r2.Loc {
	l := t.words[o.Machine]
	l.Addr += r2.Addr(8 * (int(o.Thread)*wordsPerThread + int(o.Coroutine)))
	return l
}

// Begin makes a coroutine's next transaction known. The word is that of one that is over, so no other transaction changes it meanwhile.
func (t *Table) Begin(c *r2.Co) TxnID {
	x := TxnID{Owner: record.OwnerOf(c.Machine(), c.Thread(), c.Index())}
	at := t.at(x.Owner).Addr
	x.Number = c.Load64(at)>>stateBits + 1
	c.Store64(at, x.word(Running))
	return x
}

// Killed says that another one has aborted a transaction of the coroutine. It is one look at the own memory.
func (t *Table) Killed(c *r2.Co, x TxnID) bool {
	return c.Load64(t.at(x.Owner).Addr) != x.word(Running)
}

// End ends a transaction of the coroutine: what it returns is how. One that is to commit does unless it was aborted before.
func (t *Table) End(c *r2.Co, x TxnID, as State) (State, error) { return t.change(c, x, as) }

// Kill aborts a transaction that runs. It returns what became of it: Committed, if it is too late.
func (t *Table) Kill(c *r2.Co, x TxnID) (State, error) { return t.change(c, x, Aborted) }

// change moves a word from Running, and returns what it says then. A word of another number is of a transaction that is over: that one
// counts as aborted, for what it has committed is in place by now.
func (t *Table) change(c *r2.Co, x TxnID, to State) (State, error) {
	at, found := t.at(x.Owner), uint64(0)
	switch {
	case t.verbs:
		b := c.CAS(at, x.word(Running), x.word(to))
		if err := c.Wait(); err != nil {
			return Running, err
		}
		c.TouchDMA(b.Addr, len(b.B))
		found = wire.Get64(b.B)
	case at.Machine == c.Machine():
		found = c.LocalCAS(at.Addr, x.word(Running), x.word(to))
	default:
		rep := c.Call(at.Machine, t.kill, wire.Add64(wire.Add64(c.Request(), uint64(at.Addr)), x.word(Running)))
		if err := c.Wait(); err != nil {
			return Running, err
		}
		found = wire.Get64(rep.B)
	}
	return x.became(found, to), nil
}

// became is the state after a CAS to one, which has found a word.
func (x TxnID) became(found uint64, to State) State {
	switch {
	case found == x.word(Running):
		return to
	case found>>stateBits == x.Number:
		return State(found & (1<<stateBits - 1))
	}
	return Aborted
}

// Look reads the state of a transaction.
func (t *Table) Look(c *r2.Co, x TxnID) (State, error) {
	at := t.at(x.Owner)
	if at.Machine == c.Machine() {
		return x.became(c.Load64(at.Addr), Running), nil
	}
	b := c.Read(at, 8)
	if err := c.Wait(); err != nil {
		return Running, err
	}
	c.TouchDMA(b.Addr, 8)
	return x.became(wire.Get64(b.B), Running), nil
}

// serveKill aborts a transaction of the machine.
func (t *Table) serveKill(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	running := wire.Get64(req[8:])
	wire.Put64(rep, c.LocalCAS(r2.Addr(wire.Get64(req)), running, running|uint64(Aborted)))
	return 8
}
