package table

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func curve() *Table {
	return From(nil).Col("coroutines", []int{4, 1, 16, 1, 4, 16}).Col("throughput", []float64{3e6, 1e6, 3.5e6, 2e6, 4e6, 5e6}).
		Col("throughput.half95", []float64{1e5, 1e4, 1e5, 1e5, 1e5, 2e5}).Col("latency_us.p50", []float64{17, 9, 70, 8, 14, 60}).
		Col("preset", []string{"fasst", "fasst", "fasst", "farm", "farm", "farm"})
}

func TestLineIsDrawnInOrderWithErrorBars(t *testing.T) {
	d, err := curve().Line("coroutines", "throughput").By("preset").drawn()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.tracks) != 1 || len(d.tracks[0].Series) != 2 {
		t.Fatalf("%+v", d.tracks)
	}
	s := d.tracks[0].Series[0]
	if s.Name != "fasst" || s.X[0] != 1 || s.Y[0] != 1e6 || s.CI[0] != 1e4 || s.X[2] != 16 {
		t.Errorf("%+v", s)
	}
	if d.tracks[0].Y.Unit != "1/s" || !d.x.Whole {
		t.Errorf("axes %+v %+v", d.x, d.tracks[0].Y)
	}
}

func TestColumnsOfDifferentUnits(t *testing.T) {
	d, err := curve().Line("coroutines", "throughput", "latency_us.p50").drawn()
	if err != nil || len(d.tracks) != 2 {
		t.Errorf("%d tracks, %v", len(d.tracks), err)
	}
	d, err = curve().Line("coroutines", "throughput").Right("latency_us.p50").drawn()
	if err != nil || len(d.tracks) != 1 || d.tracks[0].Right == nil || d.tracks[0].Right.Unit != "µs" || !d.tracks[0].Series[1].Right {
		t.Errorf("%+v, %v", d.tracks, err)
	}
	svg := curve().Line("coroutines", "throughput").Right("latency_us.p50").Chart().SVG()
	if !strings.Contains(svg, "latency_us.p50 (µs)") {
		t.Error("the right axis has no title")
	}
}

func TestNamesOnAxisAndBars(t *testing.T) {
	one := curve().Where(func(r Row) bool { return r.Num("coroutines") == 4 })
	d, err := one.Line("preset", "throughput").drawn()
	if err != nil || len(d.x.Names) != 2 {
		t.Errorf("%+v, %v", d.x, err)
	}
	d, err = one.Bar("preset", "throughput").drawn()
	if err != nil || len(d.bars) != 2 || d.bars[0].Name != "fasst" || d.bars[0].CI != 1e5 {
		t.Errorf("%+v, %v", d.bars, err)
	}
	if svg := one.Bar("preset", "throughput").Chart().SVG(); !strings.Contains(svg, "farm") {
		t.Error("the bars have no names")
	}
}

func TestHistogramCounts(t *testing.T) {
	d, err := From(nil).Col("x", []float64{0, 0.1, 0.9, 2, 10}).Hist("x").Bins(10).drawn()
	if err != nil {
		t.Fatal(err)
	}
	s := d.tracks[0].Series[0]
	sum := 0.0
	for i := 1; i < len(s.Y); i += 2 {
		sum += s.Y[i]
	}
	if !s.Filled || s.Y[1] != 3 || s.Y[len(s.Y)-2] != 1 || sum != 5 {
		t.Errorf("%v of %v", s.Y, s.X)
	}
}

func TestOver(t *testing.T) {
	d, err := curve().Scatter("coroutines", "throughput").Named("this").Over("that", curve()).drawn()
	if err != nil || len(d.tracks[0].Series) != 2 || d.tracks[0].Series[1].Name != "that" || !d.tracks[0].Series[0].Dots {
		t.Errorf("%+v, %v", d.tracks, err)
	}
}

func TestPlotIsWritten(t *testing.T) {
	dir := t.TempDir()
	for ext, begin := range map[string]string{"pdf": "%PDF", "svg": "<?xml", "png": "\x89PNG", "pgf": "%"} {
		for name, p := range map[string]*Plot{"line": curve().Line("coroutines", "throughput").Right("latency_us.p50").Width(84), "bar": curve().Bar("preset", "throughput"), "hist": curve().Hist("throughput")} {
			file := filepath.Join(dir, name+"."+ext)
			p.Save(file)
			b, err := os.ReadFile(file)
			if err != nil || !bytes.HasPrefix(b, []byte(begin)) {
				t.Errorf("%s begins with %.10q, %v", file, b, err)
			}
		}
	}
}

func TestPlotsSayWhatIsWrong(t *testing.T) {
	c := curve()
	fails(t, func() { c.Line("coroutine", "throughput") }, "column = coroutine", "did you mean coroutines?")
	fails(t, func() { c.Line("coroutines", "thruput") }, "column = thruput", "did you mean throughput?")
	fails(t, func() { c.Line("coroutines") }, "no column of numbers is named", "throughput")
	fails(t, func() { c.Bar("coroutines", "preset") }, "column = preset", "no number")
	fails(t, func() { c.Line("coroutines", "throughput").By("prest") }, "did you mean preset?")
	fails(t, func() { c.Line("coroutines", "throughput").Err("a", "b") }, "a column of half widths for each")
	fails(t, func() { c.Line("coroutines", "throughput").Right("latency_us.p50").LogY() }, "right axis")
	fails(t, func() { c.Line("coroutines", "throughput").Save("x.gif") }, ".pdf, .svg, .png or .pgf")
	fails(t, func() { c.Line("coroutines", "throughput").Over("x", From(nil).Col("coroutines", []int{1})) }, "column = throughput")
	fails(t, func() { c.Where(func(Row) bool { return false }).Line("coroutines", "throughput").Chart() }, "no rows")
}
