// Package script is a workload of a few transactions that are written down: "r0 w1; r1 w0; r0 r1" is three, the first of
// which reads record 0 and adds one to record 1. Each runs once, all at the same time, on a client of its own; "w1 | r0" are
// two that a client runs one after the other. It is what engine/explore runs through many orders, and what shows a
// counterexample again.
//
// Record k is on server k mod servers. Records below workload.keys exist at the start, with value 0; i inserts another one,
// with value 1, and d deletes one. Steps are done one after the other, without telling the protocol what comes next. A
// read finds a record or its absence, and the transaction goes on either way; so do an insert of what is there, and a
// write or delete of what is not. "f0" reads record 0 and then another one, as many further on as its value says; "a0" announces record 0
// and never awaits it.
//
// A protocol of pieces (txn.Pieces) gets a piece for each step of a transaction that writes. One that inserts or deletes runs whole, on the
// server that has all of its records.
//
// Every word of a record counts the transactions that wrote it. So, beside the history of versions, the workload itself sees a
// torn value and, at rest, a lost update of a record that no transaction inserts or deletes.
package script

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Table is the number of the only table.
const Table = 1

// spare is how many rows of a socket are for records that are inserted.
const spare = 64

// Options are the script and what it is about.
type Options struct {
	Script     string
	Keys       uint64 // records at the start; 0: 8
	ValueBytes int    // of a record, a multiple of 8; 0: 24
	Seed       uint64
}

// Script is the workload.
type Script struct {
	list    []transaction // those of the first client first
	ends    []int         // by client: where its transactions end in list
	opt     Options
	db      *txn.DB
	table   store.Table
	clients []int // machines that have some
	outcome owned.Each[outcome]
}

// outcome is what a machine's clients have done.
type outcome struct {
	counts map[uint64]uint64 // by key: transactions that committed and wrote it
	torn   int               // values with parts of two versions, in transactions that committed
	ended  int               // transactions
}

// New checks the options.
func New(o Options) (*Script, error) {
	clients, err := parse(o.Script)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if o.Keys == 0 {
		o.Keys = 8
	}
	if o.ValueBytes == 0 {
		o.ValueBytes = 24
	}
	if o.ValueBytes < 8 || o.ValueBytes%8 != 0 {
		return nil, fmt.Errorf("script with records of %d bytes: a multiple of 8, at least 8", o.ValueBytes)
	}
	w := &Script{opt: o}
	for _, list := range clients {
		w.list = append(w.list, list...)
		w.ends = append(w.ends, len(w.list))
	}
	return w, nil
}

// Name is the value of the knob workload that chooses it.
func (w *Script) Name() string { return "script" }

// Types are the transactions, those numbered that are like one before.
func (w *Script) Types() (names []string) {
	like := map[string]int{}
	for _, t := range w.list {
		name := t.String()
		if like[name]++; like[name] > 1 {
			name += fmt.Sprintf(" #%d", like[name])
		}
		names = append(names, name)
	}
	return names
}

// DB is the database.
func (w *Script) DB() *txn.DB { return w.db }

// Open creates the table, the records dealt to the servers in turn.
func (w *Script) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	w.clients = env.Clients()
	w.outcome = owned.New(env.Cluster.Machines(), func(int) outcome { return outcome{counts: map[uint64]uint64{}} })
	spec := store.Spec{
		ID: Table, Name: "record", ValueBytes: w.opt.ValueBytes, AlignLong: true,
		Init: func(uint64, []byte) {}, Seed: w.opt.Seed,
	}
	if spec.Fixed = !grows(w.list); !spec.Fixed {
		spec.Spare = spare
	}
	w.table, err = w.db.AddTable(spec, store.Stripes(env.ServerCount(), w.opt.Keys))
	return err
}

// Finished says that every client has run its transactions.
func (w *Script) Finished() bool {
	ended := 0
	for _, x := range w.outcome.All() {
		ended += x.ended
	}
	return ended == len(w.list)
}

// Warm fills the location caches.
func (w *Script) Warm(between workload.Between) error {
	return workload.WarmCaches(w.db, nil, nil, between)
}

// Set changes nothing: no parameter is live.
func (w *Script) Set(name string, _ any) error { return workload.UnknownParameter(w.Name(), name) }

// CanShow are the anomalies that transactions can have which read and write what they like.
func (w *Script) CanShow() []string {
	return []string{history.G0, history.G1a, history.G1c, history.LostUpdate, history.GSingle, history.G2, history.WriteSkew}
}

// Check looks at every record that was written.
func (w *Script) Check() []workload.Invariant {
	torn, counts := 0, map[uint64]uint64{}
	for _, x := range w.outcome.All() {
		torn += x.torn
		for key, n := range x.counts { // order-free: sums
			counts[key] += n
		}
	}
	whole := workload.Invariant{Name: "script.whole", OK: torn == 0, Rule: "no transaction that committed saw parts of two versions of a record"}
	if !whole.OK {
		whole.Text = fmt.Sprintf("%d values were torn", torn)
	}
	inv := workload.Invariant{Name: "script.values", OK: true, Rule: "each word of a record counts the committed transactions that wrote it"}
	value := make([]byte, w.opt.ValueBytes)
	w.db.EachTouched(Table, func(key uint64) {
		if w.comesAndGoes(key) {
			return
		}
		w.db.Value(Table, key, value)
		for v := value; len(v) > 0 && inv.OK; v = v[8:] {
			if n := binary.LittleEndian.Uint64(v); n != counts[key] {
				inv.OK, inv.Text = false, fmt.Sprintf("record %d has the value %d after %d writes", key, n, counts[key])
			}
		}
	})
	return []workload.Invariant{whole, inv}
}

// comesAndGoes says that some transaction inserts or deletes a record.
func (w *Script) comesAndGoes(key uint64) bool {
	for _, t := range w.list {
		for _, o := range t {
			if o.key == key && (o.what == 'i' || o.what == 'd') {
				return true
			}
		}
	}
	return false
}

// runner is one coroutine's client.
type runner struct {
	w      *Script
	client *txn.Client
	next   int // in the script
	end    int // of what the client runs
	torn   bool
	wrote  []uint64 // keys
	steps  transaction
	sets   []txn.Ref // of the steps
	body   func(tx *txn.Tx) error

	outputs [][]byte // of pieces
}

// Runner makes a coroutine's client. Clients are numbered by machine and thread, those of the threads' first coroutines
// before those of the second.
func (w *Script) Runner(c *r2.Co) workload.Runner {
	r := &runner{w: w, client: w.db.Client(c)}
	cl := c.Cluster()
	number, threads := 0, 0
	for _, m := range w.clients {
		if m == c.Machine() {
			number = threads + c.Thread()
		}
		threads += cl.Threads(m)
	}
	number += c.Index() * threads
	if number < len(w.ends) {
		r.end = w.ends[number]
		if number > 0 {
			r.next = w.ends[number-1]
		}
	}
	r.body = r.run
	return r
}

// pause is how long a client sleeps that has nothing to do any more.
const pause r2.Time = 1_000_000_000

// Next runs the client's next transaction, if there is one.
func (r *runner) Next() error {
	if r.next >= r.end {
		r.client.Co().Sleep(pause)
		return nil
	}
	typ := r.next
	r.next++
	r.steps, r.outputs = r.w.list[typ], r.outputs[:0]
	err := r.client.Run(uint8(typ), r.steps.readOnly(), r.body)
	x := r.w.outcome.Of(r.client.Co().Machine())
	if x.ended++; err != nil {
		return workload.Done(err)
	}
	for _, out := range r.outputs {
		r.torn = r.torn || out[0] != 0
	}
	for _, key := range r.wrote {
		x.counts[key]++
	}
	if r.torn {
		x.torn++
	}
	return nil
}

// run is the body of the transaction.
func (r *runner) run(tx *txn.Tx) error {
	r.torn, r.wrote = false, r.wrote[:0]
	switch {
	case tx.ReadOnly() || !tx.Pieced():
		return r.walk(tx)
	case r.steps.inPieces():
		return r.pieces(tx)
	}
	return r.runWhole(tx)
}

// walk does one step after the other.
func (r *runner) walk(tx *txn.Tx) error {
	r.torn, r.wrote = false, r.wrote[:0]
	r.sets = r.steps.sets(r.sets[:0])
	if err := tx.Declare(r.sets...); err != nil {
		return err
	}
	did := false
	for _, o := range r.steps {
		switch err := r.do(tx, o); {
		case errors.Is(err, txn.ErrNotFound), errors.Is(err, txn.ErrExists):
		case err != nil:
			return err
		default:
			did = true
		}
	}
	if !did {
		tx.Empty()
	}
	return nil
}

func (r *runner) do(tx *txn.Tx, o op) error {
	switch o.what {
	case 'a':
		tx.Fetch(Table, o.key)
		return nil
	case 'd':
		return tx.Delete(Table, o.key)
	case 'i':
		v, err := tx.Insert(Table, o.key)
		if err == nil {
			fill(v, 1)
		}
		return err
	}
	v, err := tx.Read(Table, o.key)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(v)
	for k := 8; k < len(v); k += 8 {
		r.torn = r.torn || binary.LittleEndian.Uint64(v[k:]) != n
	}
	switch o.what {
	case 'r':
		return nil
	case 'f':
		if n > MostKeys { // it is torn
			return nil
		}
		return r.do(tx, op{'r', o.key + n})
	}
	out, err := tx.Update(Table, o.key)
	if err != nil {
		return err
	}
	fill(out, n+1)
	for _, key := range r.wrote {
		if key == o.key { // it counts once per transaction
			fill(out, n)
			return nil
		}
	}
	r.wrote = append(r.wrote, o.key)
	return nil
}

func fill(v []byte, n uint64) {
	for ; len(v) > 0; v = v[8:] {
		binary.LittleEndian.PutUint64(v, n)
	}
}
