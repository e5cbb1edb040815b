// Package churn is a workload whose records come and go: transactions insert, delete, read what is not there, and
// insert again, on a key space so small that rows are reused while others remember their locations.
//
// Tokens sit in slots, which come in pairs. A slot is a key: if a token sits there, its record exists. Transactions
// move a token from one pair to another, take one out or put one back, count in the record of a token, and read.
// A token goes only to a pair of which both slots are empty, and a transaction fills either of the two, so that two
// transactions that each see an empty pair may fill different slots: write skew over records that do not exist.
//
// What has to hold: every token is in exactly one place, a pair has one token at most, a record says in which slot it
// is, and its count is that of the transactions that committed. A row that is lost, has two owners or is read under
// another key's name breaks one of these.
//
// Half of the pairs have a token at the start, in their first slots: of keys that were there from the start, and of keys
// that were not.
package churn

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Table is the number of the only table.
const Table = 1

// Types of transactions.
const (
	move = iota
	remove
	put
	count
	look
	lookOne
)

// Types are the transactions and their default weights.
var Types = []workload.Type{
	{Name: "move", Weight: 40},
	{Name: "take", Weight: 10},
	{Name: "put", Weight: 10},
	{Name: "count", Weight: 15},
	{Name: "look", Weight: 15, ReadOnly: true},
	{Name: "look-one", Weight: 10, ReadOnly: true},
}

// Limits of the options.
const (
	LeastKeys  = 8 // two pairs with a token and two without
	MostKeys   = 10_000_000
	LeastBytes = 24
	spare      = 1 << 16 // rows of a socket beyond one for each token: of inserts under way, and of rows used up
)

// Options size the workload.
type Options struct {
	Keys       uint64 // slots, a multiple of 4; 0: 400
	ValueBytes int    // of a record, a multiple of 8; 0: 24
	Seed       uint64
}

// Churn is the workload.
type Churn struct {
	*workload.Transactions
	opt     Options
	db      *txn.DB
	pairs   uint64
	counts  workload.Tally // by token: transactions that committed and wrote it
	clients owned.Each[clients]
}

// clients are those of a machine.
type clients struct {
	runners []*runner

	// Of their transactions that committed.
	foreign string // the first record that did not say in which slot it is, or was torn
	doubled string // the first pair that had two tokens
}

// New checks the options.
func New(o Options) (*Churn, error) {
	if o.Keys == 0 {
		o.Keys = 400
	}
	if o.ValueBytes == 0 {
		o.ValueBytes = LeastBytes
	}
	switch {
	case o.Keys < LeastKeys || o.Keys > MostKeys || o.Keys%4 != 0:
		return nil, fmt.Errorf("churn with %d keys: a multiple of 4 from %d to %d", o.Keys, LeastKeys, MostKeys)
	case o.ValueBytes < LeastBytes || o.ValueBytes%8 != 0:
		return nil, fmt.Errorf("churn with records of %d bytes: a multiple of 8, at least %d", o.ValueBytes, LeastBytes)
	}
	w := &Churn{opt: o, pairs: o.Keys / 2}
	var err error
	w.Transactions, err = workload.NewTransactions(Types)
	return w, err
}

// Name is the value of the knob workload that chooses it.
func (w *Churn) Name() string { return "churn" }

// DB is the database.
func (w *Churn) DB() *txn.DB { return w.db }

// slot is the key of one of a pair's two slots.
func (w *Churn) slot(pair, which uint64) uint64 { return pair + which*w.pairs }

// tokens is how many there are: at the start in the first slots of as many pairs.
func (w *Churn) tokens() uint64 { return w.pairs / 2 }

// Open creates the table, the slots dealt to the servers in turn.
func (w *Churn) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	w.counts.Open(env.Cluster.Machines(), w.tokens())
	w.clients = owned.New[clients](env.Cluster.Machines(), nil)
	_, err = w.db.AddTable(store.Spec{
		ID: Table, Name: "slot", ValueBytes: w.opt.ValueBytes, AlignLong: true,
		Init: func(key uint64, v []byte) { write(v, key, key, 0) }, Spare: w.tokens() + spare, Seed: w.opt.Seed,
	}, w.partition(uint64(env.ServerCount())))
	return err
}

// partition deals the slots to the servers in turn, those first that have a token at the start.
func (w *Churn) partition(servers uint64) store.Partition {
	return store.Growing{All: store.Stripes(int(servers), w.opt.Keys), Initial: func(server int) (from, n uint64) {
		return 0, (w.tokens() + servers - 1 - uint64(server)) / servers
	}}
}

// Warm fills the location caches.
func (w *Churn) Warm(between workload.Between) error {
	return workload.WarmCaches(w.db, nil, nil, between)
}

// CanShow are the anomalies that the transactions can have.
func (w *Churn) CanShow() []string {
	return []string{history.G0, history.G1a, history.G1c, history.LostUpdate, history.GSingle, history.G2, history.WriteSkew}
}

// Set changes a weight of the mix.
func (w *Churn) Set(name string, value any) error {
	if handled, err := w.SetMix(name, value); handled {
		return err
	}
	return workload.UnknownParameter(w.Name(), name)
}

// A record is its slot and its token, each plus 1, and the count in all words that are left.

func write(v []byte, slot, token, count uint64) {
	binary.LittleEndian.PutUint64(v, slot+1)
	binary.LittleEndian.PutUint64(v[8:], token+1)
	for i := 16; i < len(v); i += 8 {
		binary.LittleEndian.PutUint64(v[i:], count)
	}
}

// read takes a record apart. whole is false if it is not of that slot or its words differ.
func read(v []byte, slot uint64) (token, count uint64, whole bool) {
	token, count = binary.LittleEndian.Uint64(v[8:])-1, binary.LittleEndian.Uint64(v[16:])
	whole = binary.LittleEndian.Uint64(v) == slot+1
	for i := 24; i < len(v); i += 8 {
		whole = whole && binary.LittleEndian.Uint64(v[i:]) == count
	}
	return token, count, whole
}

// Check looks where every token is. Transactions that a user added may write anything: with them nothing is judged.
func (w *Churn) Check() []workload.Invariant {
	w.Merge(math.MaxInt64)
	list := w.CheckOnline()
	if list == nil {
		return nil
	}
	inv := workload.Invariant{Name: "churn.tokens", OK: true, Rule: "every token is in one place, with the count of the transactions that wrote it"}
	bad := func(format string, args ...any) {
		if inv.OK {
			inv.OK, inv.Text = false, fmt.Sprintf(format, args...)
		}
	}
	at := make([]string, w.tokens())
	found := func(token, count uint64, where string) {
		switch {
		case token >= w.tokens():
			bad("%s has token %d, there are %d", where, token, w.tokens())
		case at[token] != "":
			bad("token %d is in %s and in %s", token, at[token], where)
		case count != w.counts.Of(token):
			bad("token %d in %s has count %d after %d writes", token, where, count, w.counts.Of(token))
		default:
			at[token] = where
		}
	}
	value := make([]byte, w.opt.ValueBytes)
	for slot := range w.opt.Keys {
		if _, ok := w.db.Value(Table, slot, value); !ok {
			continue
		}
		token, count, whole := read(value, slot)
		if !whole {
			bad("slot %d has the record of another one: %x", slot, value)
		}
		found(token, count, fmt.Sprintf("slot %d", slot))
	}
	for m, x := range w.clients.All() {
		for i, r := range x.runners {
			for _, t := range r.pocket {
				found(t.token, t.count, fmt.Sprintf("the hands of client %d of machine %d", i, m))
			}
		}
	}
	for token, where := range at {
		if where == "" {
			bad("token %d is lost", token)
		}
	}
	return append(list, inv)
}

// Merge adds up what machines have counted.
func (w *Churn) Merge(r2.Time) { w.counts.Sum() }

// CheckOnline has what committed transactions saw by now.
func (w *Churn) CheckOnline() []workload.Invariant {
	if w.Added() {
		return nil
	}
	foreign, doubled := "", ""
	for _, x := range w.clients.All() {
		foreign, doubled = cmp.Or(foreign, x.foreign), cmp.Or(doubled, x.doubled)
	}
	return []workload.Invariant{
		{Name: "churn.whole", OK: foreign == "", Rule: "no transaction that committed saw the record of another slot, or parts of two versions", Text: foreign},
		{Name: "churn.pairs", Needs: history.Serializable, OK: doubled == "", Rule: "no transaction that committed saw two tokens in a pair", Text: doubled},
	}
}
