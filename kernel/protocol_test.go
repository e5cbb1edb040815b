package kernel_test

import (
	"os"
	"strings"
	"testing"
)

// The smallest example protocol runs in cells, just as it stands in its file: under the checks, and in an exploration. A body that is declared again counts at
// once, also where a sweep had computed the point before; a fault in one names its line.
func TestOwnProtocol(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../engine/example/serial/serial.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(text), "\nimport (")
	imports, body, _ := strings.Cut(code, "\n)\n")
	const run = `cluster.Sweep(cluster.Spec{Set: cluster.Knobs{"cc": "serial", "nodes": 3, "threads": 1, "coroutines": 1, "warmup_ns": "100us", "duration_ns": "1ms"}},
	cluster.Axis{"seed", []int{1}}).Raw.Points[0].Runs[0]`
	out := drive(t,
		step{Code: "import (" + imports + "\n\"time\"\n\"drtmx/cluster\"\n\"drtmx/engine/explore\"\n)"},
		step{Code: body},
		step{Code: body}, // which makes its gauge known again
		step{Code: "cluster.AddProtocol(Kind)"},
		step{Code: "first := " + run + "\nfirst.Checks.Passed() && first.Commits > 20 && first.Parts[\"serial\"][\"taken\"] > 5"},
		step{Code: `cluster.Explore(cluster.Spec{Set: cluster.Knobs{"cc": "serial"}}, explore.Options{Bound: 1})`},
		step{Code: `c := cluster.Up(cluster.Spec{Set: cluster.Knobs{"cc": "serial", "nodes": 3, "threads": 1, "coroutines": 1}})`},
		step{Code: "func (s *session) Validate() error {\n\ts.c.Sleep(1000)\n\treturn nil\n}\n\nfunc (s *session) end() {\n\ts.c.Sleep(100000000)\n\ts.c.Write(s.p.lock, make([]byte, 8))\n\ts.c.Wait()\n}"},
		step{Code: run + ".Commits < first.Commits / 4"},
		step{Code: "c.Run(2*time.Millisecond).Checks().OK()"},
		step{Code: "func (s *session) Commit() error {\n\n\tvar none []int\n\tnone[2] = 1\n\treturn nil\n}"},
		step{Code: "c.Run(time.Millisecond)"},
		step{Code: "cluster.AddProtocol(Kind)\nc.Reset(cluster.Knobs{})"},
		step{Code: "cluster.AddProtocol(Kind)\nc.Run(time.Microsecond)"})
	for i, want := range []string{3: "cc=serial claims strict-serializable; its knobs: serial.poll_ns", 4: "true", 5: "nothing", 8: "true", 9: "true"} {
		if o := out[i]; o.Status != "ok" || !strings.Contains(o.text(), want) {
			t.Errorf("cell %d: %s %q shows %q, want %q in it", i+1, o.Status, o.Evalue, o.text(), want)
		}
	}
	for i, want := range map[int]string{11: "cell [11] line 4: reflect: slice index out of range", 13: "cc = serial: was plugged in anew since this system was opened; reset it"} {
		if o := out[i]; o.Status != "error" || !strings.Contains(o.Evalue, want) {
			t.Errorf("cell %d: %s %q %q, want an error with %q", i+1, o.Status, o.Evalue, o.text(), want)
		}
	}
}
