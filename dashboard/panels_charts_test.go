package dashboard

import (
	"strings"
	"testing"

	"drtmx/cluster/system"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/windows"
	"drtmx/engine/metrics/panel"
	"drtmx/engine/result"
)

// Every system in which snapshots run is a line, and one whose scheme promises a bound has a mark there.
func TestStaleness(t *testing.T) {
	f := newFake(t)
	f.systems = append(f.systems, system.Snapshot{Sys: "b", Epoch: "e2"})
	x := get(t, Handler(f), "/page/panels/chart?part=snapshots&chart=0&w=700&h=300&format=option")
	option := x.Body.String()
	if x.Code != 200 || !strings.Contains(option, "[1,100") || !strings.Contains(option, "[30,25") || strings.Count(option, "bound of system") != 1 || !strings.Contains(option, "bound of system a") || !strings.Contains(option, `"xAxis":40`) || !strings.Contains(option, "reads at least as old") {
		t.Errorf("%d: %.2500s", x.Code, option)
	}
	if x := get(t, Handler(f), "/page/panels/chart?part=snapshots&chart=0&w=700&h=300"); x.Code != 200 || !strings.Contains(x.Body.String(), "<svg") || !strings.Contains(x.Body.String(), "bound") {
		t.Errorf("%d: %.200s", x.Code, x.Body)
	}
	if x := get(t, Handler(&fakeSource{}), "/page/panels/chart?part=snapshots&chart=0"); x.Code != 204 {
		t.Errorf("without a system: %d", x.Code)
	}
}

// forms is a panel with a chart of each form that is drawn of gauges.
func forms() *panel.Panel {
	tracks := []panel.Track{{Label: "hits", Unit: "%", Of: panel.Named("hits")}, {Label: "held", Unit: "bytes", Of: panel.Named("client_bytes")}, {Label: "nothing", Of: panel.Named("absent")}}
	x := &panel.Panel{Part: "xstore", Title: "T", Shows: func(w *panel.Window) bool { return w.Gauge("hits") > 0 }}
	for _, form := range []panel.Form{panel.Stacked, panel.Heat, panel.Table} {
		x.Charts = append(x.Charts, panel.Chart{Form: form, Label: "l", Axis: "bytes", Tracks: tracks})
	}
	return x
}

// Stacked bars and tables have the means of the latest windows under the present knobs, a heat map each window; a gauge that shows nothing
// leaves a hole.
func TestFormsOfPanels(t *testing.T) {
	x := forms()
	var ms []windows.Moment
	for i := range 12 {
		version := 2
		if i < 6 {
			version = 1
		}
		m := windows.Of(&result.Window{KnobsVersion: version, T1NS: int64(i+1) * 1e6, Gauges: map[string]float64{"xstore.hits": float64(50 + i), "xstore.client_bytes": 2e6 * float64(version)}})
		ms = append(ms, m)
	}
	h := history{moments: ms, called: "system a"}
	hs := []history{h}
	if ws := latest(x, ms); len(ws) != 6 || ws[0].Gauge("hits") != 56 {
		t.Errorf("%d latest windows", len(ws))
	}
	if o := stackedChart(x, &x.Charts[0], hs, charts.Size{Width: 600}).Option(); !strings.Contains(o, "4000000") || !strings.Contains(o, "58.5") {
		t.Errorf("stacked: %.3000s", o)
	}
	o := heatChart(x, &x.Charts[1], h, charts.Size{Width: 600, Height: 300}).Option()
	if !strings.Contains(o, "61") || strings.Index(o, `"nothing"`) > strings.Index(o, `"hits"`) || !strings.Contains(o, "nothing was measured") {
		t.Errorf("heat: %.3000s", o)
	}
	svg := tableChart(x, &x.Charts[2], hs).SVG()
	for _, want := range []string{"system a", ">58 %<", ">4.0 MB<", ">–<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("table without %s: %.3000s", want, svg)
		}
	}
}

// What a chart of a panel may not be asked for is refused with what there is.
func TestPanelChartIsKnown(t *testing.T) {
	f := newFake(t)
	f.run(4, 8e6)
	for _, q := range []string{"part=xstore&chart=9", "part=xstore", "chart=0"} {
		if x := get(t, Handler(f), "/page/panels/chart?"+q); x.Code < 400 || !strings.Contains(x.Body.String(), "/page/panels") {
			t.Errorf("%s: %d %.200s", q, x.Code, x.Body)
		}
	}
}
