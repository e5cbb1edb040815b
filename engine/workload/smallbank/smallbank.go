package smallbank

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Table numbers.
const (
	Savings  = 1
	Checking = 2
)

// Types, in the order of Outcome.Type.
const (
	amalgamate = iota
	balance
	depositChecking
	sendPayment
	transactSavings
	writeCheck
)

// types has the weights of the DrTM family, per cent.
var types = []workload.Type{
	{Name: "amalgamate", Weight: 15},
	{Name: "balance", Weight: 15, ReadOnly: true},
	{Name: "deposit-checking", Weight: 15},
	{Name: "send-payment", Weight: 25},
	{Name: "transact-savings", Weight: 15},
	{Name: "write-check", Weight: 15},
}

// Costs are the handler times and payloads of Table 4-2.
var Costs = txn.Costs{
	Execution: 678, Validation: 185, Logging: 134, Commit: 87,
	Payload: txn.Payload{Execution: 71, Validation: 105, Logging: 149, Commit: 20},
}

// Options size the bank. Zero values mean their defaults.
type Options struct {
	Accounts    int     // customers per server thread; 100,000 in §4.3
	Customers   uint64  // in total; overrides Accounts
	HotPermille int     // share of the customers that are hot; 40 in §4.3
	HotPercent  int     // share of the transactions on hot customers; 90 in §4.3
	Theta       float64 // zipfian constant in place of the hot set, 0: hot set
	Local       float64 // share of the transactions on customers of the client's own machine, if it holds any
	Seed        uint64
}

// Bank is the workload.
type Bank struct {
	*workload.Transactions
	opt       Options
	db        *txn.DB
	customers uint64
	hot       workload.HotSet
	popular   workload.Popularity // in place of the hot set while it is on
	owners    store.Partition
	local     uint64            // Options.Local in workload.ShareUnit
	deposited owned.Each[int64] // by committed transactions, withdrawals negative
}

// New checks the options.
func New(o Options) (*Bank, error) {
	if o.Accounts == 0 {
		o.Accounts = 100_000
	}
	if o.HotPermille == 0 {
		o.HotPermille = 40
	}
	if o.HotPercent == 0 {
		o.HotPercent = 90
	}
	if o.Accounts < 0 || o.HotPercent < 0 || o.HotPercent > 100 {
		return nil, fmt.Errorf("smallbank with %d accounts per thread and %d %% of transactions on hot ones: at least 1 and from 0 to 100", o.Accounts, o.HotPercent)
	}
	if o.Local < 0 || o.Local > 1 {
		return nil, fmt.Errorf("smallbank with a share of %g of its transactions on customers of their own machine: from 0 to 1", o.Local)
	}
	b := &Bank{opt: o, local: workload.ShareUnits(o.Local)}
	var err error
	b.Transactions, err = workload.NewTransactions(types)
	return b, err
}

// Name is the value of the knob workload that chooses it.
func (b *Bank) Name() string { return "smallbank" }

// DB is the database.
func (b *Bank) DB() *txn.DB { return b.db }

// Customers is their number.
func (b *Bank) Customers() uint64 { return b.customers }

// Open creates the two tables.
func (b *Bank) Open(env workload.Env) (err error) {
	servers := env.ServerCount()
	b.deposited = owned.New[int64](env.Cluster.Machines(), nil)
	b.customers = b.opt.Customers
	if b.customers == 0 {
		for m := range servers {
			b.customers += uint64(b.opt.Accounts) * uint64(env.Cluster.Threads(m))
		}
	}
	if b.customers < 2 {
		return fmt.Errorf("smallbank with %d customers: at least 2", b.customers)
	}
	if b.hot, err = workload.NewHotSet(b.customers, b.opt.HotPermille); err != nil {
		return err
	}
	if b.popular, err = workload.NewPopularity(b.customers, b.opt.Theta); err != nil {
		return err
	}
	if b.db, err = env.OpenDB(Costs); err != nil {
		return err
	}
	b.owners = store.Blocks(servers, b.customers)
	for _, t := range []store.Spec{
		{ID: Savings, Name: "savings", ValueBytes: 8, Init: b.initial(Savings), Fixed: true, Seed: b.opt.Seed + Savings},
		{ID: Checking, Name: "checking", ValueBytes: 8, Init: b.initial(Checking), Fixed: true, Seed: b.opt.Seed + Checking},
	} {
		if _, err = b.db.AddTable(t, b.owners); err != nil {
			return err
		}
	}
	return nil
}

// CanShow are the anomalies that SmallBank can have. balance and write-check read an account that they do not
// write, hence read skew, and G2 of three: balance sees what transact-savings wrote, not what a write-check
// wrote that did not see it. Write skew it cannot have: of the two accounts of a customer no transaction reads
// checking and writes savings alone.
func (b *Bank) CanShow() []string {
	return []string{history.G0, history.G1a, history.G1c, history.LostUpdate, history.GSingle, history.G2}
}

// Warm fills the location caches and brings the most popular accounts into the LLCs.
func (b *Bank) Warm(between workload.Between) (err error) {
	popular, n := b.hot.At, b.hot.Hot()
	switch {
	case b.popular.Skewed():
		var caches workload.Between
		caches, between = between.Halves()
		popular = b.popular.At
		err = workload.WarmCaches(b.db, nil, func(r *r2.Rand) (uint8, uint64) { return uint8(Savings + r.Uint64n(2)), b.one(r, anywhere) }, caches)
	case 10*b.opt.HotPercent <= b.opt.HotPermille: // hot in name only
		popular, n = b.popular.At, b.customers
		err = workload.WarmCaches(b.db, nil, nil, between)
	default:
		err = workload.WarmCaches(b.db, func(_ uint8, key uint64) bool { return b.hot.IsHot(key) }, nil, between)
	}
	if err != nil {
		return err
	}
	return workload.WarmMemory(b.db, 2*n, func(i uint64) (uint8, uint64) {
		return uint8(Savings + i%2), popular(i / 2)
	}, between)
}

// Set changes theta, hot, distributed or a weight of the mix.
func (b *Bank) Set(name string, value any) error {
	if handled, err := b.SetMix(name, value); handled {
		return err
	}
	switch name {
	case "theta":
		return b.popular.Set(value)
	case "hot":
		n, ok := value.(int)
		if !ok || n < 0 || n > 100 {
			return fmt.Errorf("workload.hot %v: per cent of the transactions on hot accounts, from 0 to 100", value)
		}
		b.opt.HotPercent = n
		return nil
	case "distributed":
		share, ok := value.(float64)
		if !ok || !(share >= 0 && share <= 1) {
			return fmt.Errorf("workload.distributed %v: a share from 0 to 1", value)
		}
		b.local = workload.ShareUnit - workload.ShareUnits(share)
		return nil
	}
	return workload.UnknownParameter(b.Name(), name)
}

// anywhere is no machine: customers of all.
const anywhere = -1

// home is the machine whose customers a transaction takes: a client's own machine, for a share of its transactions, else anywhere.
func (b *Bank) home(own int, r *r2.Rand) int {
	if b.local == 0 || own == anywhere || r.Uint64n(workload.ShareUnit) >= b.local {
		return anywhere
	}
	return own
}

// homeOf is a machine if two customers are on it at least, else anywhere.
func (b *Bank) homeOf(machine int) int {
	if machine >= b.owners.Servers() || b.owners.Count(machine) < 2 {
		return anywhere
	}
	return machine
}

// on draws until a customer comes that is on a machine. Where none comes for long, as if no hot one is there, it is any that is there.
func (b *Bank) on(home int, r *r2.Rand, draw func(r *r2.Rand) uint64) uint64 {
	x := draw(r)
	if home == anywhere {
		return x
	}
	for tries := 100 * b.owners.Servers(); b.owners.Primary(x) != home; tries-- {
		if tries == 0 {
			return b.owners.Key(home, r.Uint64n(b.owners.Count(home)))
		}
		x = draw(r)
	}
	return x
}

// one draws a customer of a machine, or of all.
func (b *Bank) one(r *r2.Rand, home int) uint64 { return b.on(home, r, b.any) }

// any draws one of all customers.
func (b *Bank) any(r *r2.Rand) uint64 {
	if b.popular.Skewed() {
		return b.popular.Draw(r)
	}
	if int(r.Uint64n(100)) < b.opt.HotPercent {
		return b.hot.DrawHot(r)
	}
	return b.hot.DrawCold(r)
}

// two draws two different customers of a machine, or of all, both hot or both not. Of a kind that has one
// alone no two can come: they come of the other kind, or of all.
func (b *Bank) two(r *r2.Rand, home int) (x, y uint64) {
	if b.popular.Skewed() {
		return b.different(r, home, b.popular.Draw)
	}
	cold := b.customers - b.hot.Hot()
	draw := b.hot.DrawCold
	switch hot := int(r.Uint64n(100)) < b.opt.HotPercent; {
	case b.hot.Hot() > 1 && (hot || cold == 1):
		draw = b.hot.DrawHot
	case cold == 1: // and one is hot
		draw = func(r *r2.Rand) uint64 { return r.Uint64n(b.customers) }
	}
	return b.different(r, home, draw)
}

// different draws two different customers. Where a machine has one alone of those that are drawn, the other is any that is there.
func (b *Bank) different(r *r2.Rand, home int, draw func(r *r2.Rand) uint64) (x, y uint64) {
	x = b.on(home, r, draw)
	for tries := 100; ; tries-- {
		if y = b.on(home, r, draw); y != x {
			return x, y
		}
		if home != anywhere && tries <= 0 {
			draw = func(r *r2.Rand) uint64 { return b.owners.Key(home, r.Uint64n(b.owners.Count(home))) }
		}
	}
}

// Check compares the money in the bank with what was there at the start and
// came in since. It makes sense after a drain.
func (b *Bank) Check() []workload.Invariant {
	var change int64
	value := make([]byte, 8)
	for _, t := range []uint8{Savings, Checking} {
		b.db.EachTouched(t, func(key uint64) {
			b.db.Value(t, key, value)
			change += int64(binary.LittleEndian.Uint64(value)) - b.initialCents(t, key)
		})
	}
	brought := owned.Sum(&b.deposited)
	inv := workload.Invariant{Name: "smallbank.total", OK: change == brought, Rule: "all balances together change by what committed transactions paid in and took out"}
	if !inv.OK {
		inv.Text = fmt.Sprintf("the balances changed by %d cents, committed transactions brought %d", change, brought)
	}
	return []workload.Invariant{inv}
}
