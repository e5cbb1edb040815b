package charts

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"drtmx/dashboard/charts/palette"
)

const (
	tableRow = 17 * vg.Length(1)
	tableGap = 16 * vg.Length(1) // between columns
	tableRim = 8 * vg.Length(1)
)

// tablePicture is as wide as its cells are.
func tablePicture(title string, rows [][]string, style Style) Picture {
	variant := sheet{style: style}.variant()
	words := plot.New().Legend.TextStyle
	words.Font.Size, words.Font.Variant = 9, variant
	bold := words
	bold.Font.Size = 11
	var widths []vg.Length
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], words.Width(cell)+tableGap)
		}
	}
	width := vg.Length(0)
	for _, w := range widths {
		width += w
	}
	width = max(width, bold.Width(title)) + 2*tableRim
	height := tableRow*vg.Length(len(rows)) + 2*tableRim
	if title != "" {
		height += tableRow
	}
	p := Picture{width: width, height: height, draw: func(c draw.Canvas) {
		y := c.Max.Y - tableRim - tableRow/2
		middle := func(s text.Style) text.Style { s.YAlign = text.YCenter; return s }
		if title != "" {
			c.FillText(middle(bold), vg.Point{X: c.Min.X + tableRim, Y: y}, title)
			y -= tableRow
		}
		for r, row := range rows {
			x := c.Min.X + tableRim
			for i, cell := range row {
				at, s := vg.Point{X: x, Y: y}, middle(words)
				if i > 0 {
					at.X, s.XAlign = x+widths[i]/2, text.XCenter
				}
				c.FillText(s, at, cell)
				x += widths[i]
			}
			if r == 0 {
				c.StrokeLine2(draw.LineStyle{Color: palette.RGBA(palette.Mark), Width: 0.7}, c.Min.X+tableRim, y-tableRow/2, x, y-tableRow/2)
			}
			y -= tableRow
		}
	}}
	return style.fit(p)
}
