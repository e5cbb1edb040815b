package engine

import (
	"drtmx/engine/workload"
	"drtmx/engine/workload/tpce"
)

// tpceKnobNames are what TPC-E reads; customer-position alone the first four.
var tpceKnobNames = []string{"workload.customers", "workload.securities", "workload.trades", "workload.scale", "workload.rollbacks"}

func newTPCE(v Knobs, positionOnly bool) (workload.Bench, error) {
	return tpce.New(tpceOptions(v, positionOnly))
}

func tpceOptions(v Knobs, positionOnly bool) tpce.Options {
	return tpce.Options{
		PositionOnly: positionOnly, Customers: scaled(v, "workload.customers"), Securities: max(scaled(v, "workload.securities"), tpce.LeastSecurities),
		Trades: v.int("workload.trades"), SetRollbacks: true, Rollbacks: v.int("workload.rollbacks"),
	}
}

// validTPCE holds the rule of how many trades a machine has addresses for.
func validTPCE(v Knobs) error {
	if !workloadOf(v).reads("workload.trades") {
		return nil
	}
	if customers, trades := scaled(v, "workload.customers"), v.int("workload.trades"); customers*trades > tpce.MostTrades {
		return invalid("workload.trades", trades, "use fewer of one of them", "with workload.customers of %d a machine begins with more than %d trades per account of all customers", customers, tpce.MostTrades)
	}
	return nil
}

func tpceKnobs(only func(name string) func(v Knobs) string) []entry {
	row := func(k Knob) entry {
		k.Group, k.Section = groupWorkload, "4.3.5"
		return entry{Knob: k, inactive: only(k.Name)}
	}
	return []entry{
		row(Knob{Name: "workload.securities", Kind: KindInt, Default: 685, Min: tpce.LeastSecurities, Max: 100_000, Label: "Securities per machine",
			Doc: "With a last price each, the hot rows of TPC-E; the standard's number for 1,000 customers, which workload.scale multiplies."}),
		row(Knob{Name: "workload.trades", Kind: KindInt, Default: 60, Min: 1, Max: 3456, Label: "Trades per account",
			Doc: "Trades that each account has made before the start; the standard has 3,456. Five accounts of a customer."}),
	}
}
