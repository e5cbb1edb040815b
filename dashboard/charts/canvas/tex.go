package canvas

import (
	"bytes"
	"fmt"
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
	family  string
	refused *error // the first text that LaTeX has no letters for
}

// NewTeX makes one whose text has the font of the document, unless a family is asked for: sans, serif or mono.
func NewTeX(w, h vg.Length, family string) TeX {
	return TeX{vgtex.New(w, h), texFamilies[family], new(error)}
}

// PGF is what was drawn, as commands of LaTeX's package pgf. It is an error that a text has a character which LaTeX does not set.
func (c TeX) PGF() ([]byte, error) {
	if *c.refused != nil {
		return nil, *c.refused
	}
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return texNames.ReplaceAll(b.Bytes(), []byte(`\pgfpath$1`)), nil
}

// FillString centres a text where vgtex would centre what stands for it in TeX.
func (c TeX) FillString(f font.Face, at vg.Point, text string) {
	tex := c.family + texText.Replace(text)
	if r, ok := unset(tex); ok && *c.refused == nil {
		*c.refused = fmt.Errorf("pgf: the character %q of %q: pdflatex cannot set it; change the text, or use svg or pdf", r, text)
	}
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

// unset finds a character that pdflatex, whose input is UTF-8, has no letter for in its usual fonts.
func unset(tex string) (rune, bool) {
	for _, r := range tex {
		if r < ' ' || r > '~' && !(r > lastSign && r <= lastLatin) {
			return r, true
		}
	}
	return 0, false
}

// Letters with accents, of Latin-1 and Latin Extended-A.
const (
	lastSign  = 0xbf
	lastLatin = 0x17f
)

// texText is text for LaTeX. In its usual text font <, > and | are other signs.
var texText = strings.NewReplacer(`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`, `~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`,
	"<", `$<$`, ">", `$>$`, "|", `\textbar{}`, `"`, `''`, "−", `$-$`, "·", `$\cdot$`, "→", `$\to$`, "←", `$\leftarrow$`, "↔", `$\leftrightarrow$`, "≈", `$\approx$`, "≠", `$\neq$`, "∞", `$\infty$`, "²", `$^2$`, "³", `$^3$`, "°", `$^\circ$`,
	"α", `$\alpha$`, "β", `$\beta$`, "δ", `$\delta$`, "ε", `$\varepsilon$`, "θ", `$\theta$`, "λ", `$\lambda$`, "μ", `$\mu$`, "ρ", `$\rho$`, "σ", `$\sigma$`, "Δ", `$\Delta$`, "Σ", `$\Sigma$`,
	"\u00a0", `~`, "—", `---`, "‘", "`", "’", `'`, "“", "``", "”", `''`, "„", `,,`, "½", `$\frac12$`,
	"×", `$\times$`, "≤", `$\leq$`, "≥", `$\geq$`, "±", `$\pm$`, "µ", `$\mu$`, "§", `\S{}`, "–", `--`, "…", `\ldots{}`)
