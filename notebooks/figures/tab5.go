package figures

import (
	"fmt"

	"drtmx/engine/fabric/profile"
)

// Table 5-1: the clusters of chapter 5 without RDMA. It takes no run: what it says is read from the hardware profiles that the runs
// of the chapter have, and their numbers of machines.

var table51 = definition{id: "t5-1", title: "Table 5-1: additional clusters", chapter: 5, section: "5.5", scope: "cluster", form: formTable,
	x: Axis{Label: "Quantity"}, y: Axis{Label: "of a machine, but for nodes"}, plan: noPlan, arrange: arrange51t, claims: claims51t}

// clusters51 are the rows: machines, the oracle's counted, and what the thesis says of cores, memory in GB and network in Gbps.
var clusters51 = []struct {
	cluster5
	cores     string
	published [4]float64
}{
	{aws5, "vcpu", [4]float64{32, 8, 61, 10}},
	{vale5, "cores", [4]float64{16, 24, 128, 10}},
}

var columns51 = []string{"nodes", "cores", "DRAM, GB", "network, Gbps"}

func arrange51t(f *Figure) {
	for _, row := range clusters51 {
		p, err := profile.Load(row.profile)
		must(err)
		node := p.NodeTypes[0]
		s := Series{Name: row.name}
		for i, v := range []float64{float64(row.machines + 1), float64(node.Cores()), node.DRAM.Value, node.NICs.Value * p.Wire.Bandwidth.Value * 8} {
			s.Points = append(s.Points, Point{X: float64(i), Y: v, Name: columns51[i], Text: fmt.Sprint(v)})
		}
		f.Series = append(f.Series, s)
	}
	f.Note = "the eight vCPUs of AWS are hyper-threads, taken for cores; VALE's Intel I350 is a 1 GbE controller, taken for the 10 GbE that the thesis says"
}

func claims51t(f *Figure) []Claim {
	var out []Claim
	for r, row := range clusters51 {
		for i, what := range []string{"nodes", row.cores, "dram", "net"} {
			p := f.Series[r].Points[i]
			out = append(out, counted("t5-1-"+row.profile+"-"+what, fmt.Sprintf("%s: %g %s", row.name, row.published[i], p.Name), row.published[i], p.Y, "profile "+row.profile))
		}
	}
	return out
}
