package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/result"
)

// manyChart draws a kept row of several runs; nil where there is nothing to draw.
func (p *page) manyChart(k *keep.Kept, size charts.Size) (*charts.Chart, error) {
	v, err := k.Value()
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case *batch.SweepResult:
		s := &cluster.SweepResult{Raw: x}
		if s.IsGrid() {
			return s.HeatMapSized(size, "throughput")
		}
		return s.ChartSized(size, "throughput", "latency_us.p50", "latency_us.p99")
	case json.RawMessage:
		f := p.source.ReadFigure(x)
		if f == nil {
			return nil, nil
		}
		return f.Draw(size), nil
	}
	var lines []charts.Series
	var of []*result.Histogram
	for i, r := range k.Results {
		if r != nil && r.Histogram.Count() > 0 && len(of) < manyLines {
			name := r.Name
			if k.IsSeeds() {
				name = fmt.Sprintf("seed %v", r.Spec["seed"])
			}
			if name == "" {
				name = fmt.Sprintf("%v.%d", k.ID, i+1)
			}
			lines, of = append(lines, charts.Series{Name: name}), append(of, r.Histogram)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	return cluster.CDFChart(size, "", lines, of), nil
}

// manyLines is how many distributions a chart has at most.
const manyLines = 8

// drawMany answers with the chart of a row of several runs.
func (p *page) drawMany(w http.ResponseWriter, r *http.Request, k *keep.Kept) {
	c, err := p.manyChart(k, sizeOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	p.draw(w, r, "", func() *charts.Chart { return c })
}

// changesOf are the changes that were made in a session.
func changesOf(r *result.Result) (out []runFact) {
	for i, c := range r.Changes {
		out = append(out, runFact{fmt.Sprintf("%d at %.4g ms", i+1, float64(c.VirtualNS)/1e6), settings(c.Set)})
	}
	return out
}
