package charts

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

// A name has one look in all tracks: that of its system or design, or of the series it
// belongs to; the others take places that none of these has.
func TestLooks(t *testing.T) {
	x := []float64{1}
	at := func(s Series) Series { s.X, s.Y = x, x; return s }
	tracks := []Track{
		{Series: []Series{at(Series{Name: "first"}), at(Series{Name: "DrTM+H"}), at(Series{Name: "mine", System: "c"}), at(Series{Name: "second"})}},
		{Series: []Series{at(Series{Name: "second"}), at(Series{Name: "second, p99", Of: "second", Dashed: true})}},
	}
	looks := looksOf(tracks)
	h, _ := palette.Designs.Of("drtm+h")
	c, _ := palette.Systems.Of("c")
	for name, want := range map[string]palette.Look{"DrTM+H": h, "mine": c, "first": palette.Place(1), "second": palette.Place(3), "second, p99": palette.Place(3)} {
		if l := looks[name]; l.colour != want.Colour || l.marker != want.Marker {
			t.Errorf("%s is drawn %s %s, want %s %s", name, l.colour, l.marker, want.Colour, want.Marker)
		}
	}
	many := Track{}
	for i := range 3 * palette.Places {
		many.Series = append(many.Series, at(Series{Name: fmt.Sprint(i)}))
	}
	seen := map[string]string{}
	for name, l := range looksOf([]Track{many}) {
		as := fmt.Sprint(l.colour, l.marker, l.dash)
		if seen[as] != "" {
			t.Errorf("%s and %s look the same: %s", name, seen[as], as)
		}
		seen[as] = name
	}
}

// Lines differ by marker in both forms, also those with too many points for one at each.
func TestLinesHaveMarkers(t *testing.T) {
	for _, n := range []int{5, 400} {
		var x, y []float64
		for i := range n {
			x, y = append(x, float64(i)), append(y, float64(i%7))
		}
		c := Lines("", Axis{}, Axis{}, []Series{{Name: "a", X: x, Y: y}, {Name: "b", X: x, Y: y}})
		var o struct {
			Series []struct {
				Symbol     string
				ShowSymbol bool
				MarkPoint  struct{ Data []struct{ Symbol string } }
			}
		}
		if err := json.Unmarshal([]byte(c.Option()), &o); err != nil {
			t.Fatal(err)
		}
		a, b := o.Series[0], o.Series[1]
		if a.Symbol == b.Symbol || a.ShowSymbol != (n == 5) {
			t.Errorf("%d points: %+v %+v", n, a, b)
		}
		if k := len(a.MarkPoint.Data); n > pointsMarked && (k < 4 || k > 30 || a.MarkPoint.Data[0].Symbol != a.Symbol) {
			t.Errorf("%d points have %d markers", n, k)
		}
		// squares are filled paths of their own in the picture
		square := palette.Place(1)
		if got := strings.Count(strings.ToUpper(c.SVG()), square.Colour); got < 5 {
			t.Errorf("%d points: %d signs of the second line", n, got)
		}
	}
}

// Markers stay with their points when time goes on, and a lone point has one.
func TestMarkersMoveWithTheLine(t *testing.T) {
	s := Series{}
	for i := range 300 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, 1)
	}
	marked := map[float64]bool{}
	for _, i := range markedPoints(s, 0, 1, 0, 299) {
		marked[s.X[i]] = true
	}
	later := Series{X: s.X[20:], Y: s.Y[20:]}
	for _, i := range markedPoints(later, 0, 1, 20, 319) {
		if !marked[later.X[i]] {
			t.Errorf("a marker at %g is new", later.X[i])
		}
	}
	s.Y[100], s.Y[102] = math.NaN(), math.NaN()
	alone := false
	for _, i := range markedPoints(s, 0, 1, 0, 299) {
		alone = alone || i == 101
	}
	if !alone {
		t.Error("a point between two gaps is not drawn")
	}
}
