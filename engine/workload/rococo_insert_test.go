package workload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/protocol/rococo"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// returning is a workload whose records are deleted and inserted again under the same keys: each client has two, on different
// servers, and looks at those of all.
type returning struct {
	*workload.Transactions
	db      *txn.DB
	clients []*returner
}

// mostReturners is how many clients there may be.
const mostReturners = 128

func newReturning(t testing.TB) *returning {
	x, err := workload.NewTransactions([]workload.Type{{Name: "own", Weight: 3}, {Name: "look", Weight: 2, ReadOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	return &returning{Transactions: x}
}

func (w *returning) Name() string                { return "returning" }
func (w *returning) DB() *txn.DB                 { return w.db }
func (w *returning) Warm(workload.Between) error { return nil }
func (w *returning) Set(name string, _ any) error {
	return workload.UnknownParameter("returning", name)
}

func (w *returning) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	n := env.ServerCount()
	none := store.Growing{All: store.Stripes(n, 2*mostReturners), Initial: func(int) (from, n uint64) { return 0, 0 }}
	if _, err = w.db.AddTable(store.Spec{ID: ticketTable, Name: "ticket", ValueBytes: 16, Spare: 8 * mostReturners}, none); err != nil {
		return err
	}
	_, err = w.db.AddTable(store.Spec{ID: cellTable, Name: "cell", ValueBytes: 24, Mutable: 16, Fixed: true}, store.Stripes(n, cells3))
	return err
}

func (w *returning) Runner(c *r2.Co) workload.Runner {
	r := &returner{w: w, client: w.db.Client(c), first: uint64(2 * len(w.clients))}
	w.clients = append(w.clients, r)
	return r
}

type returner struct {
	w      *returning
	client *txn.Client
	first  uint64 // of its two keys
	step   int    // of its round
	there  [2]bool
	count  uint64
}

// Next goes one step on in the round, or looks.
func (r *returner) Next() error {
	rand := r.client.Co().Rand()
	if typ := r.w.Pick(rand); typ == 1 {
		key := 2 * rand.Uint64n(uint64(len(r.w.clients)))
		return r.client.Run(1, true, func(tx *txn.Tx) error { return r.look(tx, key) })
	}
	r.count++
	steps := []func(tx *txn.Tx) error{r.insertBoth, r.onFirst(r.remove), r.onSecond(r.remove), r.onFirst(r.insert), r.onFirst(r.replace), r.onFirst(r.remove)}
	after := [][2]bool{{true, true}, {false, true}, {false, false}, {true, false}, {true, false}, {false, false}}
	if err := r.client.Run(0, false, steps[r.step]); err != nil {
		return fmt.Errorf("step %d: %w", r.step, err)
	}
	r.there = after[r.step]
	r.step = (r.step + 1) % len(steps)
	return nil
}

// insertBoth is in pieces.
func (r *returner) insertBoth(tx *txn.Tx) error {
	var input [16]byte
	put8(input[:], r.count)
	for key := r.first; key < r.first+2; key++ {
		if _, err := tx.Apply(ticketTable, key, leaveTicket, input[:]); err != nil {
			return err
		}
	}
	put8(input[:], 1)
	_, err := tx.Apply(cellTable, r.count%cells3, countCell, input[:8])
	return err
}

// onFirst and onSecond run a body where that key is.
func (r *returner) onFirst(body func(tx *txn.Tx, key uint64) error) func(tx *txn.Tx) error {
	return r.on(r.first, body)
}

func (r *returner) onSecond(body func(tx *txn.Tx, key uint64) error) func(tx *txn.Tx) error {
	return r.on(r.first+1, body)
}

func (r *returner) on(key uint64, body func(tx *txn.Tx, key uint64) error) func(tx *txn.Tx) error {
	return func(tx *txn.Tx) error {
		return tx.Whole(r.w.db.Table(ticketTable).Primary(key), 8, func(tx *txn.Tx) error { return body(tx, key) })
	}
}

func (r *returner) remove(tx *txn.Tx, key uint64) error { return tx.Delete(ticketTable, key) }

func (r *returner) insert(tx *txn.Tx, key uint64) error {
	if r.count%2 == 0 { // it looks before
		if _, err := tx.Read(ticketTable, key); !errors.Is(err, txn.ErrNotFound) {
			return fmt.Errorf("key %d is there: %v", key, err)
		}
	}
	v, err := tx.Insert(ticketTable, key)
	if err == nil {
		put8(v, r.count)
	}
	return err
}

// replace deletes a record and inserts it, in one transaction.
func (r *returner) replace(tx *txn.Tx, key uint64) error {
	if err := tx.Delete(ticketTable, key); err != nil {
		return err
	}
	return r.insert(tx, key)
}

func (r *returner) look(tx *txn.Tx, key uint64) error {
	for k := key; k < key+2; k++ {
		if _, err := tx.Read(ticketTable, k); err != nil && !errors.Is(err, txn.ErrNotFound) {
			return err
		}
	}
	_, err := tx.Read(cellTable, key%cells3)
	return err
}

// Check is that the records are there which their clients have inserted last.
func (w *returning) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "returning", OK: true, Rule: "a record is there if its client has inserted it"}
	value := make([]byte, 16)
	for _, r := range w.clients {
		for i, want := range r.there {
			if _, ok := w.db.Value(ticketTable, r.first+uint64(i), value); ok != want {
				inv.OK, inv.Text = false, fmt.Sprintf("key %d: %v, want %v", r.first+uint64(i), ok, want)
			}
		}
	}
	return []workload.Invariant{inv}
}

// TestRococoInsertsAgain: records come back under the keys of deleted ones, whether those have left a tombstone, had one that
// was collected, or nothing; snapshots and rounds of reads see one or the other.
func TestRococoInsertsAgain(t *testing.T) {
	commits := workloadtest.Effort(uint64(3_000), 1_000)
	if testing.Short() {
		commits = 600
	}
	for shape := range 3 {
		for _, gcNS := range []int64{0, 5_000, 100_000, 20_000_000} { // 0: no versions; the last: tombstones stay
			for _, staleNS := range []int64{0, 100_000} {
				cfg := rococo.Default()
				if gcNS > 0 {
					cfg = dated()
					cfg.Timestamps.GCNS, cfg.Timestamps.StalenessNS = gcNS, staleNS
				}
				o := workloadtest.Small(cfg)
				shapes[shape](&o)
				w := newReturning(t)
				b := workloadtest.New(t, o, w)
				if bad := b.Stress(commits); len(bad) > 0 {
					t.Fatalf("shape %d, collected every %d ns, %d ns stale:\n%s", shape, gcNS, staleNS, strings.Join(bad, "\n"))
				}
				b.Close()
			}
		}
	}
}
