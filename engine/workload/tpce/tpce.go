package tpce

import (
	"cmp"
	"fmt"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Types, in the order of Outcome.Type.
const (
	customerPosition = iota
	tradeOrder
	tradeResult
	securityDetail
	tradeLookup
	tradeStatus
	brokerVolume
	marketFeed
	marketWatch
	tradeUpdate
	numTypes
)

// types has the mix of the standard's clause 6.2.2 in whole per cent, as the DrTM family has it.
var types = []workload.Type{
	customerPosition: {Name: "customer-position", Weight: 13, ReadOnly: true},
	tradeOrder:       {Name: "trade-order", Weight: 10},
	tradeResult:      {Name: "trade-result", Weight: 10},
	securityDetail:   {Name: "security-detail", Weight: 14, ReadOnly: true},
	tradeLookup:      {Name: "trade-lookup", Weight: 8, ReadOnly: true},
	tradeStatus:      {Name: "trade-status", Weight: 19, ReadOnly: true},
	brokerVolume:     {Name: "broker-volume", Weight: 5, ReadOnly: true},
	marketFeed:       {Name: "market-feed", Weight: 1},
	marketWatch:      {Name: "market-watch", Weight: 18, ReadOnly: true},
	tradeUpdate:      {Name: "trade-update", Weight: 2},
}

// Options size the brokerage house. Zero values mean their defaults, which are
// the standard's for a thousand customers but for Trades.
type Options struct {
	// PositionOnly runs customer-position alone, as figure 4-6 does.
	PositionOnly bool

	Customers  int // per machine that holds data, with five accounts each; 1,000: the 5,000 accounts per partition of the DrTM family
	Securities int // per machine; 685
	// Trades is how many trades each account has made before the start; 60. The
	// standard has 3,456.
	Trades int
	// Orders is how many new trades a machine has rows for. A run that needs more
	// ends with an error. They take memory only when used; DefaultOrders.
	Orders int
	// Rollbacks is how many per mille of the trade-orders are rolled back; the
	// standard's 10 unless SetRollbacks.
	SetRollbacks bool
	Rollbacks    int

	// RingBytes of a log ring; 32 KB, a dozen entries.
	RingBytes uint64
	Seed      uint64
}

// DefaultOrders is Options.Orders if not set.
const DefaultOrders = 1 << 17

// Bench is the workload.
type Bench struct {
	*workload.Transactions
	opt Options
	db  *txn.DB

	symmetric bool   // every machine with clients holds data
	servers   uint64 // machines that do
	// Of a machine that holds data.
	customers, accounts, brokers, securities, companies uint64
	initial                                             uint64 // trades of an account at the start
	trades                                              uint64 // rows

	lists    workload.Scatter       // slots of all accounts to securities
	exchange owned.Each[[]exchange] // as a machine's clients know it, by home
	market   r2.External            // tells machines of trades that others have sent
	done     owned.Each[tally]      // of what each machine's clients committed

	byTax, byAccount, bySecurity, held, asked, offered store.OrderedTable
}

// tally is what the clients know to be committed, for Check.
type tally struct {
	ordered, reported, changed uint64
	fed                        []uint64 // quantity by security
}

// committed is what the clients of all machines did.
func (b *Bench) committed() tally {
	all := tally{fed: make([]uint64, b.securities*b.servers)}
	for _, t := range b.done.All() {
		all.ordered, all.reported, all.changed = all.ordered+t.ordered, all.reported+t.reported, all.changed+t.changed
		for s, quantity := range t.fed {
			all.fed[s] += quantity
		}
	}
	return all
}

// New checks the options.
func New(o Options) (*Bench, error) {
	def := func(v *int, by int) {
		if *v == 0 {
			*v = by
		}
	}
	def(&o.Customers, 1_000)
	def(&o.Securities, 685)
	def(&o.Trades, 60)
	def(&o.Orders, DefaultOrders)
	if !o.SetRollbacks {
		o.Rollbacks = 10
	}
	if o.RingBytes == 0 {
		o.RingBytes = 32 << 10
	}
	for _, x := range []struct {
		name       string
		v, low, up int
	}{
		{"customers", o.Customers, 4, 100_000}, {"securities", o.Securities, LeastSecurities, 100_000}, {"trades", o.Trades, 1, 3456},
		{"orders", o.Orders, 1, 1 << 20}, {"rollbacks", o.Rollbacks, 0, 1000},
	} {
		if x.v < x.low || x.v > x.up {
			return nil, fmt.Errorf("tpce with %s %d: from %d to %d", x.name, x.v, x.low, x.up)
		}
	}
	if n := o.Customers * o.Trades; n > MostTrades {
		return nil, fmt.Errorf("tpce with %d customers per machine and %d trades of each account: their product is at most %d", o.Customers, o.Trades, MostTrades)
	}
	b := &Bench{opt: o}
	list := types
	if o.PositionOnly {
		list = types[:1]
	}
	var err error
	b.Transactions, err = workload.NewTransactions(list)
	return b, err
}

const (
	// LeastSecurities of a machine are enough for an account's list.
	LeastSecurities = listed
	// MostTrades bounds customers times trades of an account: the rows of a trade
	// and their replicas take some 4 KB of a machine's 256 GB of addresses.
	MostTrades = 5_000_000
)

// Name is the value of the knob workload that chooses it.
func (b *Bench) Name() string {
	if b.opt.PositionOnly {
		return "tpce-cp"
	}
	return "tpce"
}

// CanShow are the anomalies that the transactions can have, as engine's TestCanShow finds them: all but
// G1b, for a transaction puts one version of a record in place. customer-position alone has none, for
// it writes nothing.
func (b *Bench) CanShow() []string {
	if b.opt.PositionOnly {
		return []string{}
	}
	return []string{history.G0, history.G1a, history.G1c, history.LostUpdate, history.GSingle, history.G2, history.WriteSkew}
}

// DB is the database.
func (b *Bench) DB() *txn.DB { return b.db }

// Open creates the tables.
func (b *Bench) Open(env workload.Env) (err error) {
	o := b.opt
	b.symmetric = env.Symmetric()
	b.size(env.ServerCount())
	b.lists = workload.NewScatter(b.securities * b.servers)
	b.openExchanges(env)
	b.done = owned.New(env.Cluster.Machines(), func(int) tally { return tally{fed: make([]uint64, b.securities*b.servers)} })
	if env.Log.Bytes == 0 {
		env.Log.Bytes = o.RingBytes
	}
	if b.db, err = env.OpenDB(txn.Costs{}); err != nil { // Table 4-2 has none
		return err
	}
	for _, t := range b.specs() {
		t.Seed, t.Fixed = o.Seed+uint64(t.ID), true
		if _, err = b.db.AddTable(t.Spec, store.Blocks(int(b.servers), b.servers*t.rows)); err != nil {
			return err
		}
	}
	if err := b.openIndexes(env); err != nil {
		return err
	}
	b.market = env.Cluster.External("tpce.market", func(trade uint32) { // behind the other rooms' events, whose numbers are part of every run's digest
		home := uint64(trade) / b.trades
		(*b.exchange.Of(int(home)))[home].send(uint64(trade))
	})
	return nil
}

// openExchanges divides a machine's rows for new trades among the machines whose clients place orders for its customers: their own
// machine alone, if it has clients.
func (b *Bench) openExchanges(env workload.Env) {
	b.exchange = owned.New(env.Cluster.Machines(), func(int) []exchange { return make([]exchange, b.servers) })
	clients := env.Clients()
	for i, m := range clients {
		for home := range *b.exchange.Of(m) {
			x := &(*b.exchange.Of(m))[home]
			if x.next, x.step = b.accounts*b.initial, 1; !b.symmetric {
				x.next, x.step = x.next+uint64(i), uint64(len(clients))
			}
		}
	}
}

// size takes the numbers of a machine from the options.
func (b *Bench) size(servers int) {
	b.servers = uint64(servers)
	b.customers, b.securities = uint64(b.opt.Customers), uint64(b.opt.Securities)
	b.accounts, b.brokers = b.customers*accountsOf, max(1, b.customers/customersOf)
	b.companies = max(competitorsOf+1, b.securities*500/685)
	b.initial = uint64(b.opt.Trades)
	b.trades = b.accounts*b.initial + uint64(b.opt.Orders)
}

// Population is how many rows a machine has, how many of them location caches may
// have, and the bytes of all with their headers, and of one old version each of those that updates change.
func Population(o Options) (rows, cached, bytes, old int64, err error) {
	b, err := New(o)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	b.symmetric = true
	b.size(1)
	for _, t := range b.specs() {
		rows += int64(t.rows)
		bytes += int64(t.rows) * int64(record.LockSeq.Bytes+t.ValueBytes)
		if !t.Local {
			cached += int64(t.rows)
		}
		if !t.Constant {
			old += int64(t.rows) * int64(record.SlotBytes(cmp.Or(t.Mutable, t.ValueBytes)))
		}
	}
	return rows, cached, bytes, old, nil
}

func (b *Bench) bits(table, key uint64) workload.Bits {
	return workload.NewBits(b.opt.Seed, table, key)
}

// Warm fills the location caches, the prices first, and brings what most
// transactions read into the LLCs.
func (b *Bench) Warm(between workload.Between) error {
	if b.db.Common().CacheEnabled {
		err := workload.WarmCaches(b.db, func(table uint8, _ uint64) bool { return table == LastTrade || table == Security }, nil, between)
		if err != nil {
			return err
		}
	}
	prices, accounts := b.securities*b.servers, b.accounts*b.servers
	return workload.WarmMemory(b.db, 2*prices+accounts, func(i uint64) (uint8, uint64) {
		switch {
		case i < prices:
			return LastTrade, i
		case i < 2*prices:
			return Security, i - prices
		}
		return Account, i - 2*prices
	}, between)
}

// Set changes the share of rollbacks or a weight of the mix.
func (b *Bench) Set(name string, value any) error {
	if handled, err := b.SetMix(name, value); handled {
		return err
	}
	if name != "rollbacks" {
		return workload.UnknownParameter(b.Name(), name)
	}
	n, ok := value.(int)
	if !ok || n < 0 || n > 1000 {
		return fmt.Errorf("workload.rollbacks %v: per mille, from 0 to 1000", value)
	}
	b.opt.Rollbacks = n
	return nil
}

// exchange is the market, as far as the trades of a machine's accounts go that clients of one machine ask for: what
// the standard's emulator of it keeps. It is no part of the system, and its
// messages are free.
type exchange struct {
	next  uint64   // row of the next new trade
	step  uint64   // to the one behind it
	sent  []uint64 // trades that wait for their result
	first int      // of those
}

func (x *exchange) send(trade uint64) { x.sent = append(x.sent, trade) }

// result takes the trade that has waited longest.
func (x *exchange) result() (trade uint64, ok bool) {
	if x.first == len(x.sent) {
		return 0, false
	}
	trade = x.sent[x.first]
	x.first++
	if x.first*2 > len(x.sent) { // so that the list does not grow for ever
		n := copy(x.sent, x.sent[x.first:])
		x.sent, x.first = x.sent[:n], 0
	}
	return trade, true
}

// number takes a row for a new trade.
func (x *exchange) number() uint64 {
	n := x.next
	x.next += x.step
	return n
}

// home is the machine whose customers call next: the client's own, or any if
// clients have none.
func (b *Bench) home(c *r2.Co) uint64 {
	if b.symmetric {
		return uint64(c.Machine())
	}
	return c.Rand().Uint64n(b.servers)
}
