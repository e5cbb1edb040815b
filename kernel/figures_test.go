package kernel_test

import (
	"strings"
	"testing"
)

func TestFiguresAndPages(t *testing.T) {
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
