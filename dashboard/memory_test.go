package dashboard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"drtmx/cluster/agent"
	"drtmx/engine/experiment"
)

// The panels of memory, PCIe and caches fill with what a cluster with NVM does, at
// every width and on both grounds. go test -artifacts -outputdir DIR keeps pictures.
func TestMemoryPanelsInABrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	spec, err := experiment.LoadSpec("nvm")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.With(experiment.Knobs{"clients": 2, "client.threads": 4, "server.threads": 4, "workload.scale": 0.02, "workload.payload": 48, "window_ns": 100_000}); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, spec, agent.Options{Pace: 10_000_000}, nil)
	b := newTab(t)
	b.do(chromedp.EmulateViewport(1400, 1500))
	b.do(chromedp.Navigate(s.url("/")))
	b.until("the page is there", ready)
	panels := []struct {
		box    string
		charts map[string]int // and how many tracks or bars each has
	}{
		{"memorybox", map[string]int{"memory": 6, "dimms": 12, "buffers": 12}},
		{"pciebox", map[string]int{"pcie": 4}}, // of the causes a WRITE and completions
		{"cachebox", map[string]int{"caches": 4}},
	}
	for _, p := range panels {
		b.act(fmt.Sprintf(`document.getElementById(%q).open = true`, p.box))
		for id, n := range p.charts {
			b.until(id+" is drawn", fmt.Sprintf(`((o) => Math.max(o.grid.length, o.yAxis[0].data?.length || 0) === %d && o.series.every((s) => s.data.length > 0))(window.echarts.getInstanceByDom(document.getElementById(%q)).getOption())`, n, id))
			b.until(id+" has its height", fmt.Sprintf(`((e) => Math.abs(e.querySelector("canvas").clientHeight - e.clientHeight) < 4)(document.getElementById(%q))`, id))
		}
		for _, look := range []struct {
			name  string
			width int64
			theme string
		}{{"wide", 1400, "light"}, {"dark", 1400, "dark"}, {"phone", 390, "light"}} {
			b.do(chromedp.EmulateViewport(look.width, 1500))
			b.theme(look.theme)
			b.until("it is drawn again", fmt.Sprintf(`document.querySelector("#%s canvas").clientWidth <= %d`, keyOf(p.charts), look.width))
			b.act(fmt.Sprintf(`document.getElementById(%q).scrollIntoView()`, p.box))
			time.Sleep(200 * time.Millisecond) // the picture is kept: let it be drawn to the end
			if w := eval[int64](b, "document.documentElement.scrollWidth"); w > look.width {
				t.Errorf("%s: at a width of %d the page is %d wide", p.box, look.width, w)
			}
			b.shot(p.box + "-" + look.name + ".png")
		}
		b.do(chromedp.EmulateViewport(1400, 1500))
		b.act(fmt.Sprintf(`document.getElementById(%q).open = false`, p.box))
	}
	b.quiet(s)
}

// keyOf is the panel's chart over time.
func keyOf(charts map[string]int) string {
	for _, id := range []string{"memory", "pcie", "caches"} {
		if charts[id] > 0 {
			return id
		}
	}
	return ""
}
