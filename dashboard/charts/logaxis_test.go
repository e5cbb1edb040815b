package charts

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"drtmx/dashboard/charts/palette"
)

// Ticks of a logarithmic axis lie inside of it, in their order, and enough of them have labels that differ.
func TestDecades(t *testing.T) {
	for _, r := range [][2]float64{{1, 1e4}, {1e-9, 1e6}, {1e-3, 0.7}, {0.0021, 0.0027}, {0.5, 0.9}, {1, 64}, {1.05, 1.9}, {3, 12}, {9.5, 950}, {11, 1099}, {250, 2500}, {2e6, 3e6}, {2.5, 10}, {1, 99.9}, {1, 100}} {
		labels, before := map[string]bool{}, 0.0
		n := 0
		for _, tick := range ticks(Axis{Log: true}).Ticks(r[0], r[1]) {
			if tick.Value < r[0]*(1-1e-9) || tick.Value > r[1]*(1+1e-9) || tick.Value <= before {
				t.Errorf("%g to %g: a tick at %g after %g", r[0], r[1], tick.Value, before)
			}
			before = tick.Value
			if tick.Label != "" {
				n++
				labels[tick.Label] = true
			}
		}
		if n < 2 || n > decadeLabels || len(labels) != n {
			t.Errorf("%g to %g: %d labels, of which %d differ: %v", r[0], r[1], n, len(labels), labels)
		}
	}
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{1, 1e4, "1|10|100|1 k|10 k"}, {0.002, 0.7, "0.01|0.1"}, {0.02, 0.7, "0.02|0.05|0.1|0.2|0.5"}, {1, 64, "1|2|5|10|20|50"}, {3, 12, "4|6|8|10|12"}} {
		var labels []string
		for _, tick := range decades(c.lo, c.hi) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, "|"); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

// A logarithmic Y axis begins and ends a little outside of its values: as far as a point takes, in the axis' own lengths.
func TestRoomOfLogarithmicAxis(t *testing.T) {
	for _, r := range [][2]float64{{1, 1e4}, {0.5, 0.9}, {1e-6, 1e6}} {
		lo, hi := logRange(r[0], r[1])
		length := math.Log(r[1] / r[0])
		below, above := math.Log(r[0]/lo)/length, math.Log(hi/r[1])/length
		if math.Abs(below-0.04) > 1e-6 || math.Abs(above-0.04) > 1e-6 {
			t.Errorf("%g to %g: %g of the length below and %g above", r[0], r[1], below, above)
		}
	}
	if lo, hi := logRange(5, 5); lo != 2.5 || hi != 10 {
		t.Errorf("one value alone: %g to %g", lo, hi)
	}
	svg := Lines("", Axis{Label: "x"}, Axis{Label: "y", Log: true}, []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{120, 1100}}}).SVG()
	for label, want := range map[string]bool{">200<": true, ">500<": true, ">1 k<": true, ">100<": false, ">10 k<": false} {
		if strings.Contains(svg, label) != want {
			t.Errorf("label %s of values from 120 to 1100: %t", label, !want)
		}
	}
}

// Values of many decades take the height of their picture, and those along X its width, however long the titles are.
func TestLogarithmicPicturesAreFull(t *testing.T) {
	title := "a title of an axis that takes half of it"
	series := []Series{{Name: "a", X: []float64{1, 100, 1e6}, Y: []float64{1, 300, 1e5}}}
	b, err := LinesPicture(Style{}, "", Axis{Label: title, Log: true}, Axis{Label: title, Log: true}, series, nil).PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	line, size := palette.RGBA(looksOf([]Track{{Series: series}})["a"].colour), img.Bounds().Size()
	top, right := size.Y, 0
	for y := range size.Y {
		for x := range size.X {
			if color.RGBAModel.Convert(img.At(x, y)) == line {
				top, right = min(top, y), max(right, x)
			}
		}
	}
	if top > size.Y/10 || right < size.X*9/10 {
		t.Errorf("of %v pixels the line reaches only up to %d from the top, and to %d on the right", size, top, right)
	}
}
