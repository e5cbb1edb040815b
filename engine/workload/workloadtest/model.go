package workloadtest

import (
	"bytes"
	"testing"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Model has what the rows of a bench should be. A test follows transactions that run one after
// another, changes the rows as the clauses of a standard say, and compares; nothing of the code
// that changes the real ones takes part.
type Model struct {
	T    testing.TB
	Seen map[string]int // how often what came to pass

	bench  workload.Bench
	tables func() []store.Spec
	rows   map[txn.Ref][]byte // those that were looked at
}

// NewModel begins with the population of the tables, which are known once the bench is open.
func NewModel(t testing.TB, b workload.Bench, tables func() []store.Spec) *Model {
	return &Model{T: t, Seen: map[string]int{}, bench: b, tables: tables, rows: map[txn.Ref][]byte{}}
}

// Row is one to look at or to change.
func (m *Model) Row(table uint8, key uint64) []byte {
	ref := txn.Ref{Table: table, Key: key}
	if m.rows[ref] == nil {
		for _, s := range m.tables() {
			if s.ID == table {
				m.rows[ref] = make([]byte, s.ValueBytes)
				if s.Init != nil {
					s.Init(key, m.rows[ref])
				}
			}
		}
	}
	return m.rows[ref]
}

// Only makes the mix one of a single type, whose weight is set first: a mix is never empty.
func (m *Model) Only(typ int) error {
	types := m.bench.Types()
	if err := m.bench.Set("mix."+types[typ], 1); err != nil {
		return err
	}
	for i, name := range types {
		if i == typ {
			continue
		}
		if err := m.bench.Set("mix."+name, 0); err != nil {
			return err
		}
	}
	return nil
}

// Compare looks at all rows that the model or the run has touched. known takes over from a row
// into what it should be what a model cannot know, such as dates.
func (m *Model) Compare(known func(ref txn.Ref, has, want []byte)) {
	m.T.Helper()
	db := m.bench.DB()
	for _, s := range m.tables() {
		db.EachTouched(s.ID, func(key uint64) { m.Row(s.ID, key) })
	}
	for ref, want := range m.rows { // order-free: each row is looked at by itself
		has := make([]byte, len(want))
		db.Value(ref.Table, ref.Key, has)
		known(ref, has, want)
		if !bytes.Equal(has, want) {
			m.T.Errorf("row %d of table %d is\n%v\nand should be\n%v", ref.Key, ref.Table, has, want)
		}
	}
}

// Saw fails the test for what never came to pass.
func (m *Model) Saw(list ...string) {
	m.T.Helper()
	for _, what := range list {
		if m.Seen[what] == 0 {
			m.T.Errorf("it never came to this: %s", what)
		}
	}
}

// Followed is a bench with one client, on machine 0.
type Followed struct {
	workload.Bench
	Client func(c *r2.Co) workload.Runner
}

// Runner is the client, or one that does nothing.
func (f Followed) Runner(c *r2.Co) workload.Runner {
	if c.Machine() == 0 {
		return f.Client(c)
	}
	return idle{}
}

type idle struct{}

func (idle) Next() error { return nil }
