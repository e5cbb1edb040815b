package charts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

// payloads are a figure's X axis with its own ticks, and lines over it.
func payloads(names ...string) (Axis, []Series) {
	x := Axis{Label: "Payload", Unit: "bytes", Log: true, Ticks: []float64{256, 4096, 1 << 16, 1 << 17, 1 << 20}}
	var out []Series
	for i, n := range names {
		s := Series{Name: n, X: x.Ticks}
		for k := range x.Ticks {
			s.Y = append(s.Y, float64(10*(i+1)+k))
		}
		out = append(out, s)
	}
	return x, out
}

// Ticks are at the values that were measured, in full, on paper as in the browser.
func TestOwnTicks(t *testing.T) {
	x, series := payloads("A", "B")
	c := LinesSized(Size{}, "", x, Axis{Label: "Bandwidth", Unit: "Gbps"}, series, nil)
	for _, want := range []string{">256<", ">4 Ki<", ">64 Ki<", ">128 Ki<", ">1 Mi<"} {
		if !strings.Contains(c.SVG(), want) {
			t.Errorf("no tick %s", want)
		}
	}
	var o struct {
		XAxis []struct {
			AxisLabel struct {
				CustomValues []float64
				Texts        []string
			}
			AxisTick struct{ CustomValues []float64 }
		}
	}
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	if a := o.XAxis[0]; fmt.Sprint(a.AxisLabel.CustomValues) != fmt.Sprint(x.Ticks) || fmt.Sprint(a.AxisTick.CustomValues) != fmt.Sprint(x.Ticks) || a.AxisLabel.Texts[3] != "128 Ki" {
		t.Errorf("%+v", a)
	}
	if !strings.Contains(c.Option(), "1048576") || strings.Contains(c.Option(), "1048580") {
		t.Error("a payload is rounded")
	}
	narrow, err := LinesPicture(Style{WidthMM: 40}, "", x, Axis{}, series, nil).SVG()
	if err != nil || strings.Contains(string(narrow), ">128 Ki<") || !strings.Contains(string(narrow), ">64 Ki<") {
		t.Error("labels run into each other in a narrow picture")
	}
	for v, want := range map[float64]string{131072: "131072", 1 << 20: "1048576", 0.5: "0.5", 12: "12"} {
		if got := Exact(v); got != want {
			t.Errorf("%g is written %s", v, got)
		}
	}
	for v, want := range map[float64]string{64: "64 bytes", 4096: "4 KB", 131072: "128 KB", 1 << 20: "1 MB", 1500: "1500 bytes"} {
		if got := ByteCount(v); got != want {
			t.Errorf("%g is written %s", v, got)
		}
	}
}

// A picture is as wide as is asked for and its letters as large, in every format.
func TestStyle(t *testing.T) {
	x, series := payloads("A", "B")
	bars := []Bars{{Name: "one", Values: []float64{1, 2}}}
	parts := []Part{{Name: "E", Colour: "#332288"}, {Name: "V", Colour: "#DDCC77"}}
	style := Style{WidthMM: 84, Family: "serif", Points: 8}
	for what, p := range map[string]Picture{"lines": LinesPicture(style, "title", x, Axis{Label: "Bandwidth"}, series, nil),
		"bars": RankingPicture(style, "title", Axis{Label: "Latency", Unit: "µs"}, parts, bars), "table": TablePicture(style, "title", [][]string{{"", "a"}, {"b", "c"}})} {
		svg, err := p.SVG()
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`width="([0-9.]+)pt"`).FindSubmatch(svg)
		var pt float64
		if m == nil {
			t.Fatalf("%s: %.200s", what, svg)
		}
		fmt.Sscan(string(m[1]), &pt)
		if mm := pt / 72 * 25.4; math.Abs(mm-84) > 0.5 {
			t.Errorf("%s is %.1f mm wide", what, mm)
		}
		if !bytes.Contains(svg, []byte("Liberation Serif,Times")) || bytes.Contains(svg, []byte("Liberation Sans")) {
			t.Errorf("%s: another font", what)
		}
		if what != "table" && !bytes.Contains(svg, []byte("font-size:8px")) {
			t.Errorf("%s: names of axes are not 8 pt: %s", what, regexp.MustCompile(`font-size:[^;"]*`).FindAll(svg, -1))
		}
		png, err := p.PNG()
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(png))
		if err != nil || math.Abs(float64(img.Bounds().Dx())-84/25.4*192) > 3 {
			t.Errorf("%s: %v, %v", what, img.Bounds(), err)
		}
		pgf, err := p.PGF()
		if err != nil || !bytes.Contains(pgf, []byte(`\rmfamily`)) {
			t.Errorf("%s: %v %.100s", what, err, pgf)
		}
	}
}

// A title that is too long for its picture takes more lines.
func TestTitlesAreNotCutOff(t *testing.T) {
	x, series := payloads("A")
	title := strings.Repeat("a rather long title of a figure; ", 5)
	svg, err := LinesPicture(Style{WidthMM: 84}, title, x, Axis{}, series, nil).SVG()
	if err != nil || strings.Contains(string(svg), title) || strings.Count(string(svg), "rather") != 5 {
		t.Errorf("%v: the title is in one line or lost", err)
	}
	if got := wrapped("one two three", func(l string) bool { return len(l) <= 7 }); got != "one two\nthree" {
		t.Errorf("%q", got)
	}
}

// In black and white the parts of a bar are told apart: by their mean grey or by how much
// they are patterned.
func TestPartsWithoutColour(t *testing.T) {
	var parts []Part
	bar := Bars{Name: "b"}
	for i, l := range palette.Phases.All()[:6] {
		parts = append(parts, Part{Name: fmt.Sprint(i), Colour: l.Colour})
		bar.Values = append(bar.Values, 1)
	}
	png, err := RankingPicture(Style{}, "", Axis{Label: "x"}, parts, []Bars{bar}).PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(png))
	if err != nil {
		t.Fatal(err)
	}
	grey := func(x, y int) float64 {
		r, g, b, _ := img.At(x, y).RGBA()
		return (0.299*float64(r) + 0.587*float64(g) + 0.114*float64(b)) / 65535
	}
	left, right, row := 0, 0, 0
	for y := 0; y < img.Bounds().Dy() && row == 0; y++ { // the bar's first row
		run := 0
		for x := range img.Bounds().Dx() {
			if grey(x, y) < 0.9 {
				run++
				right = x
			}
		}
		if run > img.Bounds().Dx()/2 {
			row = y + 4
			for left = right; left > 0 && (grey(left, row) < 0.95 || grey(left-8, row) < 0.95); left-- {
			}
		}
	}
	if row == 0 || right-left < 300 {
		t.Fatalf("no bar: %d to %d, row %d", left, right, row)
	}
	type look struct{ mean, across, down float64 } // grey, and how often it changes either way
	var looks []look
	wide := (right - left) / len(parts)
	for i := range parts {
		var n, sum, across, down float64
		for x := left + i*wide + 6; x < left+(i+1)*wide-6; x++ {
			for y := row; y < row+16; y++ {
				n, sum = n+1, sum+grey(x, y)
				across, down = across+math.Abs(grey(x, y)-grey(x-3, y)), down+math.Abs(grey(x, y)-grey(x, y+3))
			}
		}
		looks = append(looks, look{sum / n, across / n, down / n})
	}
	for i, a := range looks {
		for k, b := range looks[:i] {
			if math.Abs(a.mean-b.mean)+math.Abs(a.across-b.across)+math.Abs(a.down-b.down) < 0.05 {
				t.Errorf("parts %d and %d look alike in grey: %+v and %+v", k, i, a, b)
			}
		}
	}
}

// Lines are told apart without colour: no two have the same marker and the same dash.
func TestLinesWithoutColour(t *testing.T) {
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("line ", i))
	}
	_, series := payloads(names...)
	seen := map[string]string{}
	for name, l := range looksOf([]Track{{Series: series}}) {
		key := fmt.Sprint(l.marker, l.hollow, l.dash)
		if seen[key] != "" {
			t.Errorf("%s and %s look alike without colour", name, seen[key])
		}
		seen[key] = name
	}
}

// The names at published numbers cover each other nowhere.
func TestPublishedNamesAreSpread(t *testing.T) {
	var refs []Reference
	for i := range 6 {
		refs = append(refs, Reference{Text: fmt.Sprintf("name %d", i), X: 1 << 16, From: 20, To: 20})
	}
	x, series := payloads("A")
	svg, err := LinesPicture(Style{}, "", x, Axis{}, series, refs).SVG()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`<text x="([-0-9.]+)" y="([-0-9.]+)"[^>]*>name`).FindAllStringSubmatch(string(svg), -1) {
		if seen[m[1]+" "+m[2]] {
			t.Errorf("two names at %s, %s", m[1], m[2])
		}
		seen[m[1]+" "+m[2]] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d names", len(seen))
	}
}

// LaTeX takes the picture: every group is closed, text is escaped, and where there is a
// LaTeX it compiles.
func TestPGF(t *testing.T) {
	x, series := payloads("A_1 & 50 % of {B} ≤ 3×", "C #2 ~ $")
	refs := []Reference{{Text: "86.9 §2.2.4", X: 4096, From: 12, To: 12}}
	pgf, err := LinesPicture(Style{WidthMM: 84}, "a title ± \\, p < 0.05 > |q| → θ µs", x, Axis{Label: "Bandwidth", Unit: "Gbps"}, series, refs).PGF()
	if err != nil {
		t.Fatal(err)
	}
	text := string(pgf)
	for _, want := range []string{`\begin{pgfpicture}`, `\end{pgfpicture}`, `A\_1 \& 50 \% of \{B\} $\leq$ 3$\times$`, `C \#2 \textasciitilde{} \$`, `\S{}2.2.4`, `$\pm$ \textbackslash{}, p $<$ 0.05 $>$ \textbar{}q\textbar{} $\to$ $\theta$ $\mu$s`, `\pgfpathlineto`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, `\pgflineto`) || strings.Count(text, `\begin{pgfscope}`) != strings.Count(text, `\end{pgfscope}`) {
		t.Error("commands that PGF does not have, or a scope that is not closed")
	}
	if _, err := LinesPicture(Style{WidthMM: 84}, "漢 of a title", x, Axis{}, series, nil).PGF(); err == nil || !strings.Contains(err.Error(), `'漢' of "漢 of a title"`) {
		t.Errorf("a character that LaTeX does not set: %v", err)
	}
	latex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Log("no pdflatex: its compilation is not tried")
		return
	}
	dir := t.TempDir()
	tex := "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage{pgf}\n\\begin{document}\n\\input{picture.pgf}\n\\end{document}\n"
	for name, b := range map[string][]byte{"picture.pgf": pgf, "t.tex": []byte(tex)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(latex, "-interaction=nonstopmode", "-halt-on-error", "t.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out[max(0, len(out)-1500):])
	}
}

// A chart without a title of its own still has a text.
func TestNamed(t *testing.T) {
	x, series := payloads("A")
	c := LinesSized(Size{}, "", x, Axis{Label: "Throughput per machine", Unit: "Mreq/s"}, series, nil)
	if n := c.Named("Figure 1"); n.String() != "Figure 1" || c.String() != "chart" || strings.Contains(n.SVG(), "Figure 1") {
		t.Errorf("%s, %s", n, c)
	}
}
