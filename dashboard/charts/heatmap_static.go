package charts

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/canvas"
	"drtmx/dashboard/charts/palette"
)

// heatSheet is a canvas on which a heat map is drawn by CSS pixels from the top left.
type heatSheet struct {
	draw.Canvas
	style text.Style
}

func (s heatSheet) at(left, top float64) vg.Point {
	return vg.Point{X: s.Min.X + vg.Length(left)*pixel, Y: s.Max.Y - vg.Length(top)*pixel}
}

func (s heatSheet) rectangle(left, top, width, height float64) vg.Rectangle {
	a, b := s.at(left, top+height), s.at(left+width, top)
	return vg.Rectangle{Min: a, Max: b}
}

// write puts a text to a place, of a size in points, centred or at one of its ends.
func (s heatSheet) write(words string, left, top float64, points vg.Length, align text.XAlignment, ink string) {
	style := s.style
	style.Font.Size, style.XAlign, style.YAlign, style.Color = points, align, text.YCenter, palette.RGBA(ink)
	s.FillText(style, s.at(left, top), words)
}

// picture is the static form. The notes make it higher.
func (m *heatMap) picture(on sheet) Picture {
	style := plot.New().Legend.TextStyle
	style.Font.Variant = on.variant()
	why := m.reasons()
	below, size := notes(why, style, float64(on.Width-16)), on.Size
	on.Height += noteHeight * len(below)
	return on.picture(func(c draw.Canvas) {
		s := heatSheet{c, style}
		points := vg.Length(12)
		s.style.Font.Size = points
		if room := vg.Length(on.Width-16) * pixel; s.style.Width(m.title) > room {
			points = max(7, points*room/s.style.Width(m.title))
		}
		s.write(m.title, float64(on.Width)/2, 12, points, text.XCenter, palette.DarkInk)
		s.write(m.explained(), float64(on.Width)/2, 29, 8, text.XCenter, palette.LineInk)
		for i, b := range m.boxes(size) {
			m.drawPanel(s, m.panels[i], b, why)
		}
		m.drawLegend(s, size)
		for i, line := range below {
			s.write(line, 8, float64(size.Height+noteHeight*i), notePoints, text.XLeft, palette.LineInk)
		}
	})
}

func (m *heatMap) drawPanel(s heatSheet, p HeatPanel, b box, why []string) {
	left, top := float64(b.left), float64(b.top)
	w, h := float64(b.width)/float64(max(len(m.x.Names), 1)), float64(b.height)/float64(max(len(m.y.Names), 1))
	s.write(m.head(p), left, top-heatHead/2, 9, text.XLeft, palette.LineInk)
	for y, row := range p.Cells {
		rowTop := top + float64(len(m.y.Names)-1-y)*h
		for x, cell := range row {
			r := s.rectangle(left+float64(x)*w, rowTop, w, h)
			m.drawCell(s, cell, b, r)
			if i := slices.Index(why, cell.reason()); i >= 0 && h >= 12 {
				s.write(fmt.Sprint(i+1), left+(float64(x)+0.5)*w, rowTop+h/2, notePoints, text.XCenter, palette.DarkInk)
			}
		}
		if h >= 12 || y%int(12/h+1) == 0 {
			s.write(m.y.Names[y], left-6, rowTop+h/2, 9, text.XRight, palette.LineInk)
		}
	}
	style, end := s.style, left-w
	style.Font.Size = 9
	for x, name := range m.x.Names {
		at, half := left+(float64(x)+0.5)*w, float64(style.Width(name)/pixel)/2
		if at-half < end {
			continue // it would run into the one before
		}
		s.write(name, at, top+float64(b.height)+10, 9, text.XCenter, palette.LineInk)
		end = at + half + 4
	}
	s.write(m.x.Title(), left+float64(b.width)/2, top+float64(b.height)+27, 10, text.XCenter, palette.DarkInk)
}

func (m *heatMap) drawCell(s heatSheet, c HeatCell, b box, r vg.Rectangle) {
	if !finite(c.Value, 0) {
		canvas.Hatch(1).Fill(s.Canvas, r, palette.RGBA(palette.Grid))
	} else {
		ground := m.colour(c.Value)
		canvas.Hatch(0).Fill(s.Canvas, r, palette.RGBA(ground))
		middle := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
		style, words := s.style, m.short(c.Value)
		style.Font.Size, style.XAlign, style.YAlign, style.Color = 8, text.XCenter, text.YCenter, palette.RGBA(palette.InkOn(ground))
		switch fits := m.fits(b, words); {
		case !fits && c.Doubt != "":
			words = "?"
		case !fits:
			words = ""
		case c.Doubt != "":
			half := vg.Point{X: style.Width(words)/2 + 3, Y: 6}
			s.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 0.8, Dashes: []vg.Length{2.5, 1.5}})
			s.Stroke(vg.Rectangle{Min: middle.Sub(half), Max: middle.Add(half)}.Path())
		}
		s.FillText(style, middle, words)
	}
	s.SetLineStyle(draw.LineStyle{Color: palette.RGBA(palette.LightInk), Width: 0.7})
	s.Stroke(r.Path())
}

// drawLegend draws the colours with both their ends.
func (m *heatMap) drawLegend(s heatSheet, size Size) {
	const wide, high, steps = 140.0, 10.0, 70
	left, top := float64(size.Width)/2-wide/2, float64(size.Height)-heatBottom+8
	for i := range steps {
		v := m.lo + (m.hi-m.lo)*float64(i)/(steps-1)
		canvas.Hatch(0).Fill(s.Canvas, s.rectangle(left+wide*float64(i)/steps, top, wide/steps+0.3, high), palette.RGBA(m.colour(v)))
	}
	s.write(m.z.Label+": "+m.long(m.lo), left-6, top+high/2, 9, text.XRight, palette.LineInk)
	s.write(m.long(m.hi), left+wide+6, top+high/2, 9, text.XLeft, palette.LineInk)
}
