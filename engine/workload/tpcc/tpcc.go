package tpcc

import (
	"fmt"
	"slices"

	"drtmx/engine/history"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Types, in the order of Outcome.Type.
const (
	newOrder = iota
	payment
	orderStatus
	delivery
	stockLevel
	numTypes
)

// types has the standard's minimum shares, new-order what they leave (clause 5.2.3).
var types = []workload.Type{
	{Name: "new-order", Weight: 45},
	{Name: "payment", Weight: 43},
	{Name: "order-status", Weight: 4, ReadOnly: true},
	{Name: "delivery", Weight: 4},
	{Name: "stock-level", Weight: 4, ReadOnly: true},
}

// Costs are the handler times and payloads of Table 4-2, but for the log
// entries', which come to about its 1,006 bytes by themselves.
var Costs = txn.Costs{
	Execution: 342, Validation: 454, Logging: 363, Commit: 108,
	Payload: txn.Payload{Execution: 68, Validation: 157, Commit: 34},
}

// DefaultOrders is Options.Orders if not set.
const DefaultOrders = 8_192

// Districts of a warehouse: the standard's number, and the most that there may be.
const (
	StandardDistricts = 10
	MostDistricts     = 100 // a row has a byte for their number

	// MostStockDistricts is how many districts a stock-level can look at, whose transaction has each one's row, the lines of its last
	// orders, and a stock record for each line.
	MostStockDistricts = txn.MostRecords / (1 + 2*lastOrders*maxLines)
)

// The smallest populations that the transactions find their records in.
const (
	LeastCustomers = 10 // of a district
	LeastItems     = 20
)

// Options size the company. Zero values mean their defaults.
type Options struct {
	// NewOrderOnly is TPC-C/no of §4.3: new-order alone, and every line comes
	// from a random other warehouse.
	NewOrderOnly bool

	Warehouses int // per machine that holds data; one per thread: 384 on 16 machines with 24 threads each in §4.3
	Districts  int // per warehouse; StandardDistricts. Fewer make new-orders and payments of a warehouse meet more often
	Customers  int // per district; 3,000
	Items      int // and stock records per warehouse; 100,000
	// Orders is how many new orders a district has rows for, and a warehouse as many
	// for payments of each of its districts. A run that needs more ends with an error. They
	// take memory only when used; DefaultOrders.
	Orders int

	// StockDistricts is how many districts a stock-level looks at, one if not set: those from the terminal's on,
	// numbered through all warehouses, so that of more than Districts others are in the next warehouses, on other machines too.
	StockDistricts int

	// Per mille of lines from another warehouse, of payments by a customer of
	// another one, and of new-orders that name an item that does not exist. The
	// standard has 10, 150 and 10; without Remotes these are taken.
	Remotes                              bool
	RemoteLine, RemotePayment, Rollbacks int

	// HashTables has hash tables find the records of all tables. Without, B+trees do for those that the released code
	// has in trees: all but warehouse, district and stock.
	HashTables bool

	// RingBytes of a log ring; 32 KB, a dozen entries.
	RingBytes uint64
	Seed      uint64
}

// Bench is the workload.
type Bench struct {
	*workload.Transactions
	opt Options
	db  *txn.DB

	servers        int
	symmetric      bool   // every machine with terminals holds warehouses
	clients        []int  // machines with terminals
	sockets        uint64 // of a server, the fewest
	perServer      uint64 // warehouses
	warehouses     uint64
	districts      uint64 // of a warehouse
	stockDistricts uint64 // of a stock-level
	customers      uint64 // of a district
	items          uint64
	orders         uint64 // rows of a district
	payments       uint64 // rows of a warehouse
	paid           owned.Each[paidRows]

	byName, placed, queue store.OrderedTable
	lines                 store.OrderedTable // nil in TPC-C/no
	customer, item, names nurand
	shuffle               workload.Scatter
	online                online
}

// paidRows number the payments of terminals on a machine.
type paidRows struct {
	next []uint64 // by warehouse: the row of the next one
	step []uint64 // to the one behind it
}

// New checks the options.
func New(o Options) (*Bench, error) {
	def := func(v *int, by int) {
		if *v == 0 {
			*v = by
		}
	}
	def(&o.Districts, StandardDistricts)
	def(&o.StockDistricts, 1)
	def(&o.Customers, 3_000)
	def(&o.Items, 100_000)
	def(&o.Orders, DefaultOrders)
	if !o.Remotes {
		o.RemoteLine, o.RemotePayment, o.Rollbacks = 10, 150, 10
	}
	if o.RingBytes == 0 {
		o.RingBytes = 32 << 10
	}
	for _, x := range []struct {
		name       string
		v, low, up int
	}{
		{"warehouses", o.Warehouses, 0, 4096}, {"districts", o.Districts, 1, MostDistricts}, {"stock districts", o.StockDistricts, 1, MostStockDistricts}, {"customers", o.Customers, LeastCustomers, 100_000}, {"items", o.Items, LeastItems, 1_000_000}, {"orders", o.Orders, 1, 1 << 24},
		{"remote.order_line", o.RemoteLine, 0, 1000}, {"remote.payment", o.RemotePayment, 0, 1000}, {"rollbacks", o.Rollbacks, 0, 1000},
	} {
		if x.v < x.low || x.v > x.up {
			return nil, fmt.Errorf("tpcc with %s %d: from %d to %d", x.name, x.v, x.low, x.up)
		}
	}
	b := &Bench{opt: o}
	list := types
	if o.NewOrderOnly {
		list = types[:1]
	}
	var err error
	b.Transactions, err = workload.NewTransactions(list)
	return b, err
}

// Name is the value of the knob workload that chooses it.
func (b *Bench) Name() string {
	if b.opt.NewOrderOnly {
		return "tpcc-no"
	}
	return "tpcc"
}

// CanShow are the anomalies that the transactions can have. Those of TPC-C/no write all that they
// read and another transaction writes, so that each dependency is one of writers. In the mix,
// payment writes rows that new-order only reads, and order-status and stock-level read alone. A stock-level that sees the
// lines of a delivery but not the stock of a new-order, which read the customer before the delivery wrote it, is a G2 of three. A
// delivery that reads the district before a new-order writes it, and writes the customer that this one has read, is
// write skew. engine's TestCanShow tries hundreds of thousands of executions of two to four transactions.
func (b *Bench) CanShow() []string {
	if b.opt.NewOrderOnly {
		return []string{history.G0, history.G1a, history.LostUpdate}
	}
	return []string{history.G0, history.G1a, history.G1c, history.LostUpdate, history.GSingle, history.G2, history.WriteSkew}
}

// DB is the database.
func (b *Bench) DB() *txn.DB { return b.db }

// Open creates the tables.
func (b *Bench) Open(env workload.Env) (err error) {
	b.servers = env.ServerCount()
	b.symmetric = env.Symmetric()
	b.clients = env.Clients()
	b.perServer, b.sockets = uint64(b.opt.Warehouses), uint64(len(env.Cluster.Fabric().Machine(0).NICs))
	for m := range b.servers {
		b.sockets = min(b.sockets, uint64(len(env.Cluster.Fabric().Machine(m).NICs)))
		if b.opt.Warehouses == 0 {
			b.perServer = max(b.perServer, uint64(env.Cluster.Threads(m)))
		}
	}
	b.warehouses = b.perServer * uint64(b.servers)
	if b.warehouses > 1<<16 {
		return fmt.Errorf("tpcc with %d warehouses: at most 65536", b.warehouses)
	}
	b.districts, b.customers, b.items = uint64(b.opt.Districts), uint64(b.opt.Customers), uint64(b.opt.Items)
	b.stockDistricts = min(uint64(b.opt.StockDistricts), b.warehouses*b.districts)
	b.orders = b.customers + uint64(b.opt.Orders)
	b.payments = b.districts * b.orders
	b.numberPayments(env)
	b.customer = newNURand(1023, constCustomer, 3_000, b.customers)
	b.item = newNURand(8191, constItem, 100_000, b.items)
	b.names = newNURand(255, constLastRun, 1_000, min(1_000, max(1, b.customers/3)))
	b.shuffle = workload.NewScatter(b.customers)
	if env.Log.Bytes == 0 {
		env.Log.Bytes = b.opt.RingBytes
	}
	if b.db, err = env.OpenDB(Costs); err != nil {
		return err
	}
	for _, t := range b.specs() {
		t.Seed = b.opt.Seed + uint64(t.ID)
		if _, err = b.db.AddTable(t.Spec, t.rows); err != nil {
			return err
		}
	}
	return b.openIndexes(env)
}

// Warm fills the location caches with stock, popular items first, and brings
// districts and the most popular stock into the LLCs.
func (b *Bench) Warm(between workload.Between) error {
	if b.db.Common().CacheEnabled {
		entries := b.db.CacheEntries()
		if !b.opt.NewOrderOnly {
			entries /= 2 // and as many for their data
		}
		least := b.leastWeight(entries)
		err := workload.WarmCaches(b.db, func(table uint8, key uint64) bool {
			return (table == Stock || table == StockData) && b.item.weight(key%b.items) >= least
		}, nil, between)
		if err != nil {
			return err
		}
	}
	hot := b.hotItems(hotPerWarehouse)
	n := b.warehouses * (1 + b.districts + uint64(len(hot)))
	return workload.WarmMemory(b.db, n, func(i uint64) (uint8, uint64) {
		w, k := i%b.warehouses, i/b.warehouses
		switch {
		case k == 0:
			return Warehouse, w
		case k <= b.districts:
			return District, w*b.districts + k - 1
		}
		return Stock, b.stockKey(w, hot[k-1-b.districts])
	}, between)
}

const hotPerWarehouse = 64 // stock records in a warm LLC

// leastWeight is the least popular weight such that the stock of all items of
// this weight and above fits so many entries of a cache.
func (b *Bench) leastWeight(entries uint64) int {
	var count [64]uint64
	for i := range b.items {
		count[b.item.weight(i)]++
	}
	stocks := b.warehouses - b.warehouses/uint64(b.servers)
	least := len(count)
	for sum := uint64(0); least > 0; least-- {
		if sum += count[least-1] * stocks; sum > entries {
			break
		}
	}
	return least
}

// hotItems lists some of the most popular items.
func (b *Bench) hotItems(n int) []uint64 {
	var byWeight [64][]uint64
	for i := range b.items {
		w := b.item.weight(i)
		byWeight[w] = append(byWeight[w], i)
	}
	slices.Reverse(byWeight[:])
	list := slices.Concat(byWeight[:]...)
	return list[:min(n, len(list))]
}

// Set changes a probability or a weight of the mix.
func (b *Bench) Set(name string, value any) error {
	if handled, err := b.SetMix(name, value); handled {
		return err
	}
	for _, x := range []struct {
		name string
		v    *int
	}{{"remote.order_line", &b.opt.RemoteLine}, {"remote.payment", &b.opt.RemotePayment}, {"rollbacks", &b.opt.Rollbacks}} {
		if x.name != name {
			continue
		}
		n, ok := value.(int)
		if !ok || n < 0 || n > 1000 {
			return fmt.Errorf("workload.%s %v: per mille, from 0 to 1000", name, value)
		}
		*x.v = n
		return nil
	}
	return workload.UnknownParameter(b.Name(), name)
}

// numberPayments divides the rows for payments of a warehouse among the machines whose threads serve its terminals.
func (b *Bench) numberPayments(env workload.Env) {
	b.paid = owned.New(env.Cluster.Machines(), func(int) paidRows { return paidRows{make([]uint64, b.warehouses), make([]uint64, b.warehouses)} })
	shares := make([]uint64, b.warehouses)
	for _, m := range b.clients {
		x := b.paid.Of(m)
		for thread := range env.Cluster.Threads(m) {
			for _, w := range b.homes(env.Cluster, m, thread) {
				if x.step[w] == 0 {
					x.next[w], x.step[w] = b.districts*b.customers+shares[w], 1
					shares[w]++
				}
			}
		}
	}
	for _, x := range b.paid.All() {
		for w := range x.step {
			x.step[w] *= shares[w]
		}
	}
}

// homes are the warehouses whose terminals a thread serves.
func (b *Bench) homes(cl *r2.Cluster, machine, of int) []uint64 {
	first, n := uint64(machine)*b.perServer, b.perServer
	thread, threads := uint64(of), uint64(cl.Threads(machine))
	if !b.symmetric {
		// Clients without warehouses share all of them.
		first, n = 0, b.warehouses
		thread, threads = 0, 0
		for _, m := range b.clients {
			if m < machine {
				thread += uint64(cl.Threads(m))
			}
			threads += uint64(cl.Threads(m))
		}
		thread += uint64(of)
	}
	list := []uint64{first + thread%n}
	for w := thread + threads; w < n; w += threads {
		list = append(list, first+w)
	}
	return list
}
