package occ

import (
	"encoding/binary"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Of the keys below comingKeys, those in the first half of each machine are there from the start; those behind may come,
// the last ones without buckets of their own.
const (
	comingKeys  = 12
	numberedTo  = 9
	insertSpare = 40
)

func comingParts() store.Partition {
	return store.Growing{All: store.Stripes(3, numberedTo), Initial: func(int) (from, n uint64) { return 0, 2 }}
}

func comingSpec() store.Spec {
	return store.Spec{ID: 1, Name: "coming", ValueBytes: 16, Spare: insertSpare, Init: func(key uint64, v []byte) {
		binary.LittleEndian.PutUint64(v, key+100)
	}}
}

// step is what a transaction does to a key.
type step struct {
	op  int // 0 read, 1 insert, 2 update, 3 delete
	key uint64
	val uint64
}

// did is what came of a step: its error, or the value that was read.
type did struct {
	err error
	val uint64
}

func (st step) do(tx *txn.Tx) (out did) {
	var v []byte
	switch st.op {
	case 0:
		if v, out.err = tx.Read(1, st.key); out.err == nil {
			out.val = binary.LittleEndian.Uint64(v)
		}
	case 1:
		if v, out.err = tx.Insert(1, st.key); out.err == nil {
			if out.val = binary.LittleEndian.Uint64(v) | binary.LittleEndian.Uint64(v[8:]); out.val == 0 {
				binary.LittleEndian.PutUint64(v, st.val)
			}
		}
	case 2:
		if v, out.err = tx.Update(1, st.key); out.err == nil {
			binary.LittleEndian.PutUint64(v, st.val)
		}
	case 3:
		out.err = tx.Delete(1, st.key)
	}
	return out
}

// on does the step to a map.
func (st step) on(m map[uint64]uint64) (out did) {
	val, ok := m[st.key]
	switch {
	case st.op == 1 && ok:
		return did{err: txn.ErrExists}
	case st.op != 1 && !ok:
		return did{err: txn.ErrNotFound}
	case st.op == 0:
		return did{val: val}
	case st.op == 3:
		delete(m, st.key)
	default:
		m[st.key] = st.val
	}
	return did{}
}

// TestRowsAgainstMap: transactions one after the other do to the table what they do to a map, whatever they do to one
// record, and with whatever primitives; versions, replicas, rows and free lists are right in the end.
func TestRowsAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, _ := Preset(rapid.SampledFrom(PresetNames()).Draw(t, "preset"))
		cfg.CacheEnabled = rapid.Bool().Draw(t, "cache")
		model := map[uint64]uint64{}
		for key := range uint64(6) {
			model[key] = key + 100
		}
		txns := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, 3).Draw(t, "op"), rapid.Uint64Range(0, comingKeys-1).Draw(t, "key"), rapid.Uint64Range(1, 1000).Draw(t, "val")}
		}), 1, 6), 1, 12).Draw(t, "txns")
		rollbacks := rapid.SliceOfN(rapid.IntRange(0, 4), len(txns), len(txns)).Draw(t, "rollbacks")
		onParts(t, r2.Config{Threads: 1}, cfg, comingSpec(), comingParts(), func(c *r2.Co, cl *txn.Client) {
			for i, steps := range txns {
				after, want := map[uint64]uint64{}, make([]did, len(steps))
				for k, v := range model {
					after[k] = v
				}
				for k, st := range steps {
					want[k] = st.on(after)
				}
				var got []did
				err := cl.Run(0, false, func(tx *txn.Tx) error {
					got = got[:0]
					for _, st := range steps {
						x := st.do(tx)
						if errors.Is(x.err, txn.ErrAborted) {
							return x.err
						}
						got = append(got, x)
					}
					if rollbacks[i] == 0 {
						return tx.Rollback()
					}
					return nil
				})
				// Who inserts without looking learns only at the end that the record exists, and a rollback comes before.
				blind := false
				for k, st := range steps {
					blind = blind || st.op == 1 && errors.Is(want[k].err, txn.ErrExists)
					if !(blind && rollbacks[i] == 0) && (!errors.Is(got[k].err, want[k].err) || got[k].val != want[k].val) {
						t.Errorf("transaction %d %+v, step %d: %v, want %v", i, steps, k, got[k], want[k])
					}
				}
				switch {
				case rollbacks[i] == 0 && errors.Is(err, txn.ErrRollback):
				case rollbacks[i] != 0 && err == nil:
					model = after
				default:
					t.Errorf("transaction %d ends with %v", i, err)
				}
			}
		})
	})
}

// TestExistsAtLast: an insert that did not look is told that the record exists when the body runs again.
func TestExistsAtLast(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		onParts(t, r2.Config{Threads: 1}, cfg, comingSpec(), comingParts(), func(c *r2.Co, cl *txn.Client) {
			insert := func(tx *txn.Tx) error { _, err := tx.Insert(1, 10); return err }
			if err := cl.Run(0, false, insert); err != nil {
				t.Fatal(err)
			}
			c.Sleep(50 * sim.Microsecond)
			attempts := 0
			err := cl.Run(0, false, func(tx *txn.Tx) error { attempts++; return insert(tx) })
			if !errors.Is(err, txn.ErrExists) || attempts != 2 {
				t.Errorf("%s: after %d attempts: %v", preset, attempts, err)
			}
			// Also if the body deletes it again, so that nothing is left to insert.
			attempts = 0
			err = cl.Run(0, false, func(tx *txn.Tx) error {
				attempts++
				if err := insert(tx); err != nil {
					return err
				}
				return tx.Delete(1, 10)
			})
			if !errors.Is(err, txn.ErrExists) || attempts != 2 {
				t.Errorf("%s: inserted and deleted: after %d attempts: %v", preset, attempts, err)
			}
		})
	}
}

// TestNoRowLeft: a table without a spare row refuses an insert with the reason, and goes on.
func TestNoRowLeft(t *testing.T) {
	for _, preset := range PresetNames() {
		cfg, _ := Preset(preset)
		spec := comingSpec()
		spec.Spare = 1
		onParts(t, r2.Config{Threads: 1}, cfg, spec, comingParts(), func(c *r2.Co, cl *txn.Client) {
			refused := 0
			for key := uint64(20); key < 40; key++ {
				err := cl.Run(0, false, func(tx *txn.Tx) error { _, err := tx.Insert(1, key); return err })
				if errors.Is(err, store.ErrFull) {
					refused++
				} else if err != nil {
					t.Errorf("%s: key %d: %v", preset, key, err)
				}
			}
			if refused < 10 || refused == 20 {
				t.Errorf("%s: %d of 20 inserts refused", preset, refused)
			}
			if err := cl.Run(0, false, func(tx *txn.Tx) error { return tx.Delete(1, 3) }); err != nil {
				t.Errorf("%s: %v", preset, err)
			}
		})
	}
}

// TestFreeRowsKeepTheirLocks: nobody who remembers where a deleted record was can take its lock.
func TestFreeRowsKeepTheirLocks(t *testing.T) {
	cfg, _ := Preset("drtm+h")
	onParts(t, r2.Config{Threads: 1}, cfg, comingSpec(), comingParts(), func(c *r2.Co, cl *txn.Client) {
		loc, _ := cl.DB().Table(1).Find(1)
		if err := cl.Run(0, false, func(tx *txn.Tx) error { return tx.Delete(1, 1) }); err != nil {
			t.Fatal(err)
		}
		c.Sleep(50 * sim.Microsecond)
		head := cl.DB().Cluster().Mem(loc.Machine).Bytes(loc.Addr, header)
		if record.Lock(head) == 0 || record.Live(record.Seq(head)) || !loc.Stale(record.Seq(head)) {
			t.Errorf("free row has lock %#x and sequence %#x", record.Lock(head), record.Seq(head))
		}
	})
}
