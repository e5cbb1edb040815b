package protocoltest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"drtmx/engine/experiment"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/txn/txntest"
)

// The table of a client that is alone: record k has the value 10*k at the start, and those from keys on do not exist.
const (
	table = 1
	keys  = 60
)

func tens() store.Spec {
	return store.Spec{ID: table, Name: "t", ValueBytes: 16, Init: func(key uint64, v []byte) { binary.LittleEndian.PutUint64(v, 10*key) }}
}

// alone has one client do what transactions do, under each of the protocol's own choices.
func (s *suite) alone(t *testing.T) {
	if !s.free {
		t.Skip("its transactions are in pieces")
	}
	if s.kind.NeedsSets {
		t.Skip("its transactions declare what they touch, and these do not")
	}
	var configs []txn.Config
	for _, variant := range s.variants() {
		v, ok := s.legal(merged(experiment.Knobs{"workload": "smallbank"}, variant))
		if !ok {
			t.Fatalf("%v is refused", variant)
		}
		c := single{experiment.TxnConfig(v, txn.Seen{}), experiment.LogOf(v)}
		configs = append(configs, c.cfg)
		c.run(t, tens(), func(cl *txn.Client) {
			if is, said := cl.DB().Protocol().Layout(), s.kind.Layout(c.cfg); is.Bytes != said.Bytes || is.Tearing != said.Tearing {
				t.Errorf("rows have %d bytes in front of the value, %v; its line of the list says %d, %v", is.Bytes, is.Tearing, said.Bytes, said.Tearing)
			}
		})
		t.Run("refuses", func(t *testing.T) { c.refuses(t) })
		t.Run("sees", func(t *testing.T) { c.sees(t) })
		t.Run("declared", func(t *testing.T) { c.declared(t, s.inserts) })
		if s.inserts {
			t.Run("comes", func(t *testing.T) { c.comes(t) })
			t.Run("gap", func(t *testing.T) { c.gap(t) })
		}
	}
	if s.inserts {
		t.Run("map", func(t *testing.T) {
			txntest.AgainstMap(t, func(t *rapid.T) txn.Config { return rapid.SampledFrom(configs).Draw(t, "choices") })
		})
	}
}

// single is a protocol with its log.
type single struct {
	cfg txn.Config
	log replication.Kind
}

// run has a body on one client of a small cluster; what the checkers find at the end fails the test.
func (c *single) run(t *testing.T, spec store.Spec, body func(cl *txn.Client)) {
	t.Helper()
	o := txn.Options{Config: c.cfg, Costs: txn.Costs{Execution: 678, Validation: 185, Logging: 134, Commit: 87}}
	o.Log.Kind = c.log
	if bad := txntest.Run(t, r2.Config{Threads: 1}, o, spec, store.Stripes(txntest.Machines, keys), func(_ *r2.Co, cl *txn.Client) { body(cl) }); len(bad) > 0 {
		t.Errorf("%+v:\n%s", c.cfg, strings.Join(bad, "\n"))
	}
}

func write(keys ...uint64) func(*txn.Tx) error {
	return func(tx *txn.Tx) error {
		for _, k := range keys {
			if _, err := tx.Update(table, k); err != nil {
				return err
			}
		}
		return nil
	}
}

// refuses: what a transaction cannot do is refused in one line, nothing stays locked, and the next one works.
func (c *single) refuses(t *testing.T) {
	for _, x := range []struct {
		name string
		ro   bool
		body func(*txn.Tx) error
		want string
	}{
		{"no table", false, func(tx *txn.Tx) error { _, err := tx.Read(9, 1); return err }, "table 9 does not exist: the tables are 1 t"},
		{"no key", false, func(tx *txn.Tx) error { write(1)(tx); _, err := tx.Read(table, 1000); return err }, "key not found"},
		{"no such wide key", false, write(4, 1<<60+1), "key 1152921504606846977 of table t: key not found"},
		{"no key of 56 bits", false, write(4, 1<<55+4), "key not found"},
		{"length", false, func(tx *txn.Tx) error { return tx.Write(table, 1, []byte{1}) }, "value of 1 bytes"},
		{"read-only", true, write(1), "read-only"},
		{"dropped error", true, func(tx *txn.Tx) error { write(1)(tx); return nil }, "read-only"},
		{"rollback", false, func(tx *txn.Tx) error { write(1)(tx); return tx.Rollback() }, txn.ErrRollback.Error()},
		{"dropped rollback", false, func(tx *txn.Tx) error { write(1)(tx); tx.Rollback(); return nil }, txn.ErrRollback.Error()},
		{"own error", false, func(tx *txn.Tx) error { write(1)(tx); return errors.New("mine") }, "mine"},
		{"never awaited", false, func(tx *txn.Tx) error { tx.Fetch(table, 1); tx.Fetch(table, 2); return errors.New("mine") }, "mine"},
	} {
		c.run(t, tens(), func(cl *txn.Client) {
			if err := cl.Run(0, x.ro, x.body); err == nil || !strings.Contains(err.Error(), x.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v, want %q in one line", x.name, err, x.want)
			}
			if err := cl.Run(0, false, write(1, 2)); err != nil {
				t.Errorf("%s: the next transaction: %v", x.name, err)
			}
		})
	}
	// As a log entry carries so much and no more, or all of it is written.
	long := tens()
	long.ValueBytes, long.Aligned = 400, true
	c.run(t, long, func(cl *txn.Client) {
		if err := cl.Run(0, false, write(0, 1, 2, 3, 4, 5, 6, 9, 12, 15)); err != nil && (!strings.Contains(err.Error(), "log entry") || strings.Contains(err.Error(), "\n")) {
			t.Errorf("much to write: %v", err)
		}
		if err := cl.Run(0, false, write(1, 2)); err != nil {
			t.Errorf("behind much to write: %v", err)
		}
	})
}

// sees: a transaction sees its own writes, others only the committed.
func (c *single) sees(t *testing.T) {
	c.run(t, tens(), func(cl *txn.Client) {
		body := func(tx *txn.Tx) error {
			f := tx.Fetch(table, 7)
			for _, k := range []uint64{5, 6} { // of another machine, and of the own one
				if err := tx.PutInt(table, k, 42); err != nil {
					return err
				}
				if v, err := tx.GetInt(table, k); v != 42 || err != nil {
					t.Errorf("own write reads %d, %v", v, err)
				}
			}
			if v, err := f.Int(); v != 70 || err != nil {
				t.Errorf("record 7 reads %d, %v", v, err)
			}
			_, err := f.Update()
			return err
		}
		if err := cl.Run(0, false, func(tx *txn.Tx) error { return errors.Join(body(tx), tx.Rollback()) }); !errors.Is(err, txn.ErrRollback) {
			t.Errorf("rolled back: %v", err)
		}
		for _, want := range []string{"50 60 70", "42 42 70"} {
			err := cl.Run(0, true, func(tx *txn.Tx) error {
				a, _ := tx.GetInt(table, 5)
				b, _ := tx.GetInt(table, 6)
				x, err := tx.GetInt(table, 7)
				if got := fmt.Sprint(a, b, x); got != want {
					t.Errorf("read back %s, want %s", got, want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if err := cl.Run(0, false, body); err != nil {
				t.Error(err)
			}
		}
	})
}

// declared: what a table declares of its values is held to.
func (c *single) declared(t *testing.T, inserts bool) {
	constant, partly := tens(), tens()
	constant.Constant, partly.Mutable = true, 8
	here, there := uint64(3), uint64(4) // of the own machine, and of another
	c.run(t, constant, func(cl *txn.Client) {
		if err := cl.Run(0, false, write(here)); err == nil || !strings.Contains(err.Error(), "declared constant") {
			t.Errorf("update of a constant: %v", err)
		}
		locks := cl.DB().Locks().All
		for _, key := range []uint64{here, there} {
			err := cl.Run(0, true, func(tx *txn.Tx) error {
				v, err := tx.GetInt(table, key)
				if err == nil && v != int64(10*key) {
					t.Errorf("constant record %d reads %d", key, v)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
		if n := cl.DB().Locks().All - locks; n != 0 {
			t.Errorf("%d locks for constant records", n)
		}
	})
	partly.ValueBytes = 24
	partly.Init = func(key uint64, v []byte) { copy(v, strings.Repeat(string(rune(key)), len(v))) }
	c.run(t, partly, func(cl *txn.Client) {
		if err := cl.Run(0, false, func(tx *txn.Tx) error { _, err := tx.Insert(table, 0); return err }); err == nil || !strings.Contains(err.Error(), "declare all mutable") {
			t.Errorf("insert of what is mutable in part: %v", err)
		}
		for _, update := range []bool{true, false} {
			err := cl.Run(0, !update, func(tx *txn.Tx) error {
				for _, key := range []uint64{here, there} {
					if update {
						v, err := tx.Update(table, key)
						if err != nil {
							return err
						}
						if len(v) != 8 {
							t.Errorf("%d bytes to write, want the mutable 8", len(v))
						}
						v[0] = 99
					}
					if v, err := tx.Read(table, key); err != nil || len(v) != 24 || v[0] != 99 || v[8] != byte(key) || v[23] != byte(key) {
						t.Errorf("update %v, key %d is %v, %v", update, key, v, err)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	if !inserts {
		return
	}
	c.run(t, tens(), func(cl *txn.Client) {
		err := cl.Run(0, false, func(tx *txn.Tx) error {
			if err := tx.Inserts(txn.Ref{Table: table, Key: here}, txn.Ref{Table: table, Key: there}, txn.Ref{Table: table, Key: 5}); err != nil {
				return err
			}
			for _, key := range []uint64{here, there} { // and not 5
				v, err := tx.Insert(table, key)
				if err != nil {
					return err
				}
				v[15] = 7
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		cl.Run(0, true, func(tx *txn.Tx) error {
			for key, want := range map[uint64]byte{here: 7, there: 7, 5: 0} { // order-free: each by itself
				if v, err := tx.Read(table, key); err != nil || v[15] != want {
					t.Errorf("record %d is %v, %v", key, v, err)
				}
			}
			return nil
		})
	})
}

// comes: a transaction sees what it has inserted and deleted itself, and others what is committed; an insert that did not look is told that
// the record exists, also if the body deletes it again.
func (c *single) comes(t *testing.T) {
	spec := tens()
	spec.Spare = 8
	insert := func(tx *txn.Tx, key, v uint64) error {
		value, err := tx.Insert(table, key)
		if err == nil {
			binary.LittleEndian.PutUint64(value, v)
		}
		return err
	}
	both := []uint64{keys + 60, keys + 61} // of the own machine, and of another
	c.run(t, spec, func(cl *txn.Client) {
		for round := range uint64(4) { // from the second on in rows that were used before
			err := cl.Run(0, false, func(tx *txn.Tx) error {
				for _, key := range both {
					if _, err := tx.Read(table, key); round%2 == 0 && !errors.Is(err, txn.ErrNotFound) {
						t.Errorf("round %d: %d is not missing: %v", round, key, err)
					}
					if err := insert(tx, key, round); err != nil {
						return err
					}
					if v, err := tx.GetInt(table, key); v != int64(round) || err != nil {
						t.Errorf("own insert reads %d, %v", v, err)
					}
					if err := insert(tx, key, 9); !errors.Is(err, txn.ErrExists) {
						t.Errorf("a second insert: %v", err)
					}
				}
				return tx.Delete(table, 1)
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range both {
				err := cl.Run(0, false, func(tx *txn.Tx) error {
					if err := insert(tx, key, 8); err != nil {
						return err
					}
					return tx.Delete(table, key)
				})
				if !errors.Is(err, txn.ErrExists) {
					t.Errorf("%d, which exists, inserted and deleted: %v", key, err)
				}
			}
			err = cl.Run(0, false, func(tx *txn.Tx) error {
				if _, err := tx.Read(table, 1); !errors.Is(err, txn.ErrNotFound) {
					t.Errorf("a deleted record: %v", err)
				}
				if err := insert(tx, 1, 5); err != nil {
					return err
				}
				for _, key := range both {
					if v, err := tx.GetInt(table, key); v != int64(round) || err != nil {
						t.Errorf("an inserted record reads %d, %v", v, err)
					}
					if err := tx.Delete(table, key); err != nil {
						return err
					}
					if _, err := tx.Read(table, key); !errors.Is(err, txn.ErrNotFound) {
						t.Errorf("own delete reads %v", err)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// gap: no lock of a gap is left, which would be found at rest.
func (c *single) gap(t *testing.T) {
	spec := tens()
	spec.Spare = 8
	c.run(t, spec, func(cl *txn.Client) {
		cl.Run(0, false, func(tx *txn.Tx) error { _, err := tx.Read(table, keys+1); return err })
	})
}
