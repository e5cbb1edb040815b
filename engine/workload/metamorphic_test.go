package workload_test

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// private is a workload without contention: each lane has keys of its own and a
// fixed number of transactions with inputs that depend on nothing but its number.
// A thread has eight, and its coroutines share them out. Whatever the protocol does,
// and however many coroutines there are, the tables end up the same.
type private struct {
	db         *txn.DB
	coroutines int
	n          uint64   // lanes
	source     *sim.Sim // of inputs; its seed is the same in all runs
}

const lanes = 8 // of a thread

const (
	privateTable = 3
	privateKeys  = 6 // per lane
	privateValue = 40
	wideTable    = 4
	wideValue    = 200
)

func (w *private) Name() string                 { return "private" }
func (w *private) Types() []string              { return []string{"update", "read"} }
func (w *private) DB() *txn.DB                  { return w.db }
func (w *private) Warm(workload.Between) error  { return nil }
func (w *private) Set(name string, _ any) error { return workload.UnknownParameter(w.Name(), name) }
func (w *private) Check() []workload.Invariant  { return nil }

func (w *private) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{Execution: 300, Validation: 100, Logging: 100, Commit: 80}); err != nil {
		return err
	}
	w.n = uint64(0)
	for m := range env.Cluster.Machines() {
		w.n += uint64(env.Cluster.Threads(m)) * lanes
	}
	fill := func(key uint64, value []byte) { binary.LittleEndian.PutUint64(value, key*7) }
	for _, s := range []store.Spec{
		{ID: privateTable, Name: "private", ValueBytes: privateValue, Init: fill},
		{ID: wideTable, Name: "wide", ValueBytes: wideValue, Aligned: true, Init: fill},
	} {
		if _, err = w.db.AddTable(s, store.Stripes(env.ServerCount(), w.n*privateKeys)); err != nil {
			return err
		}
	}
	return nil
}

// privateRunner takes the lanes of its coroutine in turn, a transaction each.
type privateRunner struct {
	client *txn.Client
	lanes  []*lane
	next   int
}

type lane struct {
	rand  *r2.Rand
	first uint64 // key
	step  uint64
}

func (w *private) Runner(c *r2.Co) workload.Runner {
	r := &privateRunner{client: w.db.Client(c)}
	for i := c.Index(); i < lanes; i += w.coroutines {
		first := w.key(c, i)
		r.lanes = append(r.lanes, &lane{first: first, rand: w.source.Stream("private", first)})
	}
	return r
}

// key is the first key of a lane of the coroutine's thread.
func (w *private) key(c *r2.Co, lane int) uint64 {
	n := uint64(0)
	for m := range c.Machine() {
		n += uint64(w.db.Cluster().Threads(m)) * lanes
	}
	return (n + uint64(c.Thread())*lanes + uint64(lane)) * privateKeys
}

func (p *privateRunner) Next() error {
	r := p.lanes[p.next]
	p.next = (p.next + 1) % len(p.lanes)
	r.step++
	a := r.first + r.rand.Uint64n(privateKeys)
	b := r.first + r.rand.Uint64n(privateKeys)
	x := r.rand.Uint64()
	if r.step%4 == 0 {
		return p.client.Run(1, true, func(tx *txn.Tx) error {
			if err := tx.Prefetch(txn.Ref{Table: wideTable, Key: a}, txn.Ref{Table: privateTable, Key: b}); err != nil {
				return err
			}
			if _, err := tx.Read(wideTable, a); err != nil {
				return err
			}
			_, err := tx.Read(privateTable, b)
			return err
		})
	}
	return p.client.Run(0, false, func(tx *txn.Tx) error {
		if err := tx.Prefetch(txn.Ref{Table: wideTable, Key: a}, txn.Ref{Table: privateTable, Key: b}); err != nil {
			return err
		}
		v, err := tx.Read(wideTable, a)
		if err != nil {
			return err
		}
		old := binary.LittleEndian.Uint64(v)
		u, err := tx.Update(privateTable, b)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(u, binary.LittleEndian.Uint64(u)*3+old+x)
		if x%3 == 0 {
			if u, err = tx.Update(wideTable, a); err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(u[len(u)-8:], x)
			binary.LittleEndian.PutUint64(u, old+x)
		}
		return nil
	})
}

// contents is a digest of all rows, sequences included.
func (w *private) contents() uint64 {
	h := fnv.New64a()
	for _, t := range []struct {
		id    uint8
		bytes int
	}{{privateTable, 16 + privateValue}, {wideTable, 16 + wideValue}} {
		row := make([]byte, t.bytes)
		for key := range w.n * privateKeys {
			w.db.Row(t.id, key, row)
			h.Write(row)
		}
	}
	return h.Sum64()
}

// values is a digest of all values, whatever is in front of them.
func (w *private) values() uint64 {
	h := fnv.New64a()
	for _, t := range []struct {
		id    uint8
		bytes int
	}{{privateTable, privateValue}, {wideTable, wideValue}} {
		value := make([]byte, t.bytes)
		for key := range w.n * privateKeys {
			w.db.Value(t.id, key, value)
			h.Write(value)
		}
	}
	return h.Sum64()
}

// TestMetamorphic: without contention primitives and optimisations, each two
// of them together, with however many coroutines at a time, leaves the same tables.
func TestMetamorphic(t *testing.T) {
	all, rand := occConfigs(5, 1), stream(5)
	var want uint64
	for i, x := range all {
		cfg := x.cfg
		coroutines := 1 << rand.Uint64n(4) // each has as many lanes as the others
		w := &private{coroutines: coroutines, source: sim.New(sim.Options{Seed: 9})}
		s := workloadtest.Setup{Machines: 3, Threads: 2, Coroutines: coroutines, Seed: uint64(i), Txn: cfg, Mode: history.Full, Requests: 8 * lanes / coroutines}
		if i%2 == 1 {
			s.LossPPM = 10_000
		}
		b := workloadtest.New(t, s, w)
		b.Check(t)
		if got := w.contents(); i == 0 {
			want = got
		} else if got != want {
			t.Fatalf("%s leaves %#x, %s left %#x", name(cfg), got, name(all[0].cfg), want)
		}
		if b.Attempts != b.Commits && s.LossPPM == 0 {
			t.Logf("%s: %d attempts for %d commits", name(cfg), b.Attempts, b.Commits)
		}
		b.Close()
	}
}
