package canvas

import (
	"image"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// zoomed is a canvas on which everything is so much larger or smaller, letters and
// lines too: they stay text and have the size that was asked for.
type zoomed struct {
	vg.CanvasSizer
	by vg.Length
}

// Zoomed is the canvas of a file of another size: what is drawn on it comes out by times as large.
func Zoomed(c vg.CanvasSizer, by vg.Length) vg.CanvasSizer {
	if by == 1 {
		return c
	}
	return zoomed{c, by}
}

func (z zoomed) Size() (w, h vg.Length) {
	w, h = z.CanvasSizer.Size()
	return w / z.by, h / z.by
}

func (z zoomed) SetLineWidth(w vg.Length) { z.CanvasSizer.SetLineWidth(w * z.by) }

func (z zoomed) SetLineDash(pattern []vg.Length, offset vg.Length) {
	out := make([]vg.Length, len(pattern))
	for i, l := range pattern {
		out[i] = l * z.by
	}
	z.CanvasSizer.SetLineDash(out, offset*z.by)
}

func (z zoomed) Translate(at vg.Point) { z.CanvasSizer.Translate(at.Scale(z.by)) }

func (z zoomed) path(p vg.Path) vg.Path {
	out := make(vg.Path, len(p))
	for i, c := range p {
		c.Pos, c.Radius = c.Pos.Scale(z.by), c.Radius*z.by
		control := make([]vg.Point, len(c.Control))
		for k, at := range c.Control {
			control[k] = at.Scale(z.by)
		}
		c.Control = control
		out[i] = c
	}
	return out
}

func (z zoomed) Stroke(p vg.Path) { z.CanvasSizer.Stroke(z.path(p)) }
func (z zoomed) Fill(p vg.Path)   { z.CanvasSizer.Fill(z.path(p)) }

func (z zoomed) FillString(f font.Face, at vg.Point, text string) {
	z.CanvasSizer.FillString(font.DefaultCache.Lookup(f.Font, f.Font.Size*z.by), at.Scale(z.by), text)
}

func (z zoomed) DrawImage(r vg.Rectangle, img image.Image) {
	z.CanvasSizer.DrawImage(vg.Rectangle{Min: r.Min.Scale(z.by), Max: r.Max.Scale(z.by)}, img)
}
