package handbook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// Terminal is a page for a terminal: lines of at most width letters, but for code, which is not broken. With colour it has the
// marks that terminals show as bold and coloured letters; without, it is plain text.
func (p Page) Terminal(width int, colour bool) string {
	doc, source := parse(p.Text)
	t := &terminal{source: source, width: width, colour: colour}
	t.blocks(doc, "")
	return strings.TrimLeft(t.b.String(), "\n")
}

type terminal struct {
	b      strings.Builder
	source []byte
	width  int
	colour bool
}

// What terminals understand.
const (
	bold  = "\x1b[1m"
	blue  = "\x1b[36m"
	reset = "\x1b[0m"
)

// mark puts text between marks.
func (t *terminal) mark(with, s string) string {
	if !t.colour || s == "" || with == "" {
		return s
	}
	return with + s + reset
}

// blocks writes the blocks below a node, each line behind an indent.
func (t *terminal) blocks(n ast.Node, indent string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t.block(c, indent)
	}
}

func (t *terminal) block(n ast.Node, indent string) {
	switch n := n.(type) {
	case *ast.Heading:
		s := plain(n, t.source)
		if n.Level == 1 {
			s = strings.ToUpper(s)
		}
		var words []word
		for _, f := range strings.Fields(s) {
			words = append(words, word{t.mark(bold, f), utf8.RuneCountInString(f)})
		}
		t.b.WriteByte('\n')
		t.wrapped(words, indent, indent)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		t.b.WriteByte('\n')
		for line := range strings.Lines(linesOf(n, t.source)) {
			fmt.Fprintf(&t.b, "%s    %s\n", indent, t.mark(blue, strings.TrimRight(line, "\n")))
		}
	case *ast.List:
		t.list(n, indent)
	case *east.Table:
		t.table(n, indent)
	case *ast.HTMLBlock: // comments
	case *ast.ThematicBreak:
		fmt.Fprintf(&t.b, "\n%s%s\n", indent, strings.Repeat("-", 20))
	case *ast.Blockquote:
		t.blocks(n, indent+"  | ")
	case *ast.TextBlock:
		t.wrapped(t.words(n), indent, indent)
	default:
		t.b.WriteByte('\n')
		t.wrapped(t.words(n), indent, indent)
	}
}

// list writes items with a sign or a number in front of the first line of each.
func (t *terminal) list(l *ast.List, indent string) {
	t.b.WriteByte('\n')
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		sign := "- "
		if l.IsOrdered() {
			sign = fmt.Sprintf("%d. ", number)
			number++
		}
		hang := indent + strings.Repeat(" ", len(sign))
		for c := item.FirstChild(); c != nil; c = c.NextSibling() {
			switch first := c == item.FirstChild(); {
			case first:
				t.wrapped(t.words(c), indent+sign, hang)
			default:
				t.block(c, hang)
			}
		}
	}
}

// word is what stands between two spaces.
type word struct {
	text string // with marks
	long int    // letters
}

// wrapped writes words in lines.
func (t *terminal) wrapped(words []word, first, hang string) {
	for _, line := range lines(words, t.width-utf8.RuneCountInString(hang)) {
		fmt.Fprintf(&t.b, "%s%s\n", first, line.text)
		first = hang
	}
}

// lines puts words into lines of at most width letters. A word that is longer has a line of its own.
func lines(words []word, width int) (out []word) {
	for _, w := range words {
		if n := len(out) - 1; n >= 0 && out[n].long+1+w.long <= width {
			out[n] = word{out[n].text + " " + w.text, out[n].long + 1 + w.long}
			continue
		}
		out = append(out, w)
	}
	return out
}

// words are those below a node, with their marks.
func (t *terminal) words(n ast.Node) (out []word) {
	glue := false // the next piece belongs to the last word
	add := func(s, with string) {
		if s == "" {
			return
		}
		for i, f := range strings.Fields(s) {
			w := word{t.mark(with, f), utf8.RuneCountInString(f)}
			if last := len(out) - 1; i == 0 && last >= 0 && glue && !strings.HasPrefix(s, " ") {
				out[last] = word{out[last].text + w.text, out[last].long + w.long}
				continue
			}
			out = append(out, w)
		}
		glue = !strings.HasSuffix(s, " ")
	}
	var walk func(n ast.Node, with string)
	walk = func(n ast.Node, with string) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch c := c.(type) {
			case *ast.Text:
				add(string(c.Segment.Value(t.source)), with)
				if c.SoftLineBreak() || c.HardLineBreak() {
					glue = false
				}
			case *ast.CodeSpan:
				add(plain(c, t.source), blue)
			case *ast.Emphasis:
				walk(c, bold)
			case *ast.Link:
				walk(c, with)
				add(seen(string(c.Destination)), with)
			case *ast.AutoLink:
				add(string(c.URL(t.source)), with)
			case *ast.Image:
				add("[picture: "+plain(c, t.source)+"]", with)
			case *ast.RawHTML:
			default:
				walk(c, with)
			}
		}
	}
	walk(n, "")
	return out
}

// seen is what a terminal shows of where a link leads to.
func seen(destination string) string {
	if name, _, ok := toPage(destination); ok {
		return " (drtmx help " + name + ")"
	}
	if strings.HasPrefix(destination, "#") {
		return ""
	}
	return " (" + destination + ")"
}

// table writes columns side by side. What does not fit is wrapped in the widest column.
func (t *terminal) table(n *east.Table, indent string) {
	var rows [][][]word
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		var cells [][]word
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, t.words(c))
		}
		rows = append(rows, cells)
	}
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for i, c := range cells {
			for _, l := range lines(c, 1<<20) {
				widths[i] = max(widths[i], l.long)
			}
		}
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for room := t.width - len(indent); total > room; { // the widest column gives what is too much, as long as it stays readable
		i := slices.Index(widths, slices.Max(widths))
		less := min(total-room, widths[i]-max(12, widths[i]*3/4))
		if less <= 0 {
			break
		}
		widths[i], total = widths[i]-less, total-less
	}
	t.b.WriteByte('\n')
	for i, cells := range rows {
		t.row(cells, widths, indent)
		if i == 0 {
			total := 2 * (len(widths) - 1)
			for _, w := range widths {
				total += w
			}
			fmt.Fprintf(&t.b, "%s%s\n", indent, strings.Repeat("-", total))
		}
	}
}

// row writes one row, in as many lines as its longest cell needs.
func (t *terminal) row(cells [][]word, widths []int, indent string) {
	var columns [][]word
	high := 0
	for i, c := range cells {
		columns = append(columns, lines(c, widths[i]))
		high = max(high, len(columns[i]))
	}
	for y := range high {
		line := indent
		for i, c := range columns {
			w := word{}
			if y < len(c) {
				w = c[y]
			}
			line += w.text
			if i < len(columns)-1 {
				line += strings.Repeat(" ", max(0, widths[i]-w.long)+2)
			}
		}
		fmt.Fprintln(&t.b, strings.TrimRight(line, " "))
	}
}
