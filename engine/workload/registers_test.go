package workload_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/kv"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// registers is a workload whose values say which version they are, so that it sees what
// a history of versions cannot: a value that does not belong to its version. A register
// counts its updates in every word. Registers of two lines come in pairs that are only
// written together; one that is read alone is read without validation if it has a line to
// itself, see txn's alreadyConsistent, and so are the small ones, of which one in four
// straddles a line.
type registers struct {
	db       *txn.DB
	done     [2][]uint64 // by table and key: updates decided so far
	complain map[string]bool
	alone    int // registers read alone and unharmed
}

const (
	pairs     = 1
	smalls    = 2
	registerN = 12 // of each table
)

func (w *registers) Name() string                 { return "registers" }
func (w *registers) Types() []string              { return []string{"raise", "look"} }
func (w *registers) DB() *txn.DB                  { return w.db }
func (w *registers) Warm(workload.Between) error  { return nil }
func (w *registers) Set(name string, _ any) error { return workload.UnknownParameter(w.Name(), name) }

func (w *registers) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	w.complain = map[string]bool{}
	for i, bytes := range []int{104, 24} {
		w.done[i] = make([]uint64, registerN)
		spec := kv.Spec{ID: uint8(pairs + i), Name: "registers", ValueBytes: bytes, Init: func(uint64, []byte) {}}
		if _, err = w.db.AddTable(spec, kv.Stripes(env.ServerCount(), registerN)); err != nil {
			return err
		}
	}
	return nil
}

// Check has what committed transactions saw.
func (w *registers) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "registers.values", OK: len(w.complain) == 0}
	for text := range w.complain { // order-free: any of them
		inv.Text = text
	}
	row := make([]byte, 16+104)
	for i, done := range w.done {
		for key, want := range done {
			w.db.Row(uint8(pairs+i), uint64(key), row)
			if got := binary.LittleEndian.Uint64(row[16:]); got != want {
				inv.OK, inv.Text = false, fmt.Sprintf("register %d of table %d has the value %d after %d updates", key, pairs+i, got, want)
			}
		}
	}
	return []workload.Invariant{inv}
}

// registerRunner is a client: what its attempt has seen, judged if it commits.
type registerRunner struct {
	w      *registers
	client *txn.Client
	before [2][]uint64 // done when the transaction began
	seen   []registerSeen
}

type registerSeen struct {
	table uint8
	key   uint64
	value uint64
	torn  bool
}

func (w *registers) Runner(c *r2.Co) workload.Runner {
	return &registerRunner{w: w, client: w.db.Client(c)}
}

func (r *registerRunner) Next() error {
	w, rand := r.w, r.client.Co().Rand()
	for i := range w.done {
		r.before[i] = append(r.before[i][:0], w.done[i]...)
	}
	pair, small := rand.Uint64n(registerN)&^1, rand.Uint64n(registerN)
	switch rand.Uint64n(5) {
	case 0:
		return r.run(false, pairs, pair, pair+1)
	case 1:
		return r.run(true, pairs, pair, pair+1)
	case 2:
		return r.run(true, pairs, pair)
	case 3:
		return r.run(false, smalls, small)
	}
	return r.run(true, smalls, small)
}

// run reads or raises registers in one transaction and judges what it saw.
func (r *registerRunner) run(readOnly bool, table uint8, keys ...uint64) error {
	w, body, typ := r.w, r.raise, uint8(0)
	if readOnly {
		body, typ = r.look, 1
	}
	err := r.client.Run(typ, readOnly, func(tx *txn.Tx) error {
		r.seen = r.seen[:0]
		for _, k := range keys {
			if err := body(tx, table, k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range r.seen {
		at := s.table - pairs
		switch {
		case s.torn:
			w.complain["a committed transaction saw a torn value"] = true
		case s.value < r.before[at][s.key]:
			w.complain[fmt.Sprintf("a committed transaction saw value %d of register %d, which was %d when it began", s.value, s.key, r.before[at][s.key])] = true
		}
		if !readOnly {
			w.done[at][s.key]++
		}
	}
	switch n := len(r.seen); {
	case n == 2 && r.seen[0].value != r.seen[1].value:
		w.complain[fmt.Sprintf("a committed transaction saw %d and %d in a pair", r.seen[0].value, r.seen[1].value)] = true
	case n == 1 && readOnly:
		w.alone++
	}
	return nil
}

func (r *registerRunner) look(tx *txn.Tx, table uint8, key uint64) error {
	v, err := tx.Read(table, key)
	if err != nil {
		return err
	}
	s := registerSeen{table: table, key: key, value: binary.LittleEndian.Uint64(v)}
	for i := 8; i < len(v); i += 8 {
		s.torn = s.torn || binary.LittleEndian.Uint64(v[i:]) != s.value
	}
	r.seen = append(r.seen, s)
	return nil
}

func (r *registerRunner) raise(tx *txn.Tx, table uint8, key uint64) error {
	if err := r.look(tx, table, key); err != nil {
		return err
	}
	out, err := tx.Update(table, key)
	if err != nil {
		return err
	}
	for i := 0; i < len(out); i += 8 {
		binary.LittleEndian.PutUint64(out[i:], r.seen[len(r.seen)-1].value+1)
	}
	return nil
}

// TestRegisters: values are those of their versions, of records that are validated and
// of those that need not be.
func TestRegisters(t *testing.T) {
	seeds, commits := uint64(3), uint64(3000)
	if testing.Short() {
		seeds, commits = 1, 1000
	}
	for _, preset := range txn.PresetNames() {
		cfg, _ := txn.Preset(preset)
		for seed := uint64(1); seed <= seeds; seed++ {
			w := &registers{}
			if _, bad := stress(t, cfg, shapes[seed%uint64(len(shapes))], seed, commits, w); len(bad) > 0 {
				t.Fatalf("%s, seed %d: %s", preset, seed, strings.Join(bad, "\n"))
			}
			if w.alone == 0 {
				t.Errorf("%s, seed %d: no register was read alone", preset, seed)
			}
		}
	}
}
