package workload_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"drtmx/engine/history"
	"drtmx/engine/protocol/nowait"
	"drtmx/engine/protocol/occ"
	"drtmx/engine/protocol/rococo"
	"drtmx/engine/protocol/twopl"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// booth is a workload in pieces: a transaction takes the next number of a booth, which it needs to go on, leaves a ticket with
// that number, and counts in two cells. What a request draws follows from its number alone.
type booth struct {
	*workload.Transactions
	db   *txn.DB
	said []uint64 // what the pieces gave back, in the order of the commits
	left uint64   // requests
}

const (
	boothTable, ticketTable, cellTable = 1, 2, 3

	booths, cells3 = 3, 8
	ticketsOfBooth = 1 << 10
)

var (
	nextTicket = txn.NewOp(txn.Op{Name: "booth.next", Output: 8, Immediate: true, Writes: true, F: func(v, _, output []byte) {
		copy(output, v[:8])
		add8(v, 1)
	}})
	leaveTicket = txn.NewOp(txn.Op{Name: "booth.leave", Inserts: true, F: func(v, input, _ []byte) { copy(v, input) }})
	countCell   = txn.NewOp(txn.Op{Name: "booth.count", Output: 16, Writes: true, F: func(v, input, output []byte) {
		if n := u8(v); n%2 == 1 { // of what is even nothing is said
			put8(output, n)
		}
		copy(output[8:], v[16:]) // what nobody writes
		add8(v, u8(input))
	}})
	seeCell = txn.NewOp(txn.Op{Name: "booth.see", Output: 8, F: func(v, _, output []byte) { copy(output, v[:8]) }})
)

func u8(b []byte) uint64      { return binary.LittleEndian.Uint64(b) }
func put8(b []byte, n uint64) { binary.LittleEndian.PutUint64(b, n) }
func add8(b []byte, n uint64) { put8(b, u8(b)+n) }

func newBooth(t testing.TB, requests uint64) *booth {
	x, err := workload.NewTransactions([]workload.Type{{Name: "ticket", Weight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return &booth{Transactions: x, left: requests}
}

func (w *booth) Name() string                        { return "booth" }
func (w *booth) DB() *txn.DB                         { return w.db }
func (w *booth) Warm(between workload.Between) error { return nil }
func (w *booth) Set(name string, value any) error    { return workload.UnknownParameter("booth", name) }
func (w *booth) Runner(c *r2.Co) workload.Runner     { return &boothClient{w: w, client: w.db.Client(c)} }

func (w *booth) Open(env workload.Env) (err error) {
	if w.db, err = env.OpenDB(txn.Costs{}); err != nil {
		return err
	}
	n := env.ServerCount()
	if _, err = w.db.AddTable(store.Spec{ID: boothTable, Name: "booth", ValueBytes: 8, Fixed: true}, store.Stripes(n, booths)); err != nil {
		return err
	}
	none := store.Growing{All: store.Stripes(n, booths*ticketsOfBooth), Initial: func(int) (from, n uint64) { return 0, 0 }}
	if _, err = w.db.AddTable(store.Spec{ID: ticketTable, Name: "ticket", ValueBytes: 16, Spare: booths * ticketsOfBooth}, none); err != nil {
		return err
	}
	_, err = w.db.AddTable(store.Spec{ID: cellTable, Name: "cell", ValueBytes: 24, Mutable: 16, Fixed: true, Init: func(key uint64, v []byte) { put8(v[16:], 7*key+1) }}, store.Stripes(n, cells3))
	return err
}

type boothClient struct {
	w      *booth
	client *txn.Client
	outs   [][]byte
}

// Next runs one transaction, until all requests are done.
func (r *boothClient) Next() error {
	if r.w.left == 0 {
		r.client.Co().Sleep(1_000_000)
		return nil
	}
	r.w.left--
	draw := (r.w.left + 1) * 0x9e3779b97f4a7c15 >> 20
	err := r.client.Run(0, false, func(tx *txn.Tx) error { return r.ticket(tx, draw) })
	for _, out := range r.outs {
		for ; len(out) > 0; out = out[8:] {
			r.w.said = append(r.w.said, u8(out))
		}
	}
	return err
}

func (r *boothClient) ticket(tx *txn.Tx, draw uint64) error {
	r.outs = r.outs[:0]
	which := draw % booths
	a, b, c := draw/3%cells3, draw/31%cells3, draw/307%cells3
	number, err := r.apply(tx, boothTable, which, nextTicket, nil)
	if err != nil {
		return err
	}
	if _, err = r.apply(tx, cellTable, c, seeCell, nil); err != nil {
		return err
	}
	if err = tx.Step(); err != nil {
		return err
	}
	var ticket [16]byte
	put8(ticket[:], draw)
	put8(ticket[8:], draw^u8(number))
	if _, err = r.apply(tx, ticketTable, which*ticketsOfBooth+u8(number), leaveTicket, ticket[:]); err != nil {
		return err
	}
	var one [8]byte
	put8(one[:], 1+draw%5)
	for _, key := range []uint64{a, b} { // they may be one
		if _, err = r.apply(tx, cellTable, key, countCell, one[:]); err != nil {
			return err
		}
	}
	return nil
}

func (r *boothClient) apply(tx *txn.Tx, table uint8, key uint64, op *txn.Op, input []byte) ([]byte, error) {
	out, err := tx.Apply(table, key, op, input)
	r.outs = append(r.outs, out)
	return out, err
}

// Check is that a booth gave each number once, and that its ticket is there.
func (w *booth) Check() []workload.Invariant {
	inv := workload.Invariant{Name: "booth", OK: true, Rule: "each number has its ticket, and no other has one"}
	value, ticket := make([]byte, 8), make([]byte, 16)
	for which := range uint64(booths) {
		w.db.Value(boothTable, which, value)
		for n := range u8(value) + 3 {
			_, ok := w.db.Value(ticketTable, which*ticketsOfBooth+n, ticket)
			if ok != (n < u8(value)) || ok && u8(ticket)^u8(ticket[8:]) != n {
				inv.OK, inv.Text = false, fmt.Sprintf("booth %d is at %d, ticket %d: there %v, %v", which, u8(value), n, ok, ticket)
			}
		}
	}
	return []workload.Invariant{inv}
}

// result is what does not depend on the order of transactions that meet: where the booths and the cells are, and the
// sum of what the tickets say.
func (w *booth) result() (out []uint64) {
	value, ticket, sum := make([]byte, 24), make([]byte, 16), uint64(0)
	for which := range uint64(booths) {
		w.db.Value(boothTable, which, value[:8])
		out = append(out, u8(value))
		for n := range u8(value) {
			w.db.Value(ticketTable, which*ticketsOfBooth+n, ticket)
			sum += u8(ticket)
		}
	}
	for key := range uint64(cells3) {
		w.db.Value(cellTable, key, value)
		out = append(out, u8(value), u8(value[8:]), u8(value[16:]))
	}
	return append(out, sum)
}

// underPieces are the protocols that pieces run under.
func underPieces() map[string]txn.Config {
	list := map[string]txn.Config{"rococo": rococo.Default(), "rococo dst": dated()}
	for _, name := range occ.PresetNames() {
		list[name], _ = occ.Preset(name)
	}
	for _, replicas := range []int{1, 3} {
		for _, mode := range []nowait.Mode{nowait.Exclusive, nowait.Shared} {
			c := nowait.Default()
			c.Mode, c.Replicas, c.BackoffMaxNS = mode, replicas, 1_000_000
			list[fmt.Sprintf("nowait %v %d", mode, replicas)] = c
		}
		for _, d := range []twopl.Deadlock{twopl.Timeout, twopl.WaitDie} {
			c := twopl.Default()
			c.Deadlock, c.Replicas, c.TimeoutNS, c.BackoffMaxNS = d, replicas, 200_000, 2_000_000
			list[fmt.Sprintf("2pl %v %d", d, replicas)] = c
		}
	}
	c, _ := occ.Preset("fasst")
	c.Timestamps = dated().Timestamps
	list["fasst dst"] = c
	q := twopl.Default()
	q.TimeoutNS, q.BackoffMaxNS, q.Timestamps = 200_000, 2_000_000, c.Timestamps
	list["2pl dst"] = q
	return list
}

// TestPieces: transactions in pieces, immediate ones and others, have the same result under all protocols: one after the
// other what each piece says, many at a time what all of them leave, and then their history has an order.
func TestPieces(t *testing.T) {
	requests := uint64(300)
	if testing.Short() {
		requests = 120
	}
	run := func(name string, o workloadtest.Setup) (said, result []uint64) {
		w := newBooth(t, requests)
		b := workloadtest.New(t, o, w)
		defer b.Close()
		if bad := b.Stress(requests); len(bad) > 0 {
			t.Fatalf("%s:\n%s", name, strings.Join(bad, "\n"))
		}
		return w.said, w.result()
	}
	var said, alone, together []uint64
	for name, cfg := range underPieces() { // order-free: all are compared with the same
		one := workloadtest.Setup{Machines: 4, Servers: 3, Threads: 1, Coroutines: 1, Seed: 5, Txn: cfg, Mode: history.Full} // the client has no data
		gotSaid, got := run(name, one)
		if said == nil {
			said, alone = gotSaid, got
		}
		if fmt.Sprint(gotSaid) != fmt.Sprint(said) || fmt.Sprint(got) != fmt.Sprint(alone) {
			t.Errorf("%s: one after the other\n%v\n%v\nwant\n%v\n%v", name, gotSaid, got, said, alone)
		}
		_, got = run(name, workloadtest.Small(cfg))
		if together == nil {
			together = got
		}
		if fmt.Sprint(got) != fmt.Sprint(together) {
			t.Errorf("%s: many at a time\n%v\nwant\n%v", name, got, together)
		}
	}
}
