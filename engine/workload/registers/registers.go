// Package registers is a workload of random read and write sets, made to show what a wrong
// protocol does: a read-write transaction reads some registers and writes others, so that two
// of them can each read what the other writes. That is write skew, which SmallBank, Cycle and
// TPC-C cannot show (see CanShow of each). Single reads are among the types because they alone
// commit without validation: a locked or torn row that the protocol takes by mistake is caught
// there and nowhere else.
//
// Every word of a register counts the transactions that wrote it. So the workload itself sees
// a torn value, a value older than one that was committed before the transaction began, and, at
// rest, a lost update, beside what the history of versions shows.
//
// A register of up to 48 bytes lies in one line or straddles two, as its place has it (see
// record.Packed); a longer one begins on a line.
package registers

import (
	"encoding/binary"
	"fmt"
	"math"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Table is the number of the only table.
const Table = 1

// Anywhere is the Remote of a workload that draws records from all machines alike.
const Anywhere = -1

// Limits of a transaction, so that one message carries its locks and its log entry.
const (
	MostReads  = 64
	MostWrites = 16
	mostEntry  = 4072 // bytes of a log entry in a message
)

// Types of transactions.
const (
	readWrite = iota
	_         // read-only
	readOne
)

// TypeNames are the types, in the order of their numbers, and Weights their default weights.
var (
	TypeNames = []string{"read-write", "read-only", "read-one"}
	Weights   = []int{60, 20, 20}
)

// Options size the workload.
type Options struct {
	Keys       uint64 // registers; 0: 4,000
	ValueBytes int    // of a register, a multiple of 8; 0: 24
	// A read-write transaction reads Reads registers and, beside them, reads and writes Writes;
	// a read-only one reads as many as both together. Both 0: 3 and 2.
	Reads, Writes int
	Theta         float64 // zipf constant of the popularity of registers; 0: all alike
	// Remote is how many of a thousand registers a transaction draws from machines other than
	// its client's. Anywhere: from all machines alike. Clients without data have no own.
	Remote int
	Seed   uint64
}

// Registers is the workload.
type Registers struct {
	*workload.Transactions
	opt     Options
	db      *txn.DB
	servers uint64
	popular workload.Popularity
	fresh   workload.Fresh
	torn    owned.Each[uint64] // values with parts of two versions, in transactions that committed
}

// New checks the options.
func New(o Options) (*Registers, error) {
	if o.Keys == 0 {
		o.Keys = 4000
	}
	if o.ValueBytes == 0 {
		o.ValueBytes = 24
	}
	if o.Reads == 0 && o.Writes == 0 {
		o.Reads, o.Writes = 3, 2
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &Registers{opt: o}
	var err error
	if w.popular, err = workload.NewPopularity(o.Keys, o.Theta); err != nil {
		return nil, err
	}
	var types []workload.Type
	for i, name := range TypeNames {
		types = append(types, workload.Type{Name: name, Weight: Weights[i], ReadOnly: i != readWrite})
	}
	w.Transactions, err = workload.NewTransactions(types)
	return w, err
}

func (o Options) check() error {
	switch n := o.Reads + o.Writes; {
	case o.ValueBytes < 8 || o.ValueBytes%8 != 0:
		return fmt.Errorf("registers of %d bytes: a multiple of 8, at least 8", o.ValueBytes)
	case o.Reads < 0 || o.Reads > MostReads || o.Writes < 0 || o.Writes > MostWrites:
		return fmt.Errorf("registers with %d reads and %d writes in a transaction: up to %d and %d", o.Reads, o.Writes, MostReads, MostWrites)
	case uint64(n) > o.Keys:
		return fmt.Errorf("%d registers, of which a transaction takes %d different ones: at least as many", o.Keys, n)
	case o.Remote < Anywhere || o.Remote > 1000:
		return fmt.Errorf("registers with %d per mille remote: from 0 to 1000, or %d for all machines alike", o.Remote, Anywhere)
	case o.EntryBytes() > mostEntry:
		return fmt.Errorf("%d writes of %d bytes take a log entry of %d, a message carries %d: write fewer, or shorter ones", o.Writes, o.ValueBytes, o.EntryBytes(), mostEntry)
	}
	return nil
}

// EntryBytes is the size of the log entry of a read-write transaction.
func (o Options) EntryBytes() int {
	return record.EntryBytes(o.Writes * record.UpdateBytes(o.ValueBytes))
}

// MostWritesOf is how many registers of so many bytes a transaction can write.
func MostWritesOf(valueBytes int) int {
	n := MostWrites
	for n > 0 && (Options{ValueBytes: valueBytes, Writes: n}).EntryBytes() > mostEntry {
		n--
	}
	return n
}

// Name is the value of the knob workload that chooses it.
func (w *Registers) Name() string { return "registers" }

// DB is the database.
func (w *Registers) DB() *txn.DB { return w.db }

// Open creates the table, the registers dealt to the servers in turn.
func (w *Registers) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	w.servers = uint64(env.ServerCount())
	w.fresh.Open(env.Cluster.Machines(), "register", w.opt.Keys)
	w.torn = owned.New[uint64](env.Cluster.Machines(), nil)
	_, err = w.db.AddTable(store.Spec{
		ID: Table, Name: "register", ValueBytes: w.opt.ValueBytes, AlignLong: true,
		Init: func(uint64, []byte) {}, Fixed: true, Seed: w.opt.Seed,
	}, store.Stripes(env.ServerCount(), w.opt.Keys))
	return err
}

// Warm fills the location caches.
func (w *Registers) Warm(between workload.Between) error {
	return workload.WarmCaches(w.db, nil, nil, between)
}

// CanShow are the anomalies that the transactions can have: with reads beside the writes all but
// G1b, for a transaction puts one version of a record in place.
func (w *Registers) CanShow() []string {
	reads, writes := w.opt.Reads > 0, w.opt.Writes
	can := []string{}
	for _, x := range []struct {
		kind string
		ok   bool
	}{
		{history.G0, writes > 1}, // two that write the same two registers
		{history.G1a, writes > 0},
		{history.G1c, writes > 0 && reads},
		{history.LostUpdate, writes > 0},
		{history.GSingle, writes > 1 || writes > 0 && reads}, // a read-only one takes two registers
		{history.G2, writes > 1 || writes > 0 && reads},      // two read-only ones see two writers in either order
		{history.WriteSkew, writes > 0 && reads},
	} {
		if x.ok {
			can = append(can, x.kind)
		}
	}
	return can
}

// Set changes theta, the share of remote registers or a weight of the mix.
func (w *Registers) Set(name string, value any) error {
	if handled, err := w.SetMix(name, value); handled {
		return err
	}
	switch name {
	case "theta":
		return w.popular.Set(value)
	case "remote.register":
		n, ok := value.(int)
		if !ok || n < Anywhere || n > 1000 {
			return fmt.Errorf("workload.remote.register %v: per mille from 0 to 1000, or %d for all machines alike", value, Anywhere)
		}
		w.opt.Remote = n
		return nil
	}
	return workload.UnknownParameter(w.Name(), name)
}

// draw draws a register for a client on a machine.
func (w *Registers) draw(r *r2.Rand, machine uint64) uint64 {
	key := w.popular.Draw(r)
	if w.opt.Remote == Anywhere || machine >= w.servers || w.servers == 1 {
		return key
	}
	to := machine
	if int(r.Uint64n(1000)) < w.opt.Remote {
		to = (machine + 1 + r.Uint64n(w.servers-1)) % w.servers
	}
	return w.popular.Beside(key, w.servers, to)
}

// Check looks at what committed transactions saw, and at rest at every register that was
// written. Transactions that a user added may write anything: with them nothing is judged.
func (w *Registers) Check() []workload.Invariant {
	w.Merge(math.MaxInt64)
	list := w.CheckOnline()
	if list == nil {
		return nil
	}
	inv := workload.Invariant{Name: "registers.values", OK: true, Rule: "each word of a register counts the committed transactions that wrote it"}
	value := make([]byte, w.opt.ValueBytes)
	w.db.EachTouched(Table, func(key uint64) {
		w.db.Value(Table, key, value)
		for v := value; len(v) > 0 && inv.OK; v = v[8:] {
			if n := binary.LittleEndian.Uint64(v); n != w.fresh.Writes(key) {
				inv.OK, inv.Text = false, fmt.Sprintf("register %d has the value %d after %d writes", key, n, w.fresh.Writes(key))
			}
		}
	})
	return append(list, inv)
}

// Merge judges what machines have written down.
func (w *Registers) Merge(before r2.Time) { w.fresh.Look(before) }

// CheckOnline has what committed transactions saw by now.
func (w *Registers) CheckOnline() []workload.Invariant {
	if w.Added() {
		return nil
	}
	torn, stale := owned.Sum(&w.torn), w.fresh.Stale()
	whole := workload.Invariant{Name: "registers.whole", OK: torn == 0, Rule: "no transaction that committed saw parts of two versions of a register"}
	if !whole.OK {
		whole.Text = fmt.Sprintf("%d committed transactions saw a torn value", torn)
	}
	fresh := workload.Invariant{Name: "registers.fresh", OK: stale == "", Rule: "no transaction that committed saw a value that was overwritten before it began", Text: stale}
	return []workload.Invariant{whole, fresh}
}
