package kernel_test

import (
	"strings"
	"testing"
)

func TestFiguresAndPages(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: smallCluster + "\nimport (\"net/http\"; \"drtmx/notebooks/figures\")"},
		step{Code: `figures.Get("2-4a")`},
		step{Code: `figures.Get("99-9")`},
		step{Code: "link := c.Dashboard()\nlink"},
		step{Code: "answer, err := http.Get(link.URL)\nanswer.StatusCode"},
		step{Code: `v := cluster.AB(c.Spec(), cluster.Knobs{"ddio": true}, cluster.Knobs{"ddio": false})` + "\nv.Watch(300*time.Microsecond)"},
		step{Code: `c.Fork(cluster.Knobs{"phase.logging": "two-sided"}).Run(100 * time.Microsecond).Throughput > 0`})
	wants := []string{"", "2-4a", "", "http://127.0.0.1:", "200", "ddio true -> false", "true"}
	for i, o := range out {
		if i == 2 {
			if o.Status != "error" || !strings.Contains(o.Evalue, "99-9") {
				t.Errorf("unknown figure: %s %q", o.Status, o.Evalue)
			}
			continue
		}
		if o.Status != "ok" || !strings.Contains(o.text(), wants[i]) {
			t.Errorf("cell %d: %s %q shows %q, want %q in it", i, o.Status, o.Evalue, o.text(), wants[i])
		}
	}
}

// Figures in a notebook: their list, a variant over the figure, the cell that the page
// copies, and points that come until an interrupt.
func TestFiguresInANotebook(t *testing.T) {
	t.Parallel()
	const short = `cluster.Knobs{"duration_ns": 20_000, "warmup_ns": 5_000}`
	out := drive(t,
		step{Code: "import (\"time\"; \"drtmx/cluster\"; \"drtmx/notebooks/figures\")"},
		step{Code: "figures.List()"},
		step{Code: `figures.Get("2-persist").With(` + short + `).Compare()`},
		step{Code: "// Figure 2-persist\nimport (\n\t\"time\"\n\n\t\"drtmx/cluster\"\n)\n\nc := cluster.Up(cluster.Spec{Preset: \"drtm+h\", Workload: \"smallbank\", Set: cluster.Knobs{\"nodes\": 3, \"workload.accounts\": 1000}})\nc.Run(5 * time.Microsecond) // warm-up\nc.Run(20 * time.Microsecond)\n"},
		step{Code: `figures.Get("2-persist").With(cluster.Knobs{"duration_ns": 1_000_000_000, "seed": int(time.Now().UnixNano() % 1_000_000)}).Show()`, InterruptAt: "of 21 runs"})
	for i, want := range []string{"", "§2.3.4.3", "duration_ns = 20000", "committed over 20 µs", "of 21 runs"} {
		text := out[i].text()
		for _, m := range out[i].Messages { // what took the place of points that had come
			if m.Type == "update_display_data" {
				text += m.Content.Data["text/plain"]
			}
		}
		if o := out[i]; !strings.Contains(text, want) || i < 4 && o.Status != "ok" {
			t.Errorf("cell %d: %s %q shows %q, want %q in it", i, o.Status, o.Evalue, text, want)
		}
	}
	if o := out[4]; o.Status != "error" || o.Evalue != "interrupted" {
		t.Errorf("interrupted: %s %q %.2f s later", o.Status, o.Evalue, o.AfterInterrupt)
	}
}
