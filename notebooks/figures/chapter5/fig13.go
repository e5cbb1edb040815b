package chapter5

import (
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
)

// Figure 5-13: two-phase locking over kernel TCP, as MySQL cluster has it, with its locks, with its default of reading what is
// committed, and with snapshots of DST (§5.5.2). "We increase the number of clients until the throughput is saturated": X is the
// clients of the cluster. What a record takes of a server's core is assumed (host.scale), so a figure's band is wide.
//
// Its clients ask statement by statement (txn.speculative off), as SQL has it.

const label2PL = "2PL"

var lockingFigures = []*figure.Definition{
	lockingPanel("5-13a", "TPC-C", "tpcc", "f5-13a-dst"), lockingPanel("5-13b", "SmallBank", "smallbank", "f5-13b-dst"),
}

var lockingLines = []figure.Setting{
	{Name: label2PL, Set: experiment.Knobs{"cc": "2pl"}},
	{Name: labelRC, Set: experiment.Knobs{"cc": "2pl", "2pl.isolation": "read-committed"}},
	{Name: labelDST, Set: experiment.Knobs{"cc": "2pl", "ts.scheme": "dst"}},
}

func lockingPanel(id, title, workload, row string) *figure.Definition {
	return &figure.Definition{
		ID: id, Title: title + " on two-phase locking over TCP", Chapter: 5, Section: "5.5.2", Scope: "cluster", Costs: append([]figure.Cost{figure.Assumed("host.scale", "what records take of a server")}, tcpCosts...),
		X: figure.Axis{Label: "Clients of the cluster", Unit: "clients", Log: true}, Y: figure.Axis{Label: "Throughput", Unit: "Mtxn/s"},
		Plan: func(scale string) figure.Plan { return planLocking(scale, workload) },
		Claims: func(f *figure.Figure) []figure.Claim {
			return append(faster(f, row, "DST by the throughput of two-phase locking, up to and from", labelDST, label2PL, figure.Everywhere),
				figure.AllOf("f5-13-order", "snapshots make it faster, up to about read committed", f.Above("", "DST over 2PL", figure.Everywhere, figure.Pair{Above: labelDST, Below: label2PL}), reaches(f, "", "DST reaches 95 % of RC", labelDST, labelRC, 0.95)))
		},
	}
}

func planLocking(scale, workload string) figure.Plan {
	p := figure.Plan{Base: vale.base(scale, workload, experiment.Knobs{"txn.speculative": false}), Note: vale.note(scale)}
	if workload == "smallbank" && scale == figure.Paper { // TPC-C has its aborts for that, and at quick scale a queue is for two threads instead of three
		p.Note += "; of most clients' messages a receive queue is never empty, so ksoftirqd and a thread have half of its core each (tcp.softirq_limit), and throughput is below its peak"
	}
	loads := []int{1, 4, 16}
	if scale == figure.Paper {
		loads = []int{1, 2, 4, 8, 16}
	}
	clients := vale.machines * vale.threads
	if scale == figure.Quick {
		clients = vale.fewer["nodes"].(int) * vale.fewer["threads"].(int)
	}
	for _, l := range lockingLines {
		s := figure.PlannedSeries{Name: l.Name}
		for _, n := range loads {
			s.Points = append(s.Points, figure.PlannedPoint{X: float64(n * clients), Set: figure.With(l.Set, vale.under(n, 1)), Read: figure.Mtxn})
		}
		p.Series = append(p.Series, s)
	}
	return p
}
