package chapter5

import (
	"fmt"

	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/figure"
)

// Table 5-1: the clusters of chapter 5 without RDMA. It takes no run: what it says is read from the hardware profiles that the runs
// of the chapter have, and their numbers of machines.

var clusterTable = figure.Definition{ID: "t5-1", Title: "Table 5-1: additional clusters", Chapter: 5, Section: "5.5", Scope: "cluster", Form: figure.FormTable,
	X: figure.Axis{Label: "Quantity"}, Y: figure.Axis{Label: "of a machine, but for nodes"}, Plan: figure.NoPlan, Arrange: arrangeClusters, Claims: clusterClaims}

// clusterRows are the rows: machines, the oracle's counted, and what the thesis says of cores, memory in GB and network in Gbps.
var clusterRows = []struct {
	thesisCluster
	cores     string
	published [4]float64
}{
	{aws, "vcpu", [4]float64{32, 8, 61, 10}},
	{vale, "cores", [4]float64{16, 24, 128, 10}},
}

var clusterColumns = []string{"nodes", "cores", "DRAM, GB", "network, Gbps"}

func arrangeClusters(f *figure.Figure) {
	for _, row := range clusterRows {
		p, err := profile.Load(row.profile)
		figure.Must(err)
		node := p.NodeTypes[0]
		s := figure.Series{Name: row.name}
		for i, v := range []float64{float64(row.machines + 1), float64(node.Cores()), node.DRAM.Value, node.NICs.Value * p.Wire.Bandwidth.Value * 8} {
			s.Points = append(s.Points, figure.Point{X: float64(i), Y: v, Name: clusterColumns[i], Text: fmt.Sprint(v)})
		}
		f.Series = append(f.Series, s)
	}
	f.Note = "the eight vCPUs of AWS are hyper-threads, taken for cores; VALE's Intel I350 is a 1 GbE controller, taken for the 10 GbE that the thesis says"
}

func clusterClaims(f *figure.Figure) []figure.Claim {
	var out []figure.Claim
	for r, row := range clusterRows {
		for i, what := range []string{"nodes", row.cores, "dram", "net"} {
			p := f.Series[r].Points[i]
			out = append(out, figure.Counted("t5-1-"+row.profile+"-"+what, fmt.Sprintf("%s: %g %s", row.name, row.published[i], p.Name), row.published[i], p.Y, "profile "+row.profile))
		}
	}
	return out
}
