// Package counters is a workload of one transaction: it adds one to two random counters. The sum of all of them at the
// end knows whether an update was lost.
package counters

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Kind is the workload in a list of parts.
var Kind = workload.Kind{
	Load: testbed.Load{Name: "counters", Transactions: true, Declares: testbed.AllDeclared, LocalLocks: workload.Anywhere},
	Doc:  "adds one to two random counters",
	Rows: []knob.Row{{Knob: knob.Knob{Name: "workload.counters", Kind: knob.Int, Default: 100, Min: 2, Max: 1_000_000, Label: "Counters", Group: knob.Workload,
		Doc: "Number of counters. With fewer, transactions conflict more often."}}},
	Knobs: []string{"workload.counters", "workload.scale"},
	Footprint: func(v knob.Values) workload.Footprint {
		return workload.SmallRecords(v, int64(v.Int("workload.counters")), 8)
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return &Bench{n: uint64(v.Int("workload.counters"))}, nil
	},
}

const table = 1

// Bench is the workload.
type Bench struct {
	n     uint64
	db    *txn.DB
	added []uint64 // owner: each machine, what its transactions have added that committed
}

var total = metrics.NewGauge(metrics.Gauge{Part: "counters", Name: "added", Label: "added", Unit: "/s", Kind: metrics.Rate})

// Gauges shows how fast the counters grow.
func (b *Bench) Gauges(r *metrics.Readings) { r.Add(total, float64(b.sum()), 0) }

func (b *Bench) sum() (sum uint64) {
	for _, n := range b.added {
		sum += n
	}
	return sum
}

func (b *Bench) Name() string                { return "counters" }
func (b *Bench) Types() []string             { return []string{"add"} }
func (b *Bench) DB() *txn.DB                 { return b.db }
func (b *Bench) Warm(workload.Between) error { return nil }
func (b *Bench) CanShow() []string           { return []string{history.G0, history.G1a, history.LostUpdate} }

// Set knows no live parameters.
func (b *Bench) Set(name string, _ any) error { return workload.UnknownParameter("counters", name) }

// Open makes the table.
func (b *Bench) Open(env workload.Env) (err error) {
	b.added = make([]uint64, env.Cluster.Machines())
	if b.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	_, err = b.db.AddTable(store.Spec{ID: table, Name: "counter", ValueBytes: 8, Fixed: true}, store.Stripes(env.ServerCount(), b.n))
	return err
}

// runner is one coroutine's client.
type runner struct {
	b      *Bench
	client *txn.Client
}

// Runner makes a coroutine's client.
func (b *Bench) Runner(c *r2.Co) workload.Runner { return &runner{b, b.db.Client(c)} }

// Next adds one to two counters.
func (r *runner) Next() error {
	rand := r.client.Co().Rand()
	one := rand.Uint64n(r.b.n)
	other := (one + 1 + rand.Uint64n(r.b.n-1)) % r.b.n
	err := r.client.Run(0, false, func(tx *txn.Tx) error {
		if err := tx.Declare(txn.Ref{Table: table, Key: one, Write: true}, txn.Ref{Table: table, Key: other, Write: true}); err != nil {
			return err
		}
		for _, key := range []uint64{one, other} {
			n, err := tx.GetInt(table, key)
			if err != nil {
				return err
			}
			if err := tx.PutInt(table, key, n+1); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.b.added[r.client.Co().Machine()] += 2
	}
	return workload.Done(err)
}

// Check adds up the counters.
func (b *Bench) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "counters.sum", Rule: "the counters add up to what transactions have added"}
	sum, value := uint64(0), make([]byte, 8)
	for key := range b.n {
		b.db.Value(table, key, value)
		sum += binary.LittleEndian.Uint64(value)
	}
	if inv.OK = sum == b.sum(); !inv.OK {
		inv.Text = fmt.Sprintf("%d, and %d were added", sum, b.sum())
	}
	return []workload.Invariant{inv}
}
