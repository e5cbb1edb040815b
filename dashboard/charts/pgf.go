package charts

import (
	"bytes"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgtex"
)

// PGF is the picture for LaTeX: \usepackage{pgf} (or tikz) and \input the file. Its text
// is set by LaTeX, in the document's font unless a family is asked for.
func (p Picture) PGF() ([]byte, error) {
	w, h := p.size()
	t := vgtex.New(w, h)
	p.draw(draw.New(p.sized(texCanvas{t, texFamilies[p.family]})))
	var b bytes.Buffer
	if _, err := t.WriteTo(&b); err != nil {
		return nil, err
	}
	return texNames.ReplaceAll(b.Bytes(), []byte(`\pgfpath$1`)), nil
}

// texNames are the commands of vgtex that only PGF's compatibility layer knows.
var texNames = regexp.MustCompile(`\\pgf(lineto|curveto)\b`)

var texFamilies = map[string]string{"sans": `\sffamily `, "serif": `\rmfamily `, "mono": `\ttfamily `}

// texCanvas does what vgtex leaves to its user: it writes text so that LaTeX takes it as
// it is, and closes what is to be closed.
type texCanvas struct {
	*vgtex.Canvas
	family string
}

// FillString centres a text where vgtex would centre what stands for it in TeX.
func (c texCanvas) FillString(f font.Face, at vg.Point, text string) {
	tex := c.family + texText.Replace(text)
	at.X += (f.Width(text) - f.Width(tex)) / 2
	c.Canvas.FillString(f, at, tex)
}

func (c texCanvas) Stroke(p vg.Path) { c.Canvas.Stroke(closed(p)) }

// closed draws the last line of a closed path, which vgtex leaves out.
func closed(p vg.Path) vg.Path {
	var out vg.Path
	var begin vg.Point
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			begin = c.Pos
		case vg.CloseComp:
			c = vg.PathComp{Type: vg.LineComp, Pos: begin}
		}
		out = append(out, c)
	}
	return out
}

// texText is text for LaTeX.
var texText = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	"×", `$\times$`, "≤", `$\leq$`, "≥", `$\geq$`, "±", `$\pm$`, "µ", `$\mu$`, "§", `\S{}`, "–", `--`, "…", `\ldots{}`)
