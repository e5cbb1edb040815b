package figures

import (
	"fmt"
	"strings"
)

// The withheld rows of chapter 3 that the figures of fig3_time.go and fig3_runs.go predict.

// predictGain is a withheld number that says by how many percent one line is above another at x.
func (f *Figure) predictGain(id, text string, x float64, p pair) []Claim {
	rs := f.ratios(p, func(at float64) bool { return at == x })
	if len(rs) == 0 {
		return nil
	}
	return []Claim{withheld(id, text, "%", 100*(rs[0].value-1), f.because(rs[0]))}
}

// rows316 are those of Figure 3-16. What the thesis calls invalidations is taken for lookups that ask the server: speculation
// halves them.
func (f *Figure) rows316() (out []Claim) {
	if p, ok := f.half(xstore); ok {
		id := map[string]string{"3-16a": "f3-16-inval-uni", "3-16b": "f3-16-inval-latest"}[f.ID]
		out = append(out, withheld(id, f.Title+": XStore's lookups that ask the server", "%", f.Runs[p.Run].Parts["xstore"]["fallbacks"], "mean of the second half"))
	}
	if p, ok := f.half(optimal); ok && f.ID == "3-16a" {
		out = append(out, withheld("f3-16-optimal", f.Title+": a whole-index cache", f.Y.Unit, p.Y, "mean of the second half; "+limit(f.Runs[p.Run])))
	}
	return out
}

func (f *Figure) rows317b() (out []Claim) {
	for _, x := range []struct{ id, name string }{{"f3-17b-opt-cpu", optimal}, {"f3-17b-xstore-cpu", xstore}} {
		if p, ok := f.series(x.name).named("CPU_IDX"); ok {
			out = append(out, withheld(x.id, x.name+": the client's own time for its index", f.Y.Unit, p.Y, limit(f.Runs[p.Run])))
		}
	}
	return out
}

// rows318 are those of Figures 3-18a and b, by workload.
func (f *Figure) rows318(with, without string, letters ...string) (out []Claim) {
	for _, l := range letters {
		out = append(out, f.predictGain("f"+f.ID+"-"+l, "YCSB "+strings.ToUpper(l)+": what it brings", float64(l[0]-'a')+1, pair{with, without})...)
	}
	return out
}

func (f *Figure) rows319a() (out []Claim) {
	for i, w := range []string{"p1", "p2"} {
		for _, o := range []struct{ id, name string }{{"drtm", drtmTree}, {"emt", emt}, {"cell", cell}} {
			out = append(out, f.predictRatios("f3-19a-"+w+"-"+o.id, fmt.Sprintf("Prod%d: XStore over %s", i+1, o.name), float64(i+1), xstore, o.name)...)
		}
	}
	return out
}

func (f *Figure) rows319b() (out []Claim) {
	uniform := f.series("uniform")
	if len(uniform.Points) == 0 {
		return nil
	}
	peak := uniform.peak()
	out = append(out, withheld("f3-19b-uni-peak", "uniform, at its peak", f.Y.Unit, peak.Y, limit(f.Runs[peak.Run])))
	out = append(out, f.predictPoint("f3-19b-zipf-peak", "zipfian, 6 RNICs", "zipfian", 6)...)
	if one, ok := uniform.at(1); ok {
		for _, n := range []int{2, 3} {
			if p, ok := uniform.at(float64(n)); ok {
				r := divide(pair{fmt.Sprintf("%d RNICs", n), "1"}, p, one)
				out = append(out, withheld(fmt.Sprintf("f3-19b-scale%d", n), fmt.Sprintf("uniform, %d RNICs over one", n), "x", r.value, f.because(r)))
			}
		}
	}
	return out
}

// rows320a is how fast YCSB D inserts.
func (f *Figure) rows320a() []Claim {
	p, ok := f.series(leavesSplit).named("YCSB D")
	if !ok {
		return nil
	}
	r := f.Runs[p.Run]
	rate := float64(r.ByType["insert"].Commits) / float64(max(r.VirtualNS, 1)) * 1e3
	return []Claim{withheld("f3-20a-insert-rate", "inserts of YCSB D", "M/s", rate, limit(r))}
}

// rows320b are those of Figure 3-20b, at the highest rate.
func (f *Figure) rows320b() (out []Claim) {
	one := f.series(oneThread).Points
	if len(one) < 2 {
		return nil
	}
	none, most := one[0], one[len(one)-1]
	r := f.Runs[most.Run]
	out = append(out, withheld("f3-20b-none", "GETs without inserts", f.Y.Unit, none.Y, limit(f.Runs[none.Run])),
		withheld("f3-20b-1thr", "GETs with one thread that trains, at the highest rate of inserts", f.Y.Unit, most.Y, limit(r)),
		withheld("f3-20b-insert-peak", "the highest rate of inserts", "M/s", float64(r.ByType["insert"].Commits)/float64(max(r.VirtualNS, 1))*1e3, limit(r)))
	for _, x := range []struct{ id, name string }{{"f3-20b-1thr-drop", oneThread}, {"f3-20b-2thr-drop", twoThreads}} {
		if p, ok := f.series(x.name).at(most.X); ok {
			out = append(out, withheld(x.id, x.name+": GETs lost at the highest rate", "%", 100*(1-p.Y/none.Y), limit(f.Runs[p.Run])))
		}
	}
	return out
}

// rows33t are the cells of Table 3-3.
func (f *Figure) rows33t() (out []Claim) {
	for _, s := range []struct{ id, name string }{{"off", withoutLog}, {"on", withLog}} {
		for _, p := range f.series(s.name).Points {
			out = append(out, withheld("t3-3-"+strings.ToLower(p.Name)+"-"+s.id, "YCSB "+p.Name+", "+s.name, f.Y.Unit, p.Y, limit(f.Runs[p.Run])))
		}
	}
	rs := f.ratios(pair{withLog, withoutLog}, func(float64) bool { return true })
	if len(rs) == 0 {
		return out
	}
	_, least := extremes(rs)
	return append(out, withheld("t3-3-drop", "what logs cost at most", "%", 100*(1-least.value), f.because(least)))
}
