package charts

import (
	"encoding/json"
	"testing"
)

// The label of a mark near the right edge ends at its line: in the middle of it the edge would cut it off. Others are in the middle.
func TestLabelsOfMarksAtTheEdge(t *testing.T) {
	c := Timeline("", Axis{Label: "staleness", Unit: "µs"}, []Track{{Series: []Series{{Name: "a", X: []float64{0, 10}, Y: []float64{0, 1}}}}},
		[]Mark{{X: 1, Text: "early"}, {X: 20, Text: "bound of system a"}})
	var o struct {
		Series []struct {
			MarkLine struct {
				Data []struct {
					Name  string
					XAxis float64
					Label *struct{ Align string }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
		t.Fatal(err)
	}
	marks := o.Series[0].MarkLine.Data
	if len(marks) != 2 || marks[0].Name != "early" || marks[0].Label != nil || marks[1].XAxis != 20 || marks[1].Label == nil || marks[1].Label.Align != "right" {
		t.Errorf("%+v", marks)
	}
}
