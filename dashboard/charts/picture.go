package charts

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is how a picture in a file looks. Its zero value suits a screen.
type Style struct {
	// WidthMM is how wide it is, such as the 84 of a column; 0: 760 pixels.
	WidthMM float64
	// Family is sans, serif or mono; "": sans. In PGF "" is the document's own.
	Family string
	// Points is the size of the names of the axes, after which all other text goes;
	// 0: 10, and 8 if there is a width.
	Points float64
	// Untitled leaves the title out: it stands beside the picture.
	Untitled bool
}

// namesOfAxes is the size of their text on a sheet, in points.
const namesOfAxes = 10

// zoom is how much larger than on its sheet a picture is drawn.
func (s Style) zoom() vg.Length {
	switch {
	case s.Points > 0:
		return vg.Length(s.Points / namesOfAxes)
	case s.WidthMM > 0:
		return 0.8
	}
	return 1
}

// fit makes a picture whose own size is given as wide as is asked for.
func (s Style) fit(p Picture) Picture {
	p.zoom, p.family = s.zoom(), s.Family
	if s.WidthMM > 0 && p.width > 0 {
		p.zoom = vg.Length(s.WidthMM) * vg.Millimeter / p.width
	}
	return p
}

// sheet is what a picture is drawn on: before it is zoomed its text has always the same
// size, so a narrow picture with large letters is one of fewer pixels.
type sheet struct {
	Size
	style Style
}

// on is the sheet of a style for a picture that suits a screen at a size. A narrow one
// is higher in proportion, for the legend takes more rows.
func (s Style) on(size Size) sheet {
	width := float64(size.Width)
	if s.WidthMM > 0 {
		width = s.WidthMM / 25.4 * 96
	}
	width /= float64(s.zoom())
	if narrow := int(0.72 * width); s.WidthMM > 0 && size.Height <= defaultHeight && size.Height > narrow {
		size.Height = max(narrow, 190)
	}
	size.Width = int(width)
	return sheet{size, s}
}

func (o sheet) variant() font.Variant {
	switch o.style.Family {
	case "serif":
		return "Serif"
	case "mono":
		return "Mono"
	}
	return "Sans"
}

func (o sheet) picture(draw func(draw.Canvas)) Picture {
	return Picture{width: vg.Length(o.Width) * pixel, height: vg.Length(o.Height) * pixel, draw: draw, zoom: o.style.zoom(), family: o.style.Family}
}

// ticks are those of the X axis of a plot. Labels of its own that would run into each
// other are left out.
func (o sheet) ticks(x Axis, p *plot.Plot) plot.Ticker {
	if x.Ticks == nil {
		return ticks(x)
	}
	room := vg.Length(o.Width)*pixel - 60 // beside the Y axis' numbers and its name
	return plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		out := x.own(lo, hi)
		end := -room
		for i, t := range out {
			half := p.X.Tick.Label.Width(t.Label)/2 + 3
			at := vg.Length(along(t.Value, lo, hi, x.Log)) * room
			if at-half < end {
				out[i].Label = ""
				continue
			}
			end = at + half
		}
		return out
	})
}

// own are the ticks of an axis that has its own, in full.
func (a Axis) own(lo, hi float64) (out []plot.Tick) {
	for _, v := range a.Ticks {
		if v >= lo && v <= hi {
			out = append(out, plot.Tick{Value: v, Label: a.tickLabel(v)})
		}
	}
	return out
}

// tickLabel is a value of the axis as it stands at a tick.
func (a Axis) tickLabel(v float64) string {
	if a.Unit == "bytes" {
		return Bytes(v)
	}
	return Exact(v)
}

// LinesPicture is the static form of LinesSized, for files: SVG, PNG, PDF and PGF.
func LinesPicture(style Style, title string, x, y Axis, series []Series, refs []Reference) Picture {
	return TracksPicture(style, title, x, []Track{{Y: y, Series: series, References: refs}})
}

// TracksPicture is the static form of Timeline, for files; a single track is as high as LinesSized is.
func TracksPicture(style Style, title string, x Axis, tracks []Track) Picture {
	return tracksPicture(title, x, tracks, nil, style.on(Size{defaultWidth, max(defaultHeight, 60+trackHeight*len(tracks))}))
}

// RankingPicture is the static form of Ranking, for files.
func RankingPicture(style Style, title string, y Axis, parts []Part, bars []Bars) Picture {
	return stackedPicture(title, y, parts, bars, style.on(rankingSize(len(bars))))
}

// TablePicture is the static form of Table, for files.
func TablePicture(style Style, title string, rows [][]string) Picture {
	return tablePicture(title, rows, style)
}
