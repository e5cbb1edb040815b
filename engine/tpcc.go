package engine

import (
	"fmt"

	"drtmx/engine/knob"

	"drtmx/engine/workload"
	"drtmx/engine/workload/tpcc"
)

// tpccMix are the types of TPC-C.
var tpccMix = []string{"new-order", "payment", "order-status", "delivery", "stock-level"}

// tpccKnobNames are what TPC-C reads; TPC-C/no the first seven.
var tpccKnobNames = []string{
	"workload.warehouses", "workload.districts", "workload.customers", "workload.items", "workload.rollbacks", "workload.orders", "workload.scale",
	"workload.remote.order_line", "workload.remote.payment", remoteKnob,
}

// remoteKnob sets both probabilities of TPC-C alike, as opt.or does the switches of phases.
const (
	remoteKnob   = "workload.remote"
	remoteDiffer = -1 // how it reads while they differ, as the standard's do
)

var remoteMembers = []string{"workload.remote.order_line", "workload.remote.payment"}

// setRemote puts the knob's value, if a change names it, on its members.
func setRemote(v, set Knobs) {
	if n, ok := set[remoteKnob]; ok && n != remoteDiffer {
		for _, m := range remoteMembers {
			v[m] = n
		}
	}
}

// deriveRemote makes it read what its members say.
func deriveRemote(v Knobs) {
	v[remoteKnob] = v[remoteMembers[0]]
	if v[remoteMembers[1]] != v[remoteMembers[0]] {
		v[remoteKnob] = remoteDiffer
	}
}

func newTPCC(v Knobs, newOrderOnly bool) (workload.Bench, error) {
	return tpcc.New(tpccOptions(v, newOrderOnly))
}

func tpccOptions(v Knobs, newOrderOnly bool) tpcc.Options {
	return tpcc.Options{
		NewOrderOnly: newOrderOnly, Warehouses: v.Int("workload.warehouses"), Districts: v.Int("workload.districts"), Customers: max(scaled(v, "workload.customers"), tpcc.LeastCustomers), Items: max(scaled(v, "workload.items"), tpcc.LeastItems), Orders: v.Int("workload.orders"),
		Remotes: true, RemoteLine: v.Int("workload.remote.order_line"), RemotePayment: v.Int("workload.remote.payment"), Rollbacks: v.Int("workload.rollbacks"),
		Seed: seedOf(v),
	}
}

// localTPCC is the share of TPC-C's locks on the own machine.
func localTPCC(v Knobs, newOrderOnly bool) int {
	if asymmetric(v) {
		return 0 // clients have no warehouses
	}
	weights := map[string]int{}
	for _, t := range tpccMix {
		weights[t] = v.Int("workload.mix." + t)
	}
	o := tpccOptions(v, newOrderOnly)
	if o.Warehouses == 0 {
		o.Warehouses = v.Int("threads")
	}
	return tpcc.LocalLocks(o, v.Int("nodes"), weights)
}

// validTPCC holds the rule of how many new orders a district has rows for: one for the first order of each
// coroutine that orders at a warehouse, as they may all fall into one district. With fewer a run ends almost
// as soon as it begins. And TPC-C/no has goods come from other warehouses: there has to be one.
func validTPCC(v Knobs) error {
	w := workloadOf(v).name
	if w != "tpcc" && w != "tpcc-no" || w == "tpcc" && v.Int("workload.mix.new-order") == 0 {
		return nil
	}
	all, servers := machines(v)
	threads, warehouses := 0, v.Int("workload.warehouses")
	for m := range all {
		if m < servers && v.Int("workload.warehouses") == 0 {
			warehouses = max(warehouses, threadsOf(v, m))
		}
		if m >= servers || !asymmetric(v) {
			threads += threadsOf(v, m)
		}
	}
	if warehouses *= servers; w == "tpcc-no" && warehouses == 1 {
		return knob.Invalid("workload.warehouses", v.Int("workload.warehouses"), "set workload.warehouses=2 or more, or use more machines or threads", "tpcc-no takes every order line from another warehouse than the terminal's, and there is one alone")
	}
	first := (threads*coroutines(v) + warehouses - 1) / warehouses
	if n := v.Int("workload.orders"); n < first {
		return knob.Invalid("workload.orders", n, fmt.Sprintf("set workload.orders=%d or more, or fewer coroutines", first),
			"a district has no row for the first order of each of the %d coroutines of a warehouse", first)
	}
	return nil
}

// ignoresAborts says that the workload runs as its released code does.
func ignoresAborts(v Knobs) bool {
	return workloadOf(v).reads("workload.variant") && v.Text("workload.variant") == "as-published"
}

// tpccPopulation is what TPC-C needs. What a commit touches and takes was measured with new-order.
func tpccPopulation(v Knobs, servers int) population {
	const customerRow = 671 + 1                                  // in strides, as all of these
	stockRow, orderRows := int64(32+320), int64(40+24+15*(70+2)) // an order with rows for 15 lines
	if workloadOf(v).name == "tpcc-no" {
		stockRow, orderRows = 32, 40+24+15*40
	}
	warehouses := int64(0)
	for m := range servers {
		warehouses += int64(max(v.Int("workload.warehouses"), 1))
		if v.Int("workload.warehouses") == 0 {
			warehouses += int64(threadsOf(v, m)) - 1
		}
	}
	o := tpccOptions(v, false)
	copies, items, districts, customers := int64(v.Int("replicas")), int64(o.Items), int64(o.Districts), int64(o.Customers)
	row := func(bytes int64) int64 { return bytes*copies + indexBytes }
	each := items*row(stockRow) + districts*customers*row(customerRow) + districts*(customers+int64(v.Int("workload.orders")))*(orderRows*copies+17*indexBytes)
	return population{tables: warehouses * each, cached: warehouses * (items + districts*customers), perCommit: 128 << 10, perSecond: 40_000, perWallMS: 1.5}
}

func tpccKnobs(only func(name string) func(v Knobs) string) []knob.Row {
	row := func(k Knob) knob.Row {
		k.Group, k.Section = knob.Workload, "4.3"
		return knob.Row{Knob: k, Inactive: only(k.Name), ByLoad: tpceDefaults[k.Name]}
	}
	const of = "; the standard's number, which workload.scale multiplies."
	return []knob.Row{
		row(Knob{Name: "workload.warehouses", Kind: knob.Int, Default: 0, Min: 0, Max: 1024, Label: "Warehouses per machine",
			Doc: "Warehouses on each machine that holds data. 0: one per worker thread, as the 384 of 16 machines with 24 threads."}),
		row(Knob{Name: "workload.districts", Kind: knob.Int, Default: tpcc.StandardDistricts, Min: 1, Max: tpcc.MostDistricts, Label: "Districts per warehouse",
			Doc: "Districts of each warehouse, with workload.customers each; the standard's number. Orders of one district exclude each other, and so do payments: the fewer, the more transactions meet. workload.scale leaves them as they are."}),
		row(Knob{Name: "workload.customers", Kind: knob.Int, Default: 3_000, Min: tpcc.LeastCustomers, Max: 100_000, Label: "Customers per district or machine",
			Doc: "TPC-C: per district, and orders that were there from the start. TPC-E: per machine that holds data, with five accounts each" + of}),
		row(Knob{Name: "workload.items", Kind: knob.Int, Default: 100_000, Min: tpcc.LeastItems, Max: 1_000_000, Label: "Items",
			Doc: "And stock records of each warehouse" + of}),
		row(Knob{Name: "workload.orders", Kind: knob.Int, Default: tpcc.DefaultOrders, Min: 1, Max: 1 << 20, Label: "New orders per district or machine",
			Doc: "TPC-C: how many new orders a district has rows for, besides the initial ones and at least one per coroutine of a warehouse, and a warehouse as many for payments of each of its districts. TPC-E: how many new trades a machine has rows for. They take memory only when used. A run that needs more ends with an error."}),
		row(Knob{Name: "workload.rollbacks", Kind: knob.Int, Default: 10, Min: 0, Max: 1000, Unit: "per mille", Label: "Rollbacks", Live: true,
			Doc: "Share of the new-orders that name an item that does not exist, or of the trade-orders, that are rolled back."}),
		row(Knob{Name: remoteKnob, Kind: knob.Int, Default: remoteDiffer, Min: remoteDiffer, Max: 1000, Unit: "per mille", Label: "Remote accesses", Live: true,
			Doc: "Sets workload.remote.order_line and workload.remote.payment alike. Reads -1 while they differ, as the standard's 10 and 150 do; to set -1 changes neither."}),
		row(Knob{Name: "workload.remote.order_line", Kind: knob.Int, Default: 10, Min: 0, Max: 1000, Unit: "per mille", Label: "Remote order lines", Live: true,
			Doc: "Share of the order lines whose goods come from another warehouse."}),
		row(Knob{Name: "workload.remote.payment", Kind: knob.Int, Default: 150, Min: 0, Max: 1000, Unit: "per mille", Label: "Remote payments", Live: true,
			Doc: "Share of the payments by a customer of another warehouse."}),
		row(Knob{Name: "workload.variant", Kind: knob.Choice, Default: "correct", Choices: []string{"correct", "as-published"}, Label: "Variant",
			Doc: "correct: a new-order that meets another one aborts and is tried again. as-published: it commits all the same, as under a switch of the released code; orders and stock are lost, and the checks say so."}),
	}
}
