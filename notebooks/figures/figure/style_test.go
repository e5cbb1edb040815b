package figure

import (
	"strings"
	"testing"
)

// The title of a panel's HTML is text, which no chart can cut off, and not in the chart too.
func TestTitleOfHTML(t *testing.T) {
	f := &Figure{ID: "4-9a", Title: "Prior designs", Form: FormCurves, Note: "half machines: 12 threads, one RNIC: half the throughput",
		Series: []Series{{Name: "A", Points: []Point{{X: 1, Y: 2, Load: 1}, {X: 2, Y: 3, Load: 4}}}}}
	if h := f.HTML(); !strings.Contains(h, "<strong>Figure 4-9a: Prior designs; half machines: 12 threads, one RNIC: half the throughput</strong>") || strings.Contains(h, `"title":{"text":"Figure`) {
		t.Errorf("%.400s", h)
	}
}

// Ticks stand where the points are, and where the thesis's numbers are.
func TestTicksOfFigures(t *testing.T) {
	at := 65536.0
	f := &Figure{Form: FormLines, X: Axis{Label: "Payload", Unit: "bytes", Log: true}, References: []Reference{{X: &at}},
		Series: []Series{{Name: "A", Points: []Point{{X: 256, Y: 1}, {X: 131072, Y: 2}}}}}
	if x := f.ownX(); len(x.Ticks) != 3 || x.Ticks[1] != 65536 {
		t.Errorf("%v", x.Ticks)
	}
	if got := f.X.At(131072); got != "128 KB" {
		t.Error(got)
	}
	if got := (Axis{Unit: "clients"}).At(1048576); got != "1048576 clients" {
		t.Error(got)
	}
}

// The Y axis of a figure is logarithmic where its definition says so, in both forms of a chart, and what is 0 has no place on it.
func TestLogYOfFigures(t *testing.T) {
	for _, form := range []string{FormLines, FormCurves} {
		f := &Figure{ID: "4-9a", Title: "a", Form: form, X: Axis{Label: "Requests"}, Y: Axis{Label: "Latency", Unit: "ms", Log: true},
			Series: []Series{{Name: "A", Points: []Point{{X: 1, Y: 0.5, CI95: 0.1}, {X: 2, Y: 5000, CI95: 9000}}}, {Name: "B", Points: []Point{{X: 1}, {X: 2, Y: 7}}}}}
		c := f.Chart()
		for kind, text := range map[string]string{"svg": strings.ReplaceAll(c.SVG(), "</text>", "\n"), "option": c.Option()} { // order-free: each is tested alone
			if want := map[string]string{"svg": ">Latency (ms), log scale\n", "option": `"type":"log"`}[kind]; strings.Count(text, want) != 1 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s of %s: %d times %q\n%.3000s", kind, form, strings.Count(text, want), want, text)
			}
		}
	}
}

// Many moments are no ticks of their own.
func TestTicksOfATimeline(t *testing.T) {
	f := &Figure{Form: FormLines, Series: []Series{{Name: "XStore"}}}
	for i := range 30 {
		f.Series[0].Points = append(f.Series[0].Points, Point{X: float64(i)})
	}
	if x := f.ownX(); x.Ticks != nil {
		t.Errorf("%d ticks", len(x.Ticks))
	}
}
