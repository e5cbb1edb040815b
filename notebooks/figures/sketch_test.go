package figures

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
)

// Every figure has a small picture before it is computed; those with published numbers
// show them, in grey.
func TestSketchesOfWhatIsPublished(t *testing.T) {
	shown := 0
	for _, d := range definitions {
		svg := Runner{}.Sketch(d.id)
		wellFormed(t, svg)
		if len(svg) > 10_000 { // a chapter's predictions have forty rows
			t.Errorf("%s: %d bytes", d.id, len(svg))
		}
		if strings.Contains(svg, palette.Thesis) {
			shown++
		}
		if strings.Contains(svg, charts.Colour(0)) {
			t.Errorf("%s: the colour of something measured", d.id)
		}
	}
	if shown < 24 { // of the others the thesis gives an order
		t.Errorf("%d of %d figures show a published number", shown, len(definitions))
	}
	for id, mark := range map[string]string{"2-4a": "l4 4", "4-9a": "l4 4", "4-6": "stroke-dasharray"} {
		if svg := (Runner{}).Sketch(id); !strings.Contains(svg, mark) {
			t.Errorf("%s: no published number in %s", id, svg)
		}
	}
	if (Runner{}).Sketch("9-9") != "" {
		t.Error("a picture of no figure")
	}
}

// A computed figure is sketched in its own form.
func TestSketchesOfFigures(t *testing.T) {
	points := []Point{{X: 8, Y: 2, Name: "a"}, {X: 64, Y: 3, Name: "b"}}
	for form, want := range map[string]string{formLines: "<circle", formCurves: "<circle", formBars: "h", formStacked: "h", formTable: "<rect"} {
		f := &Figure{ID: "t", Form: form, X: Axis{Log: true}, Series: []Series{{Name: "A", Points: points}, {Name: "A" + abortsIgnored, Points: points}}}
		svg := f.Sketch()
		wellFormed(t, svg)
		if !strings.Contains(svg, want) {
			t.Errorf("%s: %s", form, svg)
		}
		wellFormed(t, (&Figure{Form: form, Series: []Series{{Name: "A"}}}).Sketch())
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %.200s", err, svg)
		}
	}
}
