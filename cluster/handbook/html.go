package handbook

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// AnchorPrefix is in front of the anchors of headings, for the page has elements of its own.
const AnchorPrefix = "help-"

// HTML is a page for the view Help: links between pages are addresses of that view, pictures are asked for below pictures.
func (p Page) HTML(pictures string) (string, error) {
	doc, source := parse(p.Text)
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok {
				n.SetAttributeString("id", append([]byte(AnchorPrefix), id.([]byte)...))
				n.SetAttributeString("tabindex", []byte("-1"))
			}
		case *ast.ListItem:
			if name, ok := itemOf(n, source); ok {
				n.SetAttributeString("id", []byte(AnchorPrefix+name))
				n.SetAttributeString("tabindex", []byte("-1"))
			}
		case *ast.Link:
			n.Destination = []byte(viewOf(string(n.Destination), p.Name))
		case *ast.Image:
			n.Destination = append([]byte(pictures), n.Destination...)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return "", err
	}
	return strings.NewReplacer("<table>", `<div class="scroll"><table class="rows">`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`).Replace(b.String()), nil
}

// viewOf is the address in the view Help of what a link of a page leads to.
func viewOf(destination, page string) string {
	if anchor, ok := strings.CutPrefix(destination, "#"); ok {
		return "#handbook/" + page + "/" + anchor
	}
	name, anchor, ok := toPage(destination)
	switch {
	case !ok:
		return destination
	case anchor != "":
		return "#handbook/" + name + "/" + anchor
	}
	return "#handbook/" + name
}
