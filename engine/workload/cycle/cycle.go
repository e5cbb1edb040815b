// Package cycle is FoundationDB's Cycle workload, a small test of
// serialisability: keys form a ring, each transaction rotates three of its
// links, and at the end there is still one ring through all keys.
//
// The value of a key is the key that follows it. A transaction reads r, its
// successor r2, that one's successor r3 and r4 after it, and relinks them to r,
// r3, r2, r4. Any serial order keeps one ring; a lost update, a write skew or a
// torn read soon makes two, or a tail. All keys are equally likely, so few keys
// mean high contention.
package cycle

import (
	"encoding/binary"
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

// Options size the ring. Zero values mean their defaults.
type Options struct {
	Keys       uint64 // in the ring; 64
	ValueBytes int    // of a record, at least 8; the rest repeats the successor, so that torn values show
	Costs      txn.Costs
	Seed       uint64
}

// Ring is the workload.
type Ring struct {
	*workload.Transactions
	opt  Options
	db   *txn.DB
	torn owned.Each[uint64] // values whose parts did not agree in a transaction that committed
}

// New checks the options.
func New(o Options) (*Ring, error) {
	if o.Keys == 0 {
		o.Keys = 64
	}
	if o.ValueBytes == 0 {
		o.ValueBytes = 8
	}
	if o.Keys < 4 {
		return nil, fmt.Errorf("cycle with %d keys: at least 4", o.Keys)
	}
	if o.ValueBytes < 8 || o.ValueBytes%8 != 0 {
		return nil, fmt.Errorf("cycle with values of %d bytes: a multiple of 8, at least 8", o.ValueBytes)
	}
	t, err := workload.NewTransactions([]workload.Type{{Name: "rotate", Weight: 1}})
	return &Ring{Transactions: t, opt: o}, err
}

// Name is the value of the knob workload that chooses it.
func (w *Ring) Name() string { return "cycle" }

// DB is the database.
func (w *Ring) DB() *txn.DB { return w.db }

// Open creates the table, the keys dealt to the servers in turn.
func (w *Ring) Open(env workload.Env) (err error) {
	w.torn = owned.New[uint64](env.Cluster.Machines(), nil)
	if w.db, err = env.OpenDB(w.opt.Costs); err != nil {
		return err
	}
	n := w.opt.Keys
	_, err = w.db.AddTable(store.Spec{
		ID: Table, Name: "ring", ValueBytes: w.opt.ValueBytes, Aligned: w.opt.ValueBytes > 48, Seed: w.opt.Seed,
		Init: func(key uint64, value []byte) { fill(value, (key+1)%n) },
	}, store.Stripes(env.ServerCount(), n))
	return err
}

func fill(value []byte, next uint64) {
	for i := 0; i < len(value); i += 8 {
		binary.LittleEndian.PutUint64(value[i:], next)
	}
}

// CanShow are the anomalies that rotations can have. They write all that they read, so that
// each dependency is one of writers: what is not lost is a cycle of overwrites, and of write
// skew, read skew and the like there is none.
func (w *Ring) CanShow() []string { return []string{history.G0, history.G1a, history.LostUpdate} }

// Warm fills the location caches.
func (w *Ring) Warm(between workload.Between) error {
	return workload.WarmCaches(w.db, nil, nil, between)
}

// Set changes a weight of the mix.
func (w *Ring) Set(name string, value any) error {
	if handled, err := w.SetMix(name, value); handled {
		return err
	}
	return workload.UnknownParameter(w.Name(), name)
}

// runner is one coroutine's client.
type runner struct {
	ring   *Ring
	client *txn.Client
	body   func(tx *txn.Tx) error
	start  uint64
	torn   bool
}

// Runner makes a coroutine's client.
func (w *Ring) Runner(c *r2.Co) workload.Runner {
	r := &runner{ring: w, client: w.db.Client(c)}
	r.body = r.rotate
	return r
}

// Next rotates three links at a random place.
func (r *runner) Next() error {
	rand := r.client.Co().Rand()
	typ := r.ring.Pick(rand)
	body := r.ring.Custom(typ)
	if body == nil {
		r.start, body = rand.Uint64n(r.ring.opt.Keys), r.body
	}
	r.torn = false
	err := r.client.Run(uint8(typ), false, body)
	if err == nil && r.torn {
		*r.ring.torn.Of(r.client.Co().Machine())++
	}
	return workload.Done(err)
}

func (r *runner) rotate(tx *txn.Tx) error {
	r.torn = false
	k1 := r.start
	k2, err := r.next(tx, k1)
	if err != nil {
		return err
	}
	k3, err := r.next(tx, k2)
	if err != nil {
		return err
	}
	k4, err := r.next(tx, k3)
	if err != nil {
		return err
	}
	for _, l := range [3][2]uint64{{k1, k3}, {k3, k2}, {k2, k4}} {
		v, err := tx.Update(Table, l[0])
		if err != nil {
			return err
		}
		fill(v, l[1])
	}
	return nil
}

func (r *runner) next(tx *txn.Tx, key uint64) (uint64, error) {
	v, err := tx.Read(Table, key)
	if err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint64(v)
	for i := 8; i < len(v); i += 8 {
		if binary.LittleEndian.Uint64(v[i:]) != n {
			r.torn = true
		}
	}
	// A torn value of an attempt that will abort may be anything.
	return n % r.ring.opt.Keys, nil
}

// Check follows the ring from key 0: it has to come back after all keys.
func (w *Ring) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "cycle.ring", OK: true, Rule: "the records form one ring through all keys"}
	value := make([]byte, w.opt.ValueBytes)
	key := uint64(0)
	for i := uint64(1); inv.OK; i++ {
		w.db.Value(Table, key, value)
		key = binary.LittleEndian.Uint64(value)
		for j := 8; j < len(value); j += 8 {
			if binary.LittleEndian.Uint64(value[j:]) != key {
				inv.OK, inv.Text = false, "a record has parts of two versions"
			}
		}
		switch {
		case key >= w.opt.Keys:
			inv.OK, inv.Text = false, fmt.Sprintf("a record leads to key %d of %d", key, w.opt.Keys)
		case key == 0 && i < w.opt.Keys:
			inv.OK, inv.Text = false, fmt.Sprintf("the ring from key 0 has %d keys, not %d", i, w.opt.Keys)
		case key != 0 && i == w.opt.Keys:
			inv.OK, inv.Text = false, fmt.Sprintf("after %d steps from key 0 the ring is at %d", i, key)
		case key == 0:
			return []workload.Invariant{inv, w.isOneRing()}
		}
	}
	return []workload.Invariant{inv, w.isOneRing()}
}

func (w *Ring) isOneRing() workload.Invariant {
	torn := owned.Sum(&w.torn)
	inv := workload.Invariant{Name: "cycle.whole", OK: torn == 0, Rule: "no transaction that committed saw parts of two versions of a record"}
	if !inv.OK {
		inv.Text = fmt.Sprintf("%d committed transactions saw a torn value", torn)
	}
	return inv
}
