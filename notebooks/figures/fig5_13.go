package figures

import "drtmx/engine/experiment"

// Figure 5-13: two-phase locking over kernel TCP, as MySQL cluster has it, with its locks, with its default of reading what is
// committed, and with snapshots of DST (§5.5.2). "We increase the number of clients until the throughput is saturated": X is the
// clients of the cluster. What a record takes of a server's core is assumed (host.scale), so a figure's band is wide.
//
// Its clients ask statement by statement (txn.speculative off), as SQL has it.

const twoPL5 = "2PL"

var figures513 = []*definition{
	figure513("5-13a", "TPC-C", "tpcc", "f5-13a-dst"), figure513("5-13b", "SmallBank", "smallbank", "f5-13b-dst"),
}

var lines513 = []line4{
	{twoPL5, experiment.Knobs{"cc": "2pl"}},
	{rc5, experiment.Knobs{"cc": "2pl", "2pl.isolation": "read-committed"}},
	{dst5, experiment.Knobs{"cc": "2pl", "ts.scheme": "dst"}},
}

func figure513(id, title, workload, row string) *definition {
	return &definition{
		id: id, title: title + " on two-phase locking over TCP", chapter: 5, section: "5.5.2", scope: "cluster", costs: append([]cost{assumed("host.scale", "what records take of a server")}, tcpCosts...),
		x: Axis{Label: "Clients of the cluster", Unit: "clients", Log: true}, y: Axis{Label: "Throughput", Unit: "Mtxn/s"},
		plan: func(scale string) plan { return plan513(scale, workload) },
		claims: func(f *Figure) []Claim {
			return append(f.faster(row, "DST by the throughput of two-phase locking, up to and from", dst5, twoPL5, everywhere),
				all("f5-13-order", "snapshots make it faster, up to about read committed", f.above("", "DST over 2PL", everywhere, pair{dst5, twoPL5}), f.close5("", "DST reaches 95 % of RC", dst5, rc5, 0.95)))
		},
	}
}

func plan513(scale, workload string) plan {
	p := plan{base: vale5.base(scale, workload, experiment.Knobs{"txn.speculative": false}), note: vale5.note(scale)}
	if workload == "smallbank" && scale == Paper { // TPC-C has its aborts for that, and at quick scale a queue is for two threads instead of three
		p.note += "; of most clients' messages a receive queue is never empty, so ksoftirqd and a thread have half of its core each (tcp.softirq_limit), and throughput is below its peak"
	}
	loads := []int{1, 4, 16}
	if scale == Paper {
		loads = []int{1, 2, 4, 8, 16}
	}
	clients := vale5.machines * vale5.threads
	if scale == Quick {
		clients = vale5.fewer["nodes"].(int) * vale5.fewer["threads"].(int)
	}
	for _, l := range lines513 {
		s := plannedSeries{name: l.name}
		for _, n := range loads {
			s.points = append(s.points, plannedPoint{x: float64(n * clients), set: with(l.set, vale5.under(n, 1)), read: mtxn})
		}
		p.series = append(p.series, s)
	}
	return p
}
