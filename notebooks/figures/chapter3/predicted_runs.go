package chapter3

import (
	"fmt"
	"strings"

	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

// The withheld rows of chapter 3 that the figures of fig3_time.go and fig3_runs.go predict.

// rowsOverTime are those of Figure 3-16. What the thesis calls invalidations is taken for lookups that ask the server: speculation
// halves them.
func rowsOverTime(f *figure.Figure) (out []figure.Claim) {
	if p, ok := half(f, xstore); ok {
		id := map[string]string{"3-16a": "f3-16-inval-uni", "3-16b": "f3-16-inval-latest"}[f.ID]
		out = append(out, figure.Withheld(id, f.Title+": XStore's lookups that ask the server", "%", f.Runs[p.Run].Parts["xstore"]["fallbacks"], "mean of the second half"))
	}
	if p, ok := half(f, optimal); ok && f.ID == "3-16a" {
		out = append(out, figure.Withheld("f3-16-optimal", f.Title+": a whole-index cache", f.Y.Unit, p.Y, "mean of the second half; "+figure.LimitOf(f.Runs[p.Run])))
	}
	return out
}

func rowsLookups(f *figure.Figure) (out []figure.Claim) {
	for _, x := range []struct{ id, name string }{{"f3-17b-opt-cpu", optimal}, {"f3-17b-xstore-cpu", xstore}} {
		if p, ok := f.Line(x.name).Named("CPU_IDX"); ok {
			out = append(out, figure.Withheld(x.id, x.name+": the client's own time for its index", f.Y.Unit, p.Y, figure.LimitOf(f.Runs[p.Run])))
		}
	}
	return out
}

// rowsSwitched are those of Figures 3-18a and b, by workload.
func rowsSwitched(f *figure.Figure, with, without string, letters ...string) (out []figure.Claim) {
	for _, l := range letters {
		out = append(out, f.PredictGain("f"+f.ID+"-"+l, "YCSB "+strings.ToUpper(l)+": what it brings", float64(l[0]-'a')+1, figure.Pair{Above: with, Below: without})...)
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
	out = append(out, figure.Withheld("f3-19b-uni-peak", "uniform, at its peak", f.Y.Unit, peak.Y, figure.LimitOf(f.Runs[peak.Run])))
	out = append(out, predictPoint(f, "f3-19b-zipf-peak", "zipfian, 6 RNICs", "zipfian", 6)...)
	if one, ok := uniform.At(1); ok {
		for _, n := range []int{2, 3} {
			if p, ok := uniform.At(float64(n)); ok {
				r := figure.Divide(figure.Pair{Above: fmt.Sprintf("%d RNICs", n), Below: "1"}, p, one)
				out = append(out, figure.Withheld(fmt.Sprintf("f3-19b-scale%d", n), fmt.Sprintf("uniform, %d RNICs over one", n), "x", r.Value, f.Because(r)))
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
	return []figure.Claim{figure.Withheld("f3-20a-insert-rate", "inserts of YCSB D", "M/s", inserts(r), figure.LimitOf(r))}
}

// rowsInserts are those of Figure 3-20b, at the highest rate.
func rowsInserts(f *figure.Figure) (out []figure.Claim) {
	one := f.Line(oneThread).Points
	if len(one) < 2 {
		return nil
	}
	none, most := one[0], one[len(one)-1]
	r := f.Runs[most.Run]
	out = append(out, figure.Withheld("f3-20b-none", "GETs without inserts", f.Y.Unit, none.Y, figure.LimitOf(f.Runs[none.Run])),
		figure.Withheld("f3-20b-1thr", "GETs with one thread that trains, at the highest rate of inserts", f.Y.Unit, most.Y, figure.LimitOf(r)),
		figure.Withheld("f3-20b-insert-peak", "the highest rate of inserts", "M/s", inserts(r), figure.LimitOf(r)))
	for _, x := range []struct{ id, name string }{{"f3-20b-1thr-drop", oneThread}, {"f3-20b-2thr-drop", twoThreads}} {
		if p, ok := f.Line(x.name).At(most.X); ok {
			out = append(out, figure.Withheld(x.id, x.name+": GETs lost at the highest rate", "%", 100*(1-p.Y/none.Y), figure.LimitOf(f.Runs[p.Run])))
		}
	}
	return out
}

// rowsLogs are the cells of Table 3-3.
func rowsLogs(f *figure.Figure) (out []figure.Claim) {
	for _, s := range []struct{ id, name string }{{"off", withoutLog}, {"on", withLog}} {
		for _, p := range f.Line(s.name).Points {
			out = append(out, figure.Withheld("t3-3-"+strings.ToLower(p.Name)+"-"+s.id, "YCSB "+p.Name+", "+s.name, f.Y.Unit, p.Y, figure.LimitOf(f.Runs[p.Run])))
		}
	}
	rs := f.Ratios(figure.Pair{Above: withLog, Below: withoutLog}, func(float64) bool { return true })
	if len(rs) == 0 {
		return out
	}
	_, least := figure.Extremes(rs)
	return append(out, figure.Withheld("t3-3-drop", "what logs cost at most", "%", 100*(1-least.Value), f.Because(least)))
}
