package ycsb

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

// MostOps bounds the operations of a transaction, so that one message carries its locks.
const MostOps = 32

const (
	mostEntry = 4072 // bytes of a log entry in a message
	keyBytes  = 8    // at the end of a row, where an update does not write
)

// Types of transactions.
const (
	readWrite = iota
	readOnly
)

// TypeNames are the types, in the order of their numbers.
var TypeNames = []string{"read-write", "read-only"}

// Options size the workload.
type Options struct {
	Keys        uint64  // records; 0: 100,000
	ValueBytes  int     // of a record, at least 8; 0: 1,024
	FieldBytes  int     // of the field that an update writes, at least 8 and at most the record; 0: 100, or the record if that is shorter
	Ops         int     // operations of a transaction, each on another record; 0: 10
	WriteShare  float64 // of the operations, from 0 to 1
	Theta       float64 // zipf constant of the popularity of records; 0: all alike
	Nodes       int     // machines that a distributed transaction goes to; 0: its records come from all machines alike
	Distributed float64 // share of transactions that go to Nodes machines, the others go to one
	Seed        uint64
}

// YCSB is the workload.
type YCSB struct {
	*workload.Transactions
	opt     Options
	db      *txn.DB
	servers uint64
	popular workload.Popularity

	writeBound, distributedBound uint64 // the shares, in millionths
	reads, writes                bool   // operations that there have been reads and updates among

	fresh workload.Fresh
	saw   owned.Each[seen]
}

// seen is what transactions of a machine's clients saw that committed.
type seen struct {
	torn  uint64 // fields with parts of two versions
	wrong uint64 // rows of another key
}

// New checks the options.
func New(o Options) (*YCSB, error) {
	if o.Keys == 0 {
		o.Keys = 100_000
	}
	if o.ValueBytes == 0 {
		o.ValueBytes = 1024
	}
	if o.FieldBytes == 0 {
		o.FieldBytes = min(100, o.ValueBytes)
	}
	if o.Ops == 0 {
		o.Ops = 10
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &YCSB{opt: o}
	w.setWriteShare(o.WriteShare)
	w.distributedBound = workload.ShareUnits(o.Distributed)
	var err error
	if w.popular, err = workload.NewPopularity(o.Keys, o.Theta); err != nil {
		return nil, err
	}
	// A transaction is of the type that its operations make it.
	w.Transactions, err = workload.NewTransactions([]workload.Type{{Name: TypeNames[readWrite], Weight: 100}, {Name: TypeNames[readOnly], ReadOnly: true}})
	return w, err
}

func (o Options) check() error {
	switch {
	case o.ValueBytes < 8:
		return fmt.Errorf("ycsb with records of %d bytes: at least 8", o.ValueBytes)
	case o.FieldBytes < 8 || o.FieldBytes > o.ValueBytes:
		return fmt.Errorf("ycsb with fields of %d bytes in records of %d: from 8 to the record's", o.FieldBytes, o.ValueBytes)
	case o.Ops < 1 || o.Ops > MostOps:
		return fmt.Errorf("ycsb with %d operations in a transaction: from 1 to %d", o.Ops, MostOps)
	case uint64(o.Ops) > o.Keys:
		return fmt.Errorf("ycsb with %d records, of which a transaction takes %d different ones: at least as many", o.Keys, o.Ops)
	case !isShare(o.WriteShare) || !isShare(o.Distributed):
		return fmt.Errorf("ycsb with a write share of %g and %g of the transactions distributed: both from 0 to 1", o.WriteShare, o.Distributed)
	case o.Nodes < 0 || o.Nodes > o.Ops:
		return fmt.Errorf("ycsb with %d machines per transaction of %d operations: from 0 to as many", o.Nodes, o.Ops)
	case o.Ops > MostOpsOf(o.FieldBytes):
		return fmt.Errorf("ycsb with %d updates of %d bytes: a message carries a log entry of %d of them", o.Ops, o.FieldBytes, MostOpsOf(o.FieldBytes))
	}
	return nil
}

func isShare(x float64) bool { return x >= 0 && x <= 1 }

// MostOpsOf is how many operations a transaction can have if each may update a field of so many bytes.
func MostOpsOf(fieldBytes int) int {
	n := MostOps
	for n > 0 && record.EntryBytes(n*record.UpdateBytes(fieldBytes)) > mostEntry {
		n--
	}
	return n
}

// Name is the value of the knob workload that chooses it.
func (w *YCSB) Name() string { return "ycsb" }

// DB is the database.
func (w *YCSB) DB() *txn.DB { return w.db }

// Open creates the table, the records dealt to the servers in turn.
func (w *YCSB) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	w.fresh.Open(env.Cluster.Machines(), "record", w.opt.Keys)
	w.saw = owned.New[seen](env.Cluster.Machines(), nil)
	if w.servers = uint64(env.ServerCount()); w.opt.Nodes > 0 {
		switch {
		case uint64(w.opt.Nodes) > w.servers:
			return fmt.Errorf("ycsb with %d machines per transaction: %d hold data", w.opt.Nodes, w.servers)
		case w.opt.Keys/w.servers < uint64(w.opt.Ops):
			return fmt.Errorf("ycsb with %d records on %d machines, of one of which a transaction takes %d: at least %d", w.opt.Keys, w.servers, w.opt.Ops, w.servers*uint64(w.opt.Ops))
		}
	}
	spec := store.Spec{
		ID: Table, Name: "usertable", ValueBytes: w.opt.ValueBytes, Mutable: w.opt.FieldBytes,
		AlignLong: true, Init: func(uint64, []byte) {}, Fixed: true, Seed: w.opt.Seed,
	}
	if w.hasKey() {
		spec.Init = func(key uint64, value []byte) { binary.LittleEndian.PutUint64(value[w.opt.ValueBytes-keyBytes:], key) }
	}
	_, err = w.db.AddTable(spec, store.Stripes(env.ServerCount(), w.opt.Keys))
	return err
}

// hasKey says that a row has room for its key beside the field.
func (w *YCSB) hasKey() bool { return w.opt.ValueBytes >= w.opt.FieldBytes+keyBytes }

// Warm fills the location caches, and brings the most popular records into the last-level caches.
func (w *YCSB) Warm(between workload.Between) error {
	if !w.popular.Skewed() {
		return workload.WarmCaches(w.db, nil, nil, between)
	}
	caches, memory := between.Halves()
	err := workload.WarmCaches(w.db, nil, func(r *r2.Rand) (uint8, uint64) { return Table, w.popular.Draw(r) }, caches)
	if err != nil {
		return err
	}
	return workload.WarmMemory(w.db, w.opt.Keys, func(i uint64) (uint8, uint64) { return Table, w.popular.At(i) }, memory)
}

// CanShow are the anomalies that the transactions can have: with reads beside the updates all but G1b,
// for a transaction puts one version of a record in place. Where every operation is an update, what is more than G0
// comes with a lost update.
func (w *YCSB) CanShow() []string {
	several := w.writes && w.opt.Ops > 1
	can := []string{}
	for _, x := range []struct {
		kind string
		ok   bool
	}{
		{history.G0, several}, // two that write the same two records
		{history.G1a, w.writes},
		{history.G1c, several && w.reads},
		{history.LostUpdate, w.writes},
		{history.GSingle, several && w.reads},
		{history.G2, several && w.reads},
		{history.WriteSkew, several && w.reads},
	} {
		if x.ok {
			can = append(can, x.kind)
		}
	}
	return can
}

// Set changes theta, a share, the number of machines or a weight of the mix.
func (w *YCSB) Set(name string, value any) error {
	if handled, err := w.SetMix(name, value); handled {
		return err
	}
	switch name {
	case "theta":
		return w.popular.Set(value)
	case "write_share", "distributed":
		x, ok := value.(float64)
		if !ok || !isShare(x) {
			return fmt.Errorf("workload.%s %v: a share from 0 to 1", name, value)
		}
		if name == "distributed" {
			w.distributedBound = workload.ShareUnits(x)
		} else {
			w.setWriteShare(x)
		}
		return nil
	case "nodes_per_txn":
		n, ok := value.(int)
		if most := min(uint64(w.opt.Ops), w.servers); !ok || n < 0 || uint64(n) > most {
			return fmt.Errorf("workload.nodes_per_txn %v: from 1 to %d machines, or 0 for records from all alike", value, most)
		}
		if n > 0 && w.opt.Keys/w.servers < uint64(w.opt.Ops) {
			return fmt.Errorf("workload.nodes_per_txn %d: a machine has %d records, a transaction takes %d", n, w.opt.Keys/w.servers, w.opt.Ops)
		}
		w.opt.Nodes = n
		return nil
	}
	return workload.UnknownParameter(w.Name(), name)
}

func (w *YCSB) setWriteShare(x float64) {
	w.writeBound = workload.ShareUnits(x)
	w.writes = w.writes || w.writeBound > 0
	w.reads = w.reads || w.writeBound < workload.ShareUnit
}

// Check looks at what committed transactions saw, and at rest at every record that was
// written. Transactions that a user added may write anything: with them nothing is judged.
func (w *YCSB) Check() []workload.Invariant {
	w.Merge(math.MaxInt64)
	list := w.CheckOnline()
	if list == nil {
		return nil
	}
	inv := workload.Invariant{Name: "ycsb.values", OK: true, Rule: "the field of a record counts the committed transactions that wrote it"}
	value := make([]byte, w.opt.ValueBytes)
	w.db.EachTouched(Table, func(key uint64) {
		w.db.Value(Table, key, value)
		if n, torn := w.count(value); inv.OK && (n != w.fresh.Writes(key) || torn) {
			inv.OK, inv.Text = false, fmt.Sprintf("record %d has the value %d after %d updates, torn: %t", key, n, w.fresh.Writes(key), torn)
		}
		if inv.OK && !w.isOf(value, key) {
			inv.OK, inv.Text = false, fmt.Sprintf("record %d has the row of another", key)
		}
	})
	return append(list, inv)
}

// Merge judges what machines have written down.
func (w *YCSB) Merge(before r2.Time) { w.fresh.Look(before) }

// CheckOnline has what committed transactions saw by now.
func (w *YCSB) CheckOnline() []workload.Invariant {
	if w.Added() {
		return nil
	}
	var all seen
	for _, x := range w.saw.All() {
		all.torn, all.wrong = all.torn+x.torn, all.wrong+x.wrong
	}
	stale := w.fresh.Stale()
	whole := workload.Invariant{Name: "ycsb.whole", OK: all.torn == 0, Rule: "no transaction that committed saw parts of two versions of a record"}
	if !whole.OK {
		whole.Text = fmt.Sprintf("%d committed transactions saw a torn field", all.torn)
	}
	rows := workload.Invariant{Name: "ycsb.rows", OK: all.wrong == 0, Rule: "no transaction that committed saw the row of another key"}
	if !rows.OK {
		rows.Text = fmt.Sprintf("%d committed transactions did", all.wrong)
	}
	fresh := workload.Invariant{Name: "ycsb.fresh", OK: stale == "", Rule: "no transaction that committed saw a value that was overwritten before it began", Text: stale}
	return []workload.Invariant{whole, rows, fresh}
}

// count is what the field of a value says, and whether its words disagree.
func (w *YCSB) count(value []byte) (n uint64, torn bool) {
	field := value[:w.opt.FieldBytes]
	n = binary.LittleEndian.Uint64(field)
	for len(field) >= 8 {
		torn = torn || binary.LittleEndian.Uint64(field) != n
		field = field[8:]
	}
	for i, b := range field {
		torn = torn || b != byte(n>>(8*i))
	}
	return n, torn
}

// putCount fills a field with a count.
func putCount(field []byte, n uint64) {
	for len(field) >= 8 {
		binary.LittleEndian.PutUint64(field, n)
		field = field[8:]
	}
	for i := range field {
		field[i] = byte(n >> (8 * i))
	}
}

// isOf says that the row is the key's, as far as a row tells.
func (w *YCSB) isOf(value []byte, key uint64) bool {
	return !w.hasKey() || binary.LittleEndian.Uint64(value[w.opt.ValueBytes-keyBytes:]) == key
}
