package handbook

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown parses CommonMark with tables. HTML in a page is left out but for comments, which are not shown either.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// parse is the tree of a page and the bytes that it refers to. Headings have the anchors that GitHub gives them.
func parse(source string) (ast.Node, []byte) {
	b := []byte(source)
	doc := markdown.Parser().Parse(text.NewReader(b), parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
	return doc, b
}

// anchors makes the anchors of one page.
type anchors struct{ have []string }

// Generate is the anchor of a heading: lower case, dashes for spaces, no punctuation.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	s := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, string(value))
	a.have = append(a.have, s)
	return []byte(s)
}

// Put has nothing to do: no heading names its own anchor.
func (a *anchors) Put([]byte) {}

// plain is the text below a node, without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		default:
			b.WriteString(plain(c, source))
			if c.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// itemOf is what an item of a list is about: the code that it begins with, as a knob or a field of a result.
func itemOf(n *ast.ListItem, source []byte) (name string, ok bool) {
	if n.FirstChild() == nil {
		return "", false
	}
	code, ok := n.FirstChild().FirstChild().(*ast.CodeSpan)
	if !ok {
		return "", false
	}
	return plain(code, source), true
}

// linesOf is the text of a block of code.
func linesOf(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		at := n.Lines().At(i)
		b.Write(at.Value(source))
	}
	return b.String()
}

// toPage says which page a link leads to, and to which of its headings.
func toPage(destination string) (name, anchor string, ok bool) {
	file, anchor, _ := strings.Cut(destination, "#")
	name, ok = strings.CutSuffix(file, ".md")
	return name, anchor, ok && !strings.Contains(name, "/")
}
