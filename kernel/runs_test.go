package kernel_test

import (
	"strings"
	"testing"
)

// What a notebook sweeps is kept as by the command, and a second sweep computes nothing; a result can be kept and compared later.
func TestRunsAreKept(t *testing.T) {
	t.Parallel()
	sweep := `cluster.Sweep(c.Spec(), cluster.Axis{"coroutines", []int{1, 2}}).Raw.Points[0].Cached`
	out := drive(t,
		step{Code: smallCluster + "\nbase := c.Run(time.Millisecond)\nbase.Keep(\"first\")"},
		step{Code: sweep},
		step{Code: sweep},
		step{Code: `cluster.KeptResult("r1").Digest == base.Digest`},
		step{Code: `cluster.Compare(base, cluster.KeptResult("r2.1"))`},
		step{Code: `cluster.KeptResult("r9")`})
	for i, want := range []string{"r1", "0", "1", "true", "throughput", ""} {
		text := ""
		for _, m := range out[i].Messages {
			if m.Type == "execute_result" {
				text = m.Content.Data["text/plain"]
			}
		}
		if want != "" && (out[i].Status != "ok" || !strings.Contains(text, want)) {
			t.Errorf("cell %d: %s %q %s, want %q", i, out[i].Status, text, out[i].Evalue, want)
		}
	}
	if o := out[5]; o.Status != "error" || !strings.Contains(o.Evalue, "no such run is kept") {
		t.Errorf("%s %q", o.Status, o.Evalue)
	}
}
