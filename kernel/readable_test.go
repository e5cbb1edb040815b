package kernel_test

import (
	"strings"
	"testing"
)

// A value without a form of its own is shown as a person reads it, the same as text and as HTML.
func TestValuesOfCellsAreReadable(t *testing.T) {
	t.Parallel()
	out := drive(t,
		step{Code: "import (\"time\"; \"drtmx/cluster\")\nc := cluster.Up(cluster.Spec{Set: cluster.Knobs{\"nodes\": 3, \"threads\": 1, \"workload.accounts\": 500, \"cache.bytes\": \"1MB\"}})\nr := c.Run(time.Millisecond)\n0"},
		step{Code: "r.Raw.ByType"},
		step{Code: "r.Raw.Limit"},
		step{Code: "r.LatencyUS"},
		step{Code: "t := r.Table().Col(\"twice\", func(r cluster.Row) any { return 2 * r.Num(\"throughput\") })\nt.Query(\"SELECT twice / throughput AS n FROM t LIMIT 1\").Numbers(\"n\")[0]"},
		step{Code: "t.Line(\"ms\", \"throughput\").Title(\"mine\")"},
		step{Code: "t.Line(\"ms\", \"thruput\")"})
	for i, want := range []string{"0", "amalgamate", "busy", "P50", "2", "mine", ""} {
		if text := out[i].text(); !strings.Contains(text, want) || strings.Contains(text, "0x") || strings.Contains(text, "map[") {
			t.Errorf("cell %d shows %q, want %q (%s)", i, text, want, out[i].Evalue)
		}
	}
	if got := out[6].Evalue; !strings.Contains(got, "column = thruput: no such column, did you mean throughput?") {
		t.Errorf("an unknown column fails with %q", got)
	}
}
