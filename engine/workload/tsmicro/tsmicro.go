package tsmicro

import (
	"encoding/binary"
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/tpcc"
)

// Table is the number of the only table.
const Table = 1

// MostTuples is how many records a transaction takes at most.
const MostTuples = 64

// Load is what the transactions do.
type Load uint8

const (
	Spin Load = iota
	Read
	Block
	Update
	numLoads
)

var loadNames = [numLoads]string{"ts-spin", "ts-read", "ts-block", "ts-update"}

// Options size the workload.
type Options struct {
	Load       Load
	SpinNS     int    // of a spinning transaction
	Tuples     int    // records of a transaction; 10
	ValueBytes int    // of a record, a multiple of 8; 8
	Keys       uint64 // records, or, of Block, none: it has as many as its clients need; 100,000
	Local      int    // percent of the records that are on the client's machine
	ReadShare  int    // percent of the records that an update only reads
	Coroutines int    // most that run per thread, which Block has records for
	Seed       uint64
}

// Bench is the workload.
type Bench struct {
	*workload.Transactions
	opt     Options
	db      *txn.DB
	servers uint64
	threads []uint64       // by machine: those of clients on the machines before it
	behind  int            // the machine behind the last that runs clients
	writes  workload.Tally // by key: committed transactions that wrote it
}

// New checks the options.
func New(o Options) (*Bench, error) {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.Tuples, 10)
	set(&o.ValueBytes, 8)
	set(&o.Coroutines, 1)
	if o.Keys == 0 {
		o.Keys = 100_000
	}
	switch {
	case o.Load >= numLoads:
		return nil, fmt.Errorf("load %d of timestamps: there are %d", o.Load, numLoads)
	case o.Tuples < 1 || o.Tuples > MostTuples || (o.Load == Read || o.Load == Update) && uint64(o.Tuples) > o.Keys:
		return nil, fmt.Errorf("%s with %d records in a transaction, of %d: from 1 to %d", loadNames[o.Load], o.Tuples, o.Keys, MostTuples)
	case o.ValueBytes < 8 || o.ValueBytes%8 != 0:
		return nil, fmt.Errorf("%s with records of %d bytes: a multiple of 8, at least 8", loadNames[o.Load], o.ValueBytes)
	case o.SpinNS < 0 || o.Local < 0 || o.Local > 100 || o.ReadShare < 0 || o.ReadShare > 100:
		return nil, fmt.Errorf("%s spins for %d ns, has %d %% local and %d %% only read: not negative, and shares up to 100", loadNames[o.Load], o.SpinNS, o.Local, o.ReadShare)
	}
	t, err := workload.NewTransactions(typesOf(o.Load))
	return &Bench{Transactions: t, opt: o}, err
}

// typesOf are the transaction types of a load. Of Block's, a thread runs one of two, reads or writes.
func typesOf(l Load) []workload.Type {
	switch l {
	case Read:
		return []workload.Type{{Name: "read", Weight: 1, ReadOnly: true}}
	case Block:
		return []workload.Type{{Name: "read", Weight: 1, ReadOnly: true}, {Name: "write", Weight: 1}}
	case Update:
		return []workload.Type{{Name: "update", Weight: 1}}
	}
	return []workload.Type{{Name: "spin", Weight: 1}}
}

// Name is the value of the knob workload that chooses it.
func (w *Bench) Name() string { return loadNames[w.opt.Load] }

// DB is the database.
func (w *Bench) DB() *txn.DB { return w.db }

// Open creates the table, the records dealt to the servers in turn.
func (w *Bench) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(tpcc.Costs); err != nil {
		return err
	}
	w.servers = uint64(env.ServerCount())
	clients, threads := env.Clients(), uint64(0)
	w.behind = clients[len(clients)-1] + 1
	for m := range env.Cluster.Machines() {
		if w.threads = append(w.threads, threads); slices.Contains(clients, m) {
			threads += uint64(env.Cluster.Threads(m))
		}
	}
	if w.opt.Load == Block {
		w.opt.Keys = blockKeys(threads, w.servers, w.opt.Coroutines*w.opt.Tuples)
	}
	w.writes.Open(env.Cluster.Machines(), w.opt.Keys)
	_, err = w.db.AddTable(store.Spec{
		ID: Table, Name: "tuple", ValueBytes: w.opt.ValueBytes, Init: func(uint64, []byte) {}, Fixed: true, Seed: w.opt.Seed,
	}, store.Stripes(env.ServerCount(), w.opt.Keys))
	return err
}

// blockKeys are the records of Block: each pair of threads has a number of them for each server, of which it takes one.
func blockKeys(threads, servers uint64, perPair int) uint64 {
	return (threads + 1) / 2 * uint64(perPair) * servers
}

// Warm fills the location caches.
func (w *Bench) Warm(between workload.Between) error {
	return workload.WarmCaches(w.db, nil, nil, between)
}

// Set changes a share, or the time to spin.
func (w *Bench) Set(name string, value any) error {
	if handled, err := w.SetMix(name, value); handled {
		return err
	}
	n, ok := value.(int)
	if !ok {
		return workload.UnknownParameter(w.Name(), name)
	}
	switch name {
	case "spin_ns":
		w.opt.SpinNS = n
	case "local":
		w.opt.Local = n
	case "read_share":
		w.opt.ReadShare = n
	default:
		return workload.UnknownParameter(w.Name(), name)
	}
	return nil
}

// Merge adds up what machines have counted.
func (w *Bench) Merge(r2.Time) { w.writes.Sum() }

// Check looks at every record that was written. With transactions of a user's nothing is judged.
func (w *Bench) Check() []workload.Invariant {
	if w.Added() || w.opt.Load == Spin || w.opt.Load == Read {
		return nil
	}
	w.writes.Sum()
	inv := workload.Invariant{Name: "tuples.values", OK: true, Rule: "each word of a record counts the committed transactions that wrote it"}
	value := make([]byte, w.opt.ValueBytes)
	w.db.EachTouched(Table, func(key uint64) {
		w.db.Value(Table, key, value)
		for v := value; len(v) > 0 && inv.OK; v = v[8:] {
			if n := binary.LittleEndian.Uint64(v); n != w.writes.Of(key) {
				inv.OK, inv.Text = false, fmt.Sprintf("record %d has the value %d after %d writes", key, n, w.writes.Of(key))
			}
		}
	})
	return []workload.Invariant{inv}
}

// draw picks a record for a client on a machine: one of its own, or of another one.
func (w *Bench) draw(r *r2.Rand, machine uint64) uint64 {
	key := r.Uint64n(w.opt.Keys)
	if machine >= w.servers || w.servers == 1 {
		return key
	}
	home := machine
	if int(r.Uint64n(100)) >= w.opt.Local {
		home = (machine + 1 + r.Uint64n(w.servers-1)) % w.servers
	}
	if key = key/w.servers*w.servers + home; key >= w.opt.Keys {
		key -= w.servers
	}
	return key
}
