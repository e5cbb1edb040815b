package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"drtmx/cluster/runs/runstest"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
)

// A table of a sweep shows what the sweep does, and answers and draws its points.
func TestTablesOfSweeps(t *testing.T) {
	s := &SweepResult{&batch.SweepResult{Axes: []experiment.Axis{{Knob: "coroutines", Values: []any{1, 4, 8}}}}}
	for i, n := range []int{1, 4, 8} {
		s.Raw.Points = append(s.Raw.Points, sweptPoint(Knobs{"coroutines": n}, float64(100*(i+1))))
	}
	s.Raw.Points[2].Runs, s.Raw.Points[2].Error = nil, "no progress"
	plain := s.Table()
	if !slices.Equal(plain.Columns()[:3], []string{"coroutines", "throughput", "throughput.half95"}) || plain.Len() != 3 {
		t.Errorf("%v of %d rows", plain.Columns(), plain.Len())
	}
	if text := plain.String(); text != s.table(s.known(shownMetrics)...) || !strings.Contains(text, "no progress") {
		t.Errorf("it shows\n%s", text)
	}
	if got := s.Table("latency_us.p50").Query("SELECT coroutines FROM t WHERE latency_us.p50 < 9000").CSV(); got != "coroutines\n4\n" {
		t.Errorf("%q", got)
	}
	if rows := s.Rows(); rows.Row(2).Text("error") != "no progress" || rows.CSV() != s.CSV() {
		t.Errorf("the rows are\n%s", rows)
	}
	if svg := Overlay("coroutines", "throughput", s, s, plain).Chart().SVG(); !strings.Contains(svg, "throughput") {
		t.Error("nothing is drawn")
	}
	fails(t, "int is neither a result nor a sweep nor a table", func() { Overlay("a", "b", 3) })
	fails(t, "nothing to draw", func() { Overlay("a", "b") })
}

// Results, their windows, histories and the run store are tables.
func TestTablesOfResults(t *testing.T) {
	runstest.Own(t)
	c := Up(tiny())
	file := filepath.Join(t.TempDir(), "h.jsonl")
	c.History(file)
	a := c.Run(100 * time.Microsecond)
	c.Set("coroutines", 1)
	b := c.Run(100 * time.Microsecond)
	if w := a.Table(); w.Len() != len(a.Windows) || w.Row(0).Num("throughput") != a.Windows[0].Throughput || w.Columns()[0] != "ms" || w.Row(0).Num("ms") != 0.02 {
		t.Errorf("%d windows and\n%s", len(a.Windows), w)
	}
	rows := Results(a, b)
	if rows.Numbers("throughput")[1] != b.Throughput || !strings.Contains(rows.Row(1).Text("name"), "coroutines = 1") {
		t.Errorf("%s", rows.Select("name", "throughput"))
	}
	if types := TableOf(a.Raw.ByType); types.Len() != len(a.Raw.ByType) || types.Row(0).Num("commits") != float64(a.Raw.ByType[types.Row(0).Text("name")].Commits) {
		t.Errorf("%s", types)
	}
	if d := Overlay("ms", "throughput", a, b); !strings.Contains(d.Chart().SVG(), "coroutines = 1") {
		t.Error("the lines are not named by what differs")
	}
	id := b.Keep("a note")
	if kept := Runs(); kept.Len() != 1 || kept.Row(0).Text("id") != id || kept.Row(0).Text("note") != "a note" || kept.Row(0).Num("throughput") != b.Throughput {
		t.Errorf("%s", kept)
	}
	fails(t, "no such column: notes", func() { Query("SELECT notes FROM runs") })
	c.Finish()
	if h := ReadTable(file); h.Query("SELECT count(*) AS n FROM t WHERE status = 'committed' AND begin_ns <= end_ns AND reads + writes > 0").Row(0).Num("n") == 0 {
		raw, err := os.ReadFile(file)
		t.Errorf("%s of %d bytes, %v", h, len(raw), err)
	}
}
