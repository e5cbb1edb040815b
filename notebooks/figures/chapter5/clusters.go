package chapter5

import (
	"fmt"
	"maps"
	"slices"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// What the figures of chapter 5 share. In every cluster one machine more, the oracle, holds no data and runs no clients (§5.5),
// whether the scheme needs it or not.
//
// At paper scale a run of these clusters takes minutes, so quick scale has fewer machines and threads, as many on each cluster, and
// fewer threads of the oracle by the same factor, to the nearest: what a core of the oracle has to do stays. Vectors of timestamps
// are shorter by that factor, and those of VTS are what they cost, so the figure says so. There is no point at paper scale
// beside the quick ones; --scale paper has all machines and threads.

// thesisCluster is a cluster of the chapter, without its oracle.
type thesisCluster struct {
	name              string
	profile, preset   string
	machines, threads int
	fewer             experiment.Knobs // at quick scale
	costs             []figure.Cost    // of bands
}

// Two without RDMA, whose systems are two-sided in every phase, and that of chapter 4 (§5.5, Table 5-1).
var (
	aws  = thesisCluster{"AWS", "aws", "fasst", 31, 8, experiment.Knobs{"nodes": 8, "threads": 4, "oracle.threads": 1, queuesKnob: 2}, tcpCosts}
	vale = thesisCluster{"VALE", "vale", "fasst", 15, 24, experiment.Knobs{"nodes": 8, "threads": 4, "oracle.threads": 2, queuesKnob: 2}, tcpCosts}
	val  = thesisCluster{"VAL", "val", "drtm+h", 15, 24, experiment.Knobs{"nodes": 8, "threads": 4, "nics": 1, "oracle.threads": 2}, nil}
)

// queuesKnob are fewer at quick scale, of the same number on all machines: one queue of the oracle is for 16 threads instead of 31 (AWS)
// or 45 (VALE), and one of another machine for 2 instead of 1 or 3.
const queuesKnob = "hardware.tcp.queues"

// tcpCosts are numbers of kernel TCP and of such machines that are not published. Retransmission is not in them, for no run loses a segment,
// nor are rates that are above the link's.
var tcpCosts = []figure.Cost{
	figure.CoordinatorCost,
	figure.Assumed("hardware.tcp.send_call", "what threads take to send and receive", "hardware.tcp.send_segment", "hardware.tcp.receive_call", "hardware.tcp.poll", "hardware.tcp.copy_line", "hardware.cpu.dispatch"),
	figure.Assumed("hardware.tcp.softirq", "what softirq work and the scheduler take", "hardware.tcp.softirq_segment", "hardware.scheduler.context_switch", "hardware.scheduler.wake"),
	figure.Assumed("hardware.wire.switch", "the time between two hosts", "hardware.tcp.interrupt", "hardware.nic.tx_send", "hardware.nic.tx_latency", "hardware.nic.rx_send", "hardware.nic.rx_latency", "hardware.pcie.one_way"),
	figure.Assumed("hardware.memory.dram", "what cores take at memory and at lines that others have written", "hardware.memory.dram_next", "hardware.memory.dram_random", "hardware.memory.dram_store",
		"hardware.memory.llc_hit", "hardware.memory.llc_next", "hardware.memory.llc_store", "hardware.memory.llc_dma", "hardware.memory.tlb_walk", "hardware.memory.cross_socket",
		"hardware.cpu.copy_line", "hardware.cpu.atomic", "hardware.cpu.line_transfer"),
}

// base is what runs on the cluster share. But for Figure 5-13 they ask for announced records together, as DrTM+H does (§4.4.1) and §5.1.1 allows: a
// snapshot asks each machine once, and a rival that went from record to record would be slower by its messages, not by its timestamps.
func (c thesisCluster) base(scale, workload string, more ...experiment.Knobs) experiment.Spec {
	sets := []experiment.Knobs{{"profile": c.profile, "nodes": c.machines, "threads": c.threads, "oracle": true, "txn.speculative": true, "check": "sampled"}}
	if scale == figure.Quick {
		sets = append(sets, experiment.Knobs{"workload.scale": 0.1}, c.fewer)
	}
	return experiment.Spec{Preset: c.preset, Workload: workload, Set: figure.With(append(sets, more...)...)}
}

// note says what quick scale has less of.
func (c thesisCluster) note(scale string) string {
	if scale == figure.Paper {
		return c.name
	}
	s := fmt.Sprintf("%s, %v of %d machines with %v of %d threads; the oracle has %v", c.name, c.fewer["nodes"], c.machines, c.fewer["threads"], c.threads, c.fewer["oracle.threads"])
	if q, ok := c.fewer[queuesKnob]; ok {
		s += fmt.Sprintf(", and each NIC %v receive queues", q)
	}
	return s
}

// The lines of the figures.
const (
	labelOCC  = "OCC"
	labelRC   = "RC"
	labelGTS  = "GTS"
	labelVTS  = "VTS"
	labelDST  = "DST"
	labelNone = "NoTS"
)

// schemeLines are systems on optimistic concurrency control: without timestamps, and with each scheme and the optimisations that it has
// (§5.5). RC is incorrect, an upper reference.
var schemeLines = []figure.Setting{
	{Name: labelOCC, Set: experiment.Knobs{"cc": "occ"}},
	{Name: labelRC, Set: experiment.Knobs{"cc": "rc"}},
	{Name: labelGTS, Set: experiment.Knobs{"ts.scheme": "gts", "ts.batching": true, "ts.fetch_thread": true}},
	{Name: labelVTS, Set: experiment.Knobs{"ts.scheme": "vts", "ts.batching": true, "ts.fetch_thread": true, "ts.compression": true}},
	{Name: labelDST, Set: experiment.Knobs{"ts.scheme": "dst"}},
}

// but are the lines without some.
func but(ls []figure.Setting, names ...string) (out []figure.Setting) {
	for _, l := range ls {
		if !slices.Contains(names, l.Name) {
			out = append(out, l)
		}
	}
	return out
}

// loadsOf are the coroutines of a thread among which the peak is looked for. Under more than eight a thread's core is busy, and clients
// gather in the longest transactions for a tenth of a second before a run is steady. Of TPC-C, whose clients of a thread share a
// warehouse, half as many conflict as much, and runs are long: quick scale has one load, whose throughput is that of twice the
// load within a tenth, but for OCC, which loses.
func loadsOf(scale, workload string) []int {
	switch {
	case scale == figure.Paper:
		return []int{1, 4, 8, 16}
	case workload == "tpcc":
		return []int{4}
	}
	return []int{2, 8}
}

// arrangePeaks keeps of the points at the same place the highest: the peak throughput over the loads.
func arrangePeaks(f *figure.Figure) {
	for i := range f.Series {
		s := &f.Series[i]
		var best []figure.Point
		for _, p := range s.Points {
			k := slices.IndexFunc(best, func(q figure.Point) bool { return q.X == p.X })
			switch {
			case k < 0:
				best = append(best, p)
			case p.Y > best[k].Y:
				best[k] = p
			}
		}
		s.Points = best
	}
}

// under is an interval that fits a transaction over so many times the usual. Over TCP transactions take several times as long as with
// RDMA, and it begins beyond tcp.softirq_limit; with RDMA it begins when phases that choose their primitive have chosen.
func (c thesisCluster) under(coroutines int, longer float64) experiment.Knobs {
	us := func(fixed, each float64) int { return 1000 * int(longer*(fixed+each*float64(coroutines))) }
	if c.profile == val.profile {
		return experiment.Knobs{"coroutines": coroutines, "warmup_ns": us(2000, 100), "duration_ns": us(2000, 300)}
	}
	return experiment.Knobs{"coroutines": coroutines, "warmup_ns": us(3000, 500), "duration_ns": us(6000, 2500)}
}

// faster is how many times one line is above another, beside what is published.
func faster(f *figure.Figure, id, text string, above, below string, at func(x float64) bool) []figure.Claim {
	return compared(f, id, text, figure.Times, above, below, at)
}

// compared is what the ratios of two lines come to in the quantity of a published number.
func compared(f *figure.Figure, id, text string, q figure.Quantity, above, below string, at func(x float64) bool) []figure.Claim {
	rs := f.Ratios(figure.Pair{Above: above, Below: below}, at)
	if len(rs) == 0 {
		return nil
	}
	return []figure.Claim{f.Compared(id, text, q, rs...)}
}

// reaches is a claim that one line reaches at least a share of another everywhere.
func reaches(f *figure.Figure, id, text string, line, of string, share float64) figure.Claim {
	c := figure.Claim{ID: id, Claim: text, Reference: fmt.Sprint(100 * share), Unit: "%"}
	rs := f.Ratios(figure.Pair{Above: line, Below: of}, figure.Everywhere)
	if len(rs) == 0 {
		return figure.NoRuns(c)
	}
	_, least := figure.Extremes(rs)
	v := 100 * least.Value
	c.Measured, c.Status, c.Why = &v, figure.NotBelowZero(least.Value-share, least.Half), "least: "+f.Because(least)
	return c
}

func onlyAt(x float64) func(float64) bool { return func(at float64) bool { return at == x } }

// shareOfType is the percentage of a run's committed transactions that are of some types. TPC-C's delivery commits once for each of ten
// districts, as clause 2.7.2 allows, and is one in the mix.
func shareOfType(r *result.Result, names ...string) float64 {
	some, all := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(r.ByType)) {
		n := float64(r.ByType[name].Commits)
		if name == "delivery" {
			n /= 10
		}
		all += n
		if slices.Contains(names, name) {
			some += n
		}
	}
	return 100 * some / max(all, 1)
}
