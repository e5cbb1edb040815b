package txntest

import (
	"encoding/binary"
	"errors"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Keys of a table whose records come and go: two of each machine are there from the start, and keys from numbered on have no
// number in the partition.
const (
	comingKeys = 12
	numbered   = 9
	spareRows  = 40
)

// ComingParts is where the records of Coming are.
func ComingParts() store.Partition {
	return store.Growing{All: store.Stripes(Machines, numbered), Initial: func(int) (from, n uint64) { return 0, 2 }}
}

// Coming is a table whose records come and go. Record key has the value key+100 at the start.
func Coming() store.Spec {
	return store.Spec{ID: 1, Name: "coming", ValueBytes: 16, Spare: spareRows, Init: func(key uint64, v []byte) {
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

// AgainstMap has transactions, one after the other, do to the table what they do to a map, whatever they do to one record;
// versions, replicas, rows and free lists are right in the end. config draws how the protocol runs.
func AgainstMap(t *testing.T, config func(t *rapid.T) txn.Config) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := config(t)
		model := map[uint64]uint64{}
		for key := range uint64(6) {
			model[key] = key + 100
		}
		txns := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, 3).Draw(t, "op"), rapid.Uint64Range(0, comingKeys-1).Draw(t, "key"), rapid.Uint64Range(1, 1000).Draw(t, "val")}
		}), 1, 6), 1, 12).Draw(t, "txns")
		rollbacks := rapid.SliceOfN(rapid.IntRange(0, 4), len(txns), len(txns)).Draw(t, "rollbacks")
		bad := Run(t, r2.Config{Threads: 1}, txn.Options{Config: cfg}, Coming(), ComingParts(), func(_ *r2.Co, cl *txn.Client) {
			for i, steps := range txns {
				after, want := maps.Clone(model), make([]did, len(steps))
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
				// A blind insert learns only at the end that the record exists, and a rollback comes before.
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
		if len(bad) > 0 {
			t.Error(strings.Join(bad, "\n"))
		}
	})
}
