package chapter3

import (
	"fmt"
	"math"
	"strings"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// The published numbers of chapter 3 that the figures of time.go and runs.go come to.

// rowsOverTime are those of Figure 3-16. What the thesis calls invalidations is taken for lookups that ask the server: speculation
// halves them.
func rowsOverTime(f *figure.Figure) (out []figure.Claim) {
	if p, ok := half(f, xstore); ok {
		id := map[string]string{"3-16a": "f3-16-inval-uni", "3-16b": "f3-16-inval-latest"}[f.ID]
		out = append(out, figure.Measured(id, f.Title+": XStore's lookups that ask the server", "%", f.Runs[p.Run].Parts["xstore"]["fallbacks"], 0, "mean of the second half"))
	}
	if p, ok := half(f, optimal); ok && f.ID == "3-16a" {
		out = append(out, figure.Measured("f3-16-optimal", f.Title+": a whole-index cache", f.Y.Unit, p.Y, p.CI95, "mean of the second half; "+figure.LimitOf(f.Runs[p.Run])).At(optimal, math.NaN()))
	}
	return out
}

func rowsLookups(f *figure.Figure) (out []figure.Claim) {
	for _, x := range []struct{ id, name string }{{"f3-17b-opt-cpu", optimal}, {"f3-17b-xstore-cpu", xstore}} {
		if p, ok := f.Line(x.name).Named("CPU_IDX"); ok {
			c := figure.Measured(x.id, x.name+": the client's own time for its index", f.Y.Unit, p.Y, 0, figure.LimitOf(f.Runs[p.Run])).At(x.name, p.X)
			c.Place.Part = p.Name
			out = append(out, c)
		}
	}
	return out
}

// rowsSwitched are those of Figures 3-18a and b, by workload.
func rowsSwitched(f *figure.Figure, with, without string, letters ...string) (out []figure.Claim) {
	for _, l := range letters {
		x := float64(l[0]-'a') + 1
		out = append(out, predictRatios(f, "f"+f.ID+"-"+l, "YCSB "+strings.ToUpper(l)+": with it by the throughput without", x, with, without)...)
	}
	return out
}

func rowsProduction(f *figure.Figure) (out []figure.Claim) {
	for i, w := range []string{"p1", "p2"} {
		for _, o := range []struct{ id, name string }{{"drtm", drtmTree}, {"emt", emt}, {"cell", cell}} {
			out = append(out, predictRatios(f, "f3-19a-"+w+"-"+o.id, fmt.Sprintf("Prod%d: XStore over %s", i+1, o.name), float64(i+1), xstore, o.name)...)
		}
	}
	return out
}

func rowsServers(f *figure.Figure) (out []figure.Claim) {
	uniform := f.Line("uniform")
	if len(uniform.Points) == 0 {
		return nil
	}
	peak := uniform.Peak()
	out = append(out, figure.Measured("f3-19b-uni-peak", "uniform, at its peak", f.Y.Unit, peak.Y, peak.CI95, figure.LimitOf(f.Runs[peak.Run])).At("uniform", peak.X))
	out = append(out, predictPoint(f, "f3-19b-zipf-peak", "zipfian, 6 RNICs", "zipfian", 6)...)
	if one, ok := uniform.At(1); ok {
		for _, n := range []int{2, 3} {
			if p, ok := uniform.At(float64(n)); ok {
				r := figure.Divide(figure.Pair{Above: "uniform", Below: "one RNIC"}, p, one)
				out = append(out, f.Compared(fmt.Sprintf("f3-19b-scale%d", n), fmt.Sprintf("uniform, %d RNICs over one", n), figure.Times, r))
			}
		}
	}
	return out
}

// inserts is how many INSERTs of a run did something, in millions a second.
func inserts(r *result.Result) float64 {
	x := r.ByType["insert"]
	return float64(x.Commits-x.Empty) / float64(max(r.VirtualNS, 1)) * 1e3
}

// rowsTraining is how fast YCSB D inserts.
func rowsTraining(f *figure.Figure) []figure.Claim {
	p, ok := f.Line(leavesSplit).Named("YCSB D")
	if !ok {
		return nil
	}
	r := f.Runs[p.Run]
	return []figure.Claim{figure.Measured("f3-20a-insert-rate", "inserts of YCSB D", "Mreq/s", inserts(r), 0, figure.LimitOf(r))}
}

// peakOfInserts is the rate of inserts at which the thesis tells of them, in M/s.
const peakOfInserts = 2.8

// rowsInserts are those of Figure 3-20b, at the highest rate.
func rowsInserts(f *figure.Figure) (out []figure.Claim) {
	one := f.Line(oneThread).Points
	if len(one) < 2 {
		return nil
	}
	none, most := one[0], one[len(one)-1]
	r := f.Runs[most.Run]
	out = append(out, figure.Measured("f3-20b-none", "GETs without inserts", f.Y.Unit, none.Y, none.CI95, figure.LimitOf(f.Runs[none.Run])).At(oneThread, none.X),
		figure.Measured("f3-20b-1thr", "GETs with one thread that trains, at the highest rate of inserts", f.Y.Unit, most.Y, most.CI95, figure.LimitOf(r)).At(oneThread, peakOfInserts),
		figure.Measured("f3-20b-insert-peak", "the highest rate of inserts", "Mreq/s", inserts(r), 0, figure.LimitOf(r)).AlongX(oneThread))
	for _, x := range []struct{ id, name string }{{"f3-20b-1thr-drop", oneThread}, {"f3-20b-2thr-drop", twoThreads}} {
		if p, ok := f.Line(x.name).At(most.X); ok {
			out = append(out, f.Compared(x.id, x.name+": GETs lost at the highest rate", figure.LessBy, figure.Divide(figure.Pair{Above: "no inserts", Below: x.name}, none, p)))
		}
	}
	return out
}

// rowsLogs are the cells of Table 3-3.
func rowsLogs(f *figure.Figure) (out []figure.Claim) {
	for _, s := range []struct{ id, name string }{{"off", withoutLog}, {"on", withLog}} {
		for _, p := range f.Line(s.name).Points {
			out = append(out, figure.Measured("t3-3-"+strings.ToLower(p.Name)+"-"+s.id, "YCSB "+p.Name+", "+s.name, f.Y.Unit, p.Y, p.CI95, figure.LimitOf(f.Runs[p.Run])).At(s.name, p.X))
		}
	}
	rs := f.Ratios(figure.Pair{Above: withoutLog, Below: withLog}, func(float64) bool { return true })
	if len(rs) == 0 {
		return out
	}
	most, _ := figure.Extremes(rs)
	return append(out, f.Compared("t3-3-drop", "what logs cost at most", figure.LessBy, most))
}
