package tpce

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/workload"
)

// positionKnobs are what customer-position alone reads, and TPC-E with more.
var positionKnobs = []string{"workload.customers", "workload.securities", "workload.trades", "workload.scale"}

// empty transactions belong to the throughput: the standard counts a transaction whatever its frames find.
var empty = []workload.Empty{
	{Type: types[tradeLookup].Name, When: "no trade is from its time on"},
	{Type: types[brokerVolume].Name, When: "none of its brokers has an order that waits"},
	{Type: types[marketWatch].Name, When: "it watches no security"},
	{Type: types[tradeUpdate].Name, When: "it finds nothing to change"},
}

// Kinds are TPC-E and its customer-position alone in the list of parts.
var Kinds = []workload.Kind{
	{
		Load:     testbed.Load{Name: "tpce", Transactions: true, Inserts: testbed.Always, ReadOnly: true, Indexes: true},
		Doc:      "TPC-E, its ten transactions (section 4.3.5)",
		Rows:     rows(),
		Knobs:    append([]string{"workload.orders", "workload.rollbacks"}, positionKnobs...),
		Defaults: map[string]any{"workload.customers": 1_000, "workload.orders": DefaultOrders},
		Mix: []workload.MixType{{Name: "customer-position", Weight: 13}, {Name: "trade-order", Weight: 10},
			{Name: "trade-result", Weight: 10, Doc: " One for which no trade waits is a trade-order in its place."}, {Name: "security-detail", Weight: 14}, {Name: "trade-lookup", Weight: 8},
			{Name: "trade-status", Weight: 19}, {Name: "broker-volume", Weight: 5}, {Name: "market-feed", Weight: 1}, {Name: "market-watch", Weight: 18}, {Name: "trade-update", Weight: 2}},
		Rules:     []func(knob.Values) error{validTrades, validOrders},
		Empty:     empty,
		Growth:    "workload.orders",
		Footprint: func(v knob.Values) workload.Footprint { return footprint(v, false) },
		Build:     func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v, false)) },
	},
	{
		Load:      testbed.Load{Name: "tpce-cp", Transactions: true, ReadOnly: true, Indexes: true},
		Doc:       "TPC-E's customer-position alone, read-only (section 4.3.5)",
		Knobs:     positionKnobs,
		Defaults:  map[string]any{"workload.customers": 1_000},
		Rules:     []func(knob.Values) error{validTrades},
		Footprint: func(v knob.Values) workload.Footprint { return footprint(v, true) },
		Build:     func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v, true)) },
	},
}

func optionsOf(v knob.Values, positionOnly bool) Options {
	return Options{
		PositionOnly: positionOnly, Customers: workload.Scaled(v, "workload.customers"), Securities: max(workload.Scaled(v, "workload.securities"), LeastSecurities),
		Trades: v.Int("workload.trades"), Orders: v.Int("workload.orders"), SetRollbacks: true, Rollbacks: v.Int("workload.rollbacks"),
		Seed: testbed.Seed(v),
	}
}

// validTrades holds the rule of how many trades a machine has addresses for.
func validTrades(v knob.Values) error {
	if customers, trades := workload.Scaled(v, "workload.customers"), v.Int("workload.trades"); customers*trades > MostTrades {
		return knob.Invalid("workload.trades", trades, "use fewer of one of them", "with %d customers of five accounts on each machine the product of customers and trades is more than %d", customers, MostTrades)
	}
	return nil
}

// validOrders holds the rule that a machine has rows for the first order of each coroutine whose customers call it. With fewer a run
// ends almost as soon as it begins.
func validOrders(v knob.Values) error {
	if v.Int("workload.mix.trade-order") == 0 && v.Int("workload.mix.trade-result") == 0 {
		return nil
	}
	_, servers := testbed.Machines(v)
	_, threads, _ := testbed.ThreadCounts(v)
	first := (threads*testbed.Coroutines(v) + servers - 1) / servers
	if n := v.Int("workload.orders"); n < first {
		return knob.Invalid("workload.orders", n, fmt.Sprintf("set workload.orders=%d or more, or fewer coroutines", first),
			"a machine has no row for the first order of each of the %d coroutines that order there", first)
	}
	return nil
}

// footprint is what TPC-E needs. What a commit touches and takes was measured with 4 and 16 machines. Calls are counted in the full
// mix with 3 and 8 machines: 42 and 53, which is 62 times the share of records on other machines; with snapshots, which ask a machine
// once for what they are going to read, 5.
func footprint(v knob.Values, positionOnly bool) workload.Footprint {
	_, servers := testbed.Machines(v)
	rows, cached, bytes, old, err := Population(optionsOf(v, false))
	if err != nil {
		return workload.Footprint{} // it is not going to open
	}
	n := int64(servers)
	p := workload.Footprint{Bytes: n * bytes * int64(v.Int("replicas")), Indexed: n * rows, Cached: n * cached, Rows: n * rows, Old: n * old, Overwrites: 4, PerRequest: 200 << 10, PerSecond: 33_000, PerWallMS: 0.4}
	p.Calls = 62 * (1 - float64(workload.Anywhere(v))/100)
	if timestamp.Versioned(v) {
		p.Calls = 5
	}
	if positionOnly {
		p.PerRequest, p.PerSecond, p.PerWallMS = 64<<10, 45_000, 1
	}
	return p
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group, k.Section = knob.Workload, "4.3.5"
		return knob.Row{Knob: k}
	}
	return []knob.Row{
		row(knob.Knob{Name: "workload.securities", Kind: knob.Int, Default: 685, Min: LeastSecurities, Max: 100_000, Label: "Securities per machine",
			Doc: "With a last price each, the hot rows of TPC-E; the standard's number for 1,000 customers, which workload.scale multiplies."}),
		row(knob.Knob{Name: "workload.trades", Kind: knob.Int, Default: 60, Min: 1, Max: 3456, Label: "Trades per account",
			Doc: "Trades that each account has made before the start; the standard has 3,456. Five accounts of a customer."}),
	}
}
