package rococo

import (
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// Kind is the protocol in the list of parts.
var Kind = txn.Kind{
	Name:      "rococo",
	Snapshots: true,
	Schemes:   []string{"dst"}, // its stamps follow the order of the graph (versions.go); no other scheme's could
	Doc:       "transactions in pieces that servers reorder by a dependency graph instead of aborting them (Rococo)",
	Claim:     history.StrictSerializable,
	Rows:      func(testbed.LoadOf) []knob.Row { return []knob.Row{txn.HostRow()} },
	Has:       []txn.Feature{txn.HasAborts, txn.HasProgram, txn.HasInserts, txn.HasTwoSided},
	Rules:     []func(knob.Values, *testbed.Load) error{txn.ValidBackoff, validPieces},
	Config: func(v knob.Values, _ *testbed.Load, _ txn.Seen) txn.Config {
		return Config{Settings: txn.SettingsOf(v), HostScale: txn.HostScale(v)}.withDefaults()
	},
	Choices: func(txn.Config) []txn.Choice { return nil },
	LooksUp: func(knob.Values, *testbed.Load) string { return "servers look up their own records" },
	Costs:   ScaledCosts,
}

// validPieces refuses workloads whose transactions are not in pieces.
func validPieces(v knob.Values, load *testbed.Load) error {
	switch {
	case !load.Transactions:
		return nil
	case !load.Pieces:
		return knob.Invalid("cc", "rococo", "use workload=tpcc, registers or script, or another cc", "the transactions of workload %s are not in pieces, which servers could reorder", load.Name)
	case load.Unpieced == nil:
		return nil
	}
	if what := load.Unpieced(v); what != "" {
		return knob.Invalid("cc", "rococo", "leave that out, or use another cc", "%s, and servers could not reorder that", what)
	}
	return nil
}
