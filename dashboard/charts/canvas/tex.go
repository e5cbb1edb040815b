package canvas

import (
	"bytes"
	"regexp"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgtex"
)

// texNames are the commands of vgtex that only PGF's compatibility layer knows.
var texNames = regexp.MustCompile(`\\pgf(lineto|curveto)\b`)

var texFamilies = map[string]string{"sans": `\sffamily `, "serif": `\rmfamily `, "mono": `\ttfamily `}

// TeX does what vgtex leaves to its user: it writes text so that LaTeX takes it as
// it is, and closes what is to be closed.
type TeX struct {
	*vgtex.Canvas
	family string
}

// NewTeX makes one whose text has the font of the document, unless a family is asked for: sans, serif or mono.
func NewTeX(w, h vg.Length, family string) TeX { return TeX{vgtex.New(w, h), texFamilies[family]} }

// PGF is what was drawn, as commands of LaTeX's package pgf.
func (c TeX) PGF() ([]byte, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return texNames.ReplaceAll(b.Bytes(), []byte(`\pgfpath$1`)), nil
}

// FillString centres a text where vgtex would centre what stands for it in TeX.
func (c TeX) FillString(f font.Face, at vg.Point, text string) {
	tex := c.family + texText.Replace(text)
	at.X += (f.Width(text) - f.Width(tex)) / 2
	c.Canvas.FillString(f, at, tex)
}

func (c TeX) Stroke(p vg.Path) { c.Canvas.Stroke(closed(p)) }

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
