package engine

import (
	"drtmx/engine/knob"
	"drtmx/engine/workload"
	"drtmx/engine/workload/tpce"
)

// tpceKnobNames are what TPC-E reads; customer-position alone the first four.
var tpceKnobNames = []string{"workload.customers", "workload.securities", "workload.trades", "workload.scale", "workload.orders", "workload.rollbacks"}

// tpceDefaults are those of knobs that TPC-C reads too.
var tpceDefaults = map[string]map[string]any{
	"workload.customers": {"tpce": 1_000, "tpce-cp": 1_000},
	"workload.orders":    {"tpce": tpce.DefaultOrders},
}

func newTPCE(v Knobs, positionOnly bool) (workload.Bench, error) {
	return tpce.New(tpceOptions(v, positionOnly))
}

func tpceOptions(v Knobs, positionOnly bool) tpce.Options {
	return tpce.Options{
		PositionOnly: positionOnly, Customers: scaled(v, "workload.customers"), Securities: max(scaled(v, "workload.securities"), tpce.LeastSecurities),
		Trades: v.Int("workload.trades"), Orders: v.Int("workload.orders"), SetRollbacks: true, Rollbacks: v.Int("workload.rollbacks"),
		Seed: seedOf(v),
	}
}

// validTPCE holds the rule of how many trades a machine has addresses for.
func validTPCE(v Knobs) error {
	if !workloadOf(v).reads("workload.trades") {
		return nil
	}
	if customers, trades := scaled(v, "workload.customers"), v.Int("workload.trades"); customers*trades > tpce.MostTrades {
		return knob.Invalid("workload.trades", trades, "use fewer of one of them", "with %d customers of five accounts on each machine the product of customers and trades is more than %d", customers, tpce.MostTrades)
	}
	return nil
}

// tpcePopulation is what TPC-E needs. What a commit touches and takes was measured with 4 and 16 machines.
func tpcePopulation(v Knobs, servers int) population {
	rows, cached, bytes, err := tpce.Population(tpceOptions(v, false))
	if err != nil {
		return population{} // it is not going to open
	}
	n := int64(servers)
	p := population{tables: n * (bytes*int64(v.Int("replicas")) + rows*indexBytes), cached: n * cached, perCommit: 200 << 10, perSecond: 33_000, perWallMS: 0.4}
	if v.Text("workload") == "tpce-cp" {
		p.perCommit, p.perSecond, p.perWallMS = 64<<10, 45_000, 1
	}
	return p
}

func tpceKnobs(only func(name string) func(v Knobs) string) []knob.Row {
	row := func(k Knob) knob.Row {
		k.Group, k.Section = knob.Workload, "4.3.5"
		return knob.Row{Knob: k, Inactive: only(k.Name)}
	}
	return []knob.Row{
		row(Knob{Name: "workload.securities", Kind: knob.Int, Default: 685, Min: tpce.LeastSecurities, Max: 100_000, Label: "Securities per machine",
			Doc: "With a last price each, the hot rows of TPC-E; the standard's number for 1,000 customers, which workload.scale multiplies."}),
		row(Knob{Name: "workload.trades", Kind: knob.Int, Default: 60, Min: 1, Max: 3456, Label: "Trades per account",
			Doc: "Trades that each account has made before the start; the standard has 3,456. Five accounts of a customer."}),
	}
}
