package figure

import (
	"strings"
	"testing"

	"drtmx/cluster"
	"drtmx/engine/experiment"
)

// A figure drawn over another has its knobs in its names and keeps the colours.
func TestDrawnOver(t *testing.T) {
	points := []Series{{Name: "READ", Points: []Point{{X: 8, Y: 2}, {X: 64, Y: 3}}}}
	base := &Figure{ID: "t", X: Axis{Unit: "bytes"}, Y: Axis{Unit: "µs"}, Series: points}
	other := &Figure{ID: "t", X: base.X, Y: base.Y, Series: points, Set: cluster.Knobs{"ddio": false}}
	c := base.Chart(other)
	for form, text := range map[string]string{"svg": c.SVG(), "option": c.Option(), "html": (&Comparison{base, other}).HTML(), "text": (&Comparison{base, other}).String()} {
		if !strings.Contains(text, "ddio = false") {
			t.Errorf("%s does not tell the two apart", form)
		}
	}
	if o := c.Option(); strings.Count(o, `"#0072B2"`) < 4 || !strings.Contains(o, `"dashed"`) || !strings.Contains(o, `"emptyCircle"`) {
		t.Errorf("one colour and a dash expected: %s", o)
	}
	ranked := func(set cluster.Knobs) *Figure {
		return &Figure{ID: "r", Form: FormRanking, Set: set, Series: []Series{{Name: "Throughput", Points: []Point{{X: 1, Y: 2, Name: "I I"}, {X: 2, Y: 1, Name: "II II"}}}}}
	}
	if _, _, _, bars := ranked(nil).ranked(ranked(cluster.Knobs{"ddio": false})); len(bars) != 4 || bars[3].Name != "ddio = false" || bars[3].Values[0] != 1 {
		t.Errorf("%v", bars)
	}
}

// A picture that stands alone says of which hardware and knobs it is.
func TestPictureNamesItsKnobs(t *testing.T) {
	f := Figure{ID: "2-4b", Title: "READ", Set: experiment.Knobs{"hardware.nic.qp_contexts": 4000}, Series: []Series{{Name: "READ", Points: []Point{{X: 8, Y: 1}, {X: 16, Y: 2}}}}}
	if svg := f.SVG(); !strings.Contains(svg, "qp_contexts = 4000") {
		t.Errorf("the knobs are not in the picture: %.300s", svg)
	}
	f.Set = nil
	if svg := f.SVG(); strings.Contains(svg, "; with") {
		t.Error("a figure without changed knobs names some")
	}
}
