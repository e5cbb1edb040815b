package protocoltest

import (
	"drtmx/engine/experiment"
)

// load is a workload with so few records that its transactions meet.
type load struct {
	name string
	set  experiment.Knobs
}

// crowded are settings under which transactions of a workload meet, and reads of long rows can be torn. What is not here is scaled down.
var crowded = map[string][]load{
	"smallbank": {{"smallbank", experiment.Knobs{"workload.scale": 0.25, "workload.accounts": 100, "workload.hot_accounts": 6.0}}},
	"cycle":     {{"cycle", experiment.Knobs{"workload.keys": 40, "workload.value_bytes": 96}}},
	"registers": {
		{"registers", experiment.Knobs{"workload.keys": 40}}, // half of them lie in one line, half straddle two
		{"registers-wide", experiment.Knobs{"workload.keys": 40, "workload.value_bytes": 104}},
		{"registers-long", experiment.Knobs{"workload.keys": 40, "workload.value_bytes": 1_000}},
		{"registers-few", experiment.Knobs{"workload.keys": 8, "workload.value_bytes": 104, "workload.reads": 1, "workload.writes": 1}},
	},
	"churn": {
		{"churn", experiment.Knobs{"workload.keys": 24}},
		{"churn-wide", experiment.Knobs{"workload.keys": 60, "workload.value_bytes": 104}},
	},
	"ycsb": {
		{"ycsb", experiment.Knobs{"workload.keys": 300, "workload.ops": 4, "workload.theta": 0.6}},
		{"ycsb-near", experiment.Knobs{"workload.keys": 300, "workload.distributed": 0.5, "workload.nodes_per_txn": 2}},
	},
	"tpcc": {{"tpcc", experiment.Knobs{"workload.warehouses": 1, "workload.customers": 30, "workload.items": 400, "workload.orders": 4_000,
		"workload.remote.order_line": 300, "workload.remote.payment": 400, "workload.rollbacks": 20}}},
	"tpcc-no": {{"tpcc-no", experiment.Knobs{"workload.customers": 30, "workload.items": 400, "workload.orders": 4_000}}},
	"tpce":    {{"tpce", experiment.Knobs{"workload.customers": 20, "workload.securities": 20, "workload.orders": 4_000, "workload.rollbacks": 30}}},
	"script":  nil, // see explored
	// Nothing is written, or nothing read.
	"tpce-cp": nil, "ts-read": nil, "ts-spin": nil,
}

// loads are those that the protocol runs, of all workloads of transactions that there are.
func (s *suite) loads() (list []load) {
	for i := range experiment.Workloads {
		w := &experiment.Workloads[i]
		if !w.Transactions {
			continue
		}
		some, known := crowded[w.Name]
		if !known {
			some = []load{{w.Name, experiment.Knobs{"workload.scale": 0.01}}}
		}
		for _, l := range some {
			l.set = merged(experiment.Knobs{"workload": w.Name, "workload.scale": 1.0}, l.set)
			if _, ok := s.legal(l.set); ok {
				list = append(list, l)
			}
		}
	}
	return list
}
