package tpcc

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// newOrderKnobs are what TPC-C/no reads, and TPC-C with more.
var newOrderKnobs = []string{
	"workload.warehouses", "workload.districts", "workload.customers", "workload.items", "workload.rollbacks", "workload.orders", "workload.trees", "workload.scale",
}

// empty transactions belong to the throughput: clause 2.7.4.2 has a delivery go on where a district has no order.
var empty = []workload.Empty{
	{Type: types[orderStatus].Name, When: "its customer has no order"},
	{Type: types[delivery].Name, When: "its district has no order that waits"},
	{Type: types[stockLevel].Name, When: "the last orders of its districts have no line"},
}

// mix are the types with the standard's weights.
var mix = []workload.MixType{{Name: "new-order", Weight: 45}, {Name: "payment", Weight: 43}, {Name: "order-status", Weight: 4},
	{Name: "delivery", Weight: 4, Doc: " A delivery is a transaction per district."}, {Name: "stock-level", Weight: 4}}

// Kinds are TPC-C and TPC-C/no in the list of parts.
var Kinds = []workload.Kind{
	{
		Load:      testbed.Load{Name: "tpcc", Transactions: true, Inserts: testbed.Always, ReadOnly: true, Pieces: true, Indexes: true, LocalLocks: func(v knob.Values) int { return localLocks(v, false) }},
		Doc:       "TPC-C, its five transactions (section 4.3)",
		Rows:      rows(),
		Knobs:     append([]string{"workload.stock_districts", "workload.remote.order_line", "workload.remote.payment", remoteKnob}, newOrderKnobs...),
		Mix:       mix,
		Rules:     []func(knob.Values) error{validOrders},
		Empty:     empty,
		Growth:    "workload.orders",
		Footprint: func(v knob.Values) workload.Footprint { return footprint(v, false) },
		Build:     func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v, false)) },
	},
	{
		Load: testbed.Load{Name: "tpcc-no", Transactions: true, Inserts: testbed.Always, Pieces: true, Indexes: true, LocalLocks: func(v knob.Values) int { return localLocks(v, true) },
			IgnoresAborts: func(v knob.Values) bool { return v.Text("workload.variant") == "as-published" }},
		Doc:       "TPC-C/no, new-order alone, every line from another warehouse (section 4.3)",
		Knobs:     append([]string{"workload.variant"}, newOrderKnobs...),
		Rules:     []func(knob.Values) error{validOrders},
		Growth:    "workload.orders",
		Footprint: func(v knob.Values) workload.Footprint { return footprint(v, true) },
		Build:     func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v, true)) },
	},
}

// remoteKnob sets both probabilities of TPC-C alike, as opt.or does the switches of phases.
const (
	remoteKnob   = "workload.remote"
	remoteDiffer = -1 // how it reads while they differ, as the standard's do
)

var remoteMembers = []string{"workload.remote.order_line", "workload.remote.payment"}

// differ is what remoteKnob reads while its members differ.
func differ(v knob.Values) any {
	if v[remoteMembers[1]] != v[remoteMembers[0]] {
		return remoteDiffer
	}
	return v[remoteMembers[0]]
}

// setRemotes is what remoteKnob sets.
func setRemotes(_ knob.Values, n any) knob.Values {
	if n == remoteDiffer {
		return nil
	}
	return knob.Values{remoteMembers[0]: n, remoteMembers[1]: n}
}

func optionsOf(v knob.Values, newOrderOnly bool) Options {
	return Options{
		NewOrderOnly: newOrderOnly, Warehouses: v.Int("workload.warehouses"), Districts: v.Int("workload.districts"), Customers: max(workload.Scaled(v, "workload.customers"), LeastCustomers), Items: max(workload.Scaled(v, "workload.items"), LeastItems), Orders: v.Int("workload.orders"),
		StockDistricts: v.Int("workload.stock_districts"), Remotes: true, RemoteLine: v.Int("workload.remote.order_line"), RemotePayment: v.Int("workload.remote.payment"), Rollbacks: v.Int("workload.rollbacks"),
		HashTables: !v.Bool("workload.trees"), Seed: testbed.Seed(v),
	}
}

// localLocks is the share of TPC-C's locks on the own machine.
func localLocks(v knob.Values, newOrderOnly bool) int {
	if testbed.Asymmetric(v) {
		return 0 // clients have no warehouses
	}
	weights := map[string]int{}
	for _, t := range mix {
		weights[t.Name] = v.Int("workload.mix." + t.Name)
	}
	o := optionsOf(v, newOrderOnly)
	if o.Warehouses == 0 {
		o.Warehouses = v.Int("threads")
	}
	return LocalLocks(o, v.Int("nodes"), weights)
}

// validOrders holds the rule of how many new orders a district has rows for: one for the first order of each
// coroutine that orders at a warehouse, as they may all fall into one district. With fewer a run ends almost
// as soon as it begins. And TPC-C/no has goods come from other warehouses: there has to be one.
func validOrders(v knob.Values) error {
	w := v.Text("workload")
	if w == "tpcc" && v.Int("workload.mix.new-order") == 0 {
		return nil
	}
	_, servers := testbed.Machines(v)
	_, threads, _ := testbed.ThreadCounts(v)
	warehouses := v.Int("workload.warehouses")
	if warehouses == 0 {
		for m := range servers {
			warehouses = max(warehouses, testbed.ThreadsOf(v, m))
		}
	}
	if warehouses *= servers; w == "tpcc-no" && warehouses == 1 {
		return knob.Invalid("workload.warehouses", v.Int("workload.warehouses"), "set workload.warehouses=2 or more, or use more machines or threads", "tpcc-no takes every order line from another warehouse than the terminal's, and there is one alone")
	}
	first := (threads*testbed.Coroutines(v) + warehouses - 1) / warehouses
	if n := v.Int("workload.orders"); n < first {
		return knob.Invalid("workload.orders", n, fmt.Sprintf("set workload.orders=%d or more, or fewer coroutines", first),
			"a district has no row for the first order of each of the %d coroutines of a warehouse", first)
	}
	return nil
}

// footprint is what TPC-C needs. What a commit touches and takes was measured with new-order. Its calls are as those of workload.Records:
// of the mix by default, of ten lines in a new-order, and of one customer in a payment.
func footprint(v knob.Values, newOrderOnly bool) workload.Footprint {
	_, servers := testbed.Machines(v)
	const customerRow = 671 + 1                                  // in strides, as all of these
	stockRow, orderRows := int64(32+320), int64(40+24+15*(70+2)) // an order with rows for 15 lines
	if newOrderOnly {
		stockRow, orderRows = 32, 40+24+15*40
	}
	warehouses := int64(0)
	for m := range servers {
		warehouses += int64(max(v.Int("workload.warehouses"), 1))
		if v.Int("workload.warehouses") == 0 {
			warehouses += int64(testbed.ThreadsOf(v, m)) - 1
		}
	}
	o := optionsOf(v, newOrderOnly)
	copies, items, districts, customers := int64(v.Int("replicas")), int64(o.Items), int64(o.Districts), int64(o.Customers)
	orders := districts * (customers + int64(v.Int("workload.orders")))
	each, indexed := (items*stockRow+districts*customers*customerRow+orders*orderRows)*copies, items+districts*customers+17*orders
	if v.Bool("workload.trees") {
		each, indexed = each+17*orders*36, indexed-17*orders // in a leaf that is half full
	}
	place := func(bytes int) int64 { return int64(record.SlotBytes(bytes)) }
	old := items*place(stockBytes) + districts*customers*place(customerBytes) + orders*(place(newOrderBytes)+place(orderBytes)+15*place(orderLineBytes))
	rows, cached := items+districts*customers+orders*17, items
	if !newOrderOnly || testbed.Asymmetric(v) {
		cached += districts * customers
	}
	remote := float64(45*10*v.Int("workload.remote.order_line")+43*v.Int("workload.remote.payment")) / 100 / 1000
	if newOrderOnly {
		remote = 10
	}
	calls := float64(copies-1) + 3*remote*(1-float64(workload.Anywhere(v))/100)
	return workload.Footprint{Bytes: warehouses * each, Indexed: warehouses * indexed, Cached: warehouses * cached, Rows: warehouses * rows, Old: warehouses * old, Overwrites: 11, PerRequest: 128 << 10, Calls: calls, PerSecond: 40_000, PerWallMS: 1.5}
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group, k.Section = knob.Workload, "4.3"
		return knob.Row{Knob: k}
	}
	const of = "; the standard's number, which workload.scale multiplies."
	remotes := row(knob.Knob{Name: remoteKnob, Kind: knob.Int, Default: remoteDiffer, Min: remoteDiffer, Max: 1000, Unit: "per mille", Label: "Remote accesses", Live: true,
		Doc: "Sets workload.remote.order_line and workload.remote.payment alike. Reads -1 while they differ, as the standard's 10 and 150 do; to set -1 changes neither."})
	remotes.Sets, remotes.Members, remotes.Neutral, remotes.Derived = setRemotes, remoteMembers, remoteDiffer, differ
	return []knob.Row{
		row(knob.Knob{Name: "workload.warehouses", Kind: knob.Int, Default: 0, Min: 0, Max: 1024, Label: "Warehouses per machine",
			Doc: "Warehouses on each machine that holds data. 0: one per worker thread, as the 384 of 16 machines with 24 threads."}),
		row(knob.Knob{Name: "workload.districts", Kind: knob.Int, Default: StandardDistricts, Min: 1, Max: MostDistricts, Label: "Districts per warehouse",
			Doc: "Districts of each warehouse, with workload.customers each; the standard's number. Orders of one district exclude each other, and so do payments: the fewer, the more transactions meet. workload.scale leaves them as they are."}),
		row(knob.Knob{Name: "workload.stock_districts", Kind: knob.Int, Default: 1, Min: 1, Max: MostStockDistricts, Label: "Districts of a stock-level",
			Doc: "How many districts a stock-level looks at: those from the terminal's on, numbered through all warehouses; the standard's is 1. Of more than workload.districts others are in the next warehouses, on other machines too. Each has about 200 order lines and 200 stock records (section 5.5)."}),
		row(knob.Knob{Name: "workload.customers", Kind: knob.Int, Default: 3_000, Min: LeastCustomers, Max: 100_000, Label: "Customers per district or machine",
			Doc: "TPC-C: per district, and orders that were there from the start. TPC-E: per machine that holds data, with five accounts each" + of}),
		row(knob.Knob{Name: "workload.items", Kind: knob.Int, Default: 100_000, Min: LeastItems, Max: 1_000_000, Label: "Items",
			Doc: "Items, and stock records per warehouse" + of}),
		row(knob.Knob{Name: "workload.orders", Kind: knob.Int, Default: DefaultOrders, Min: 1, Max: 1 << 20, Label: "New orders per district or machine",
			Doc: "TPC-C: how many new orders a district has rows for, besides the initial ones and at least one per coroutine of a warehouse, and a warehouse as many for payments of each of its districts. TPC-E: how many new trades a machine has rows for. They take memory only when used. A run that needs more ends with an error."}),
		row(knob.Knob{Name: "workload.rollbacks", Kind: knob.Int, Default: 10, Min: 0, Max: 1000, Unit: "per mille", Label: "Rollbacks", Live: true,
			Doc: "Share of the new-orders that name an item that does not exist, or of the trade-orders, that are rolled back."}),
		remotes,
		row(knob.Knob{Name: "workload.remote.order_line", Kind: knob.Int, Default: 10, Min: 0, Max: 1000, Unit: "per mille", Label: "Remote order lines", Live: true,
			Doc: "Share of the order lines whose goods come from another warehouse."}),
		row(knob.Knob{Name: "workload.remote.payment", Kind: knob.Int, Default: 150, Min: 0, Max: 1000, Unit: "per mille", Label: "Remote payments", Live: true,
			Doc: "Share of the payments by a customer of another warehouse."}),
		row(knob.Knob{Name: "workload.trees", Kind: knob.Bool, Default: true, Label: "B+trees",
			Doc: "On: B+trees find customers, items, orders, new-orders, order lines and payments, on backups too, and hash tables warehouses, districts and stock, as in the released code. Off: hash tables find all. The thesis says that DrTM-KV finds what READs look up (section 4.3.1), which is stock, and not how a machine finds its own records. A customer of another machine is found by RPC."}),
		row(knob.Knob{Name: "workload.variant", Kind: knob.Choice, Default: "correct", Choices: []string{"correct", "as-published"}, Label: "Variant",
			Doc: "correct: a new-order that meets another one aborts and is tried again. as-published: it commits all the same, as under a switch of the released code; orders and stock are lost, and the checks say so."}),
	}
}
