package charts

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// label is a word beside a place of a plot.
type label struct {
	at   plotter.XY
	text string
	ink  color.RGBA
	size vg.Length
	left bool // it stands on the left of the place, if there is room
}

// labels are the words of a plot. Each is written where it covers neither a marker nor another word.
type labels struct {
	words   []label
	markers plotter.XYs
}

// beside adds the labels of a line and the places of its markers.
func (l *labels) beside(s Series, marked []int, ink color.RGBA, logX, logY bool) {
	for _, i := range marked {
		if s.drawable(i, logX, logY) {
			l.markers = append(l.markers, plotter.XY{X: s.X[i], Y: s.Y[i]})
		}
	}
	for i, word := range s.Labels {
		if s.drawable(i, logX, logY) {
			l.words = append(l.words, label{at: plotter.XY{X: s.X[i], Y: s.Y[i]}, text: word, ink: ink, size: 7, left: true})
		}
	}
}

// published adds the words at published numbers, which are markers too.
func (l *labels) published(words []label) {
	for _, w := range words {
		l.markers = append(l.markers, w.at)
	}
	l.words = append(l.words, words...)
}

// places is how many places a word has: on the right and on the left, above and below, each further
// away from its marker than the one before.
const places = 24

// Plot writes the words.
func (l labels) Plot(c draw.Canvas, p *plot.Plot) {
	for i, box := range l.boxes(c, p) {
		c.FillText(l.words[i].style(p), box.Min, l.words[i].text)
	}
}

// boxes are where the words stand: each at the first of its places where it covers nothing, else
// where it covers least.
func (l labels) boxes(c draw.Canvas, p *plot.Plot) (boxes []vg.Rectangle) {
	const radius = 3.9 // of a marker
	x, y := p.Transforms(&c)
	var taken []vg.Rectangle
	for _, m := range l.markers {
		at := vg.Point{X: x(m.X), Y: y(m.Y)}
		taken = append(taken, vg.Rectangle{Min: vg.Point{X: at.X - radius, Y: at.Y - radius}, Max: vg.Point{X: at.X + radius, Y: at.Y + radius}})
	}
	for _, w := range l.words {
		at, wide := vg.Point{X: x(w.at.X), Y: y(w.at.Y)}, w.style(p).Width(w.text)
		var best vg.Rectangle
		least := math.MaxInt
		for try := 0; try < places && least > 0; try++ {
			box := w.boxAt(try, at, wide)
			n := covered(taken, box)
			if box.Min.X < c.Min.X || box.Max.X > c.Max.X || box.Min.Y < c.Min.Y {
				n += len(taken) + 1 // it is cut off
			}
			if n < least {
				best, least = box, n
			}
		}
		taken, boxes = append(taken, best), append(boxes, best)
	}
	return boxes
}

// style is how the word is written.
func (w *label) style(p *plot.Plot) text.Style {
	s := p.X.Tick.Label
	s.Font.Size, s.Color, s.XAlign, s.YAlign, s.Rotation = w.size, w.ink, text.XLeft, text.YBottom, 0
	return s
}

// boxAt is the box of a word at one of its places.
func (w *label) boxAt(try int, at vg.Point, wide vg.Length) (box vg.Rectangle) {
	const beside, above = 5, 3
	away := w.size * vg.Length(try/4)
	box.Min = vg.Point{X: at.X + beside, Y: at.Y + above + away}
	if (try%2 == 1) != w.left {
		box.Min.X = at.X - beside - wide
	}
	if try/2%2 == 1 {
		box.Min.Y = at.Y - above - w.size - away
	}
	box.Max = vg.Point{X: box.Min.X + wide, Y: box.Min.Y + w.size}
	return box
}

// covered is how many boxes have room in common with another.
func covered(boxes []vg.Rectangle, b vg.Rectangle) (n int) {
	for _, a := range boxes {
		if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
			n++
		}
	}
	return n
}
