package protocoltest

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// No shipped workload inserts into rows that are there from the start while others look at them.
func init() {
	experiment.Plug(nil, nil, nil, workload.Parts{{
		Load: testbed.Load{Name: "queue", Transactions: true, Inserts: testbed.Always},
		Doc:  "inserts, and those who look out for them",
		Footprint: func(v knob.Values) workload.Footprint {
			return workload.Records{Count: 2 * queueRows, Bytes: 8, Fixed: true, Accessed: 3, Updated: 1.5}.Footprint(v)
		},
		Build: func(knob.Values) (workload.Bench, error) { return &queue{}, nil },
	}}, nil, nil)
}

// queue is a workload of inserts and of those who look out for them. Writers take
// a number from their machine's counter, read its flag, which is elsewhere, and
// insert the row of that number. Watchers read the row that is about to come, and
// not the counter, and raise the flag. If a row is not locked between the
// decision of its transaction and its write-back, either may overlook the other.
type queue struct {
	db      *txn.DB
	servers uint64
	next    []uint64 // by machine: the number that somebody was last at; a hint for watchers, free of time
}

const (
	counters  = 1
	flags     = 2
	queued    = 3
	queueRows = 1 << 14 // by machine
)

func (w *queue) Name() string                 { return "queue" }
func (w *queue) Types() []string              { return []string{"insert", "watch"} }
func (w *queue) DB() *txn.DB                  { return w.db }
func (w *queue) Warm(workload.Between) error  { return nil }
func (w *queue) Set(name string, _ any) error { return workload.UnknownParameter(w.Name(), name) }

func (w *queue) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	n := env.ServerCount()
	w.servers, w.next = uint64(n), make([]uint64, n)
	empty := func(uint64, []byte) {}
	for _, t := range []struct {
		store.Spec
		rows uint64
	}{
		{store.Spec{ID: counters, Name: "counters", ValueBytes: 8, Init: empty}, w.servers},
		{store.Spec{ID: flags, Name: "flags", ValueBytes: 8, Init: empty}, w.servers},
		{store.Spec{ID: queued, Name: "queued", ValueBytes: 8, Init: empty}, w.servers * queueRows},
	} {
		if _, err = w.db.AddTable(t.Spec, store.Blocks(n, t.rows)); err != nil {
			return err
		}
	}
	return nil
}

// Check looks that there is a row for each number given out, and no other.
func (w *queue) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "queue.rows", OK: true}
	value := make([]byte, 8)
	for m := range w.servers {
		w.db.Value(counters, m, value)
		last := binary.LittleEndian.Uint64(value)
		for n := range last + 8 {
			w.db.Value(queued, m*queueRows+n, value)
			if is := binary.LittleEndian.Uint64(value) != 0; is != (n < last) {
				inv.OK, inv.Text = false, fmt.Sprintf("machine %d has given out %d numbers; row %d exists: %v", m, last, n, is)
			}
		}
	}
	return []workload.Invariant{inv}
}

type queueRunner struct {
	w      *queue
	client *txn.Client
}

func (w *queue) Runner(c *r2.Co) workload.Runner { return &queueRunner{w, w.db.Client(c)} }

func (r *queueRunner) Next() error {
	w, c := r.w, r.client.Co()
	m := uint64(c.Machine()) % w.servers
	if c.Rand().Uint64n(2) == 0 {
		return r.client.Run(0, false, func(tx *txn.Tx) error { return w.insert(tx, m) })
	}
	m = (m + 1 + c.Rand().Uint64n(w.servers-1)) % w.servers
	return r.client.Run(1, false, func(tx *txn.Tx) error { return w.watch(tx, m) })
}

func (w *queue) flag(m uint64) uint64 { return (m + 1) % w.servers }

func (w *queue) insert(tx *txn.Tx, m uint64) error {
	n, err := tx.GetInt(counters, m)
	if err != nil {
		return err
	}
	w.next[m] = uint64(n)
	if _, err := tx.GetInt(flags, w.flag(m)); err != nil {
		return err
	}
	if err := tx.PutInt(counters, m, n+1); err != nil {
		return err
	}
	row, err := tx.Insert(queued, m*queueRows+uint64(n))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(row, 1)
	return nil
}

func (w *queue) watch(tx *txn.Tx, m uint64) error {
	if _, err := tx.GetInt(queued, m*queueRows+w.next[m]); err != nil {
		return err
	}
	up, err := tx.GetInt(flags, w.flag(m))
	if err != nil {
		return err
	}
	return tx.PutInt(flags, w.flag(m), up+1)
}
