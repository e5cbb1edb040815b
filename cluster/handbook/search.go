package handbook

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
)

// Hit is a part of a page that has all words of a search: from one heading to the next, or an item of a list that is about a knob or a field.
type Hit struct {
	Page    string `json:"page"`
	Title   string `json:"title"`  // of the page
	Heading string `json:"head"`   // "" for what stands above the first
	Anchor  string `json:"anchor"` // of the heading
	Excerpt string `json:"excerpt"`

	score int
}

// section is such a part.
type section struct {
	page            Page
	heading, anchor string
	paragraphs      []string
}

// excerpt is the most letters that a hit shows.
const excerpt = 180

// Search finds the parts that have all words, the best first: words in a title count more than those in a heading, and these more
// than those in a paragraph.
func Search(query string, most int) []Hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var out []Hit
	for _, s := range sections() {
		if h, ok := s.hit(words); ok {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	return out[:min(most, len(out))]
}

// hit scores a part; ok where it has all words.
func (s section) hit(words []string) (h Hit, ok bool) {
	h = Hit{Page: s.page.Name, Title: s.page.Title, Heading: s.heading, Anchor: s.anchor}
	best, bestHas := "", -1
	for _, p := range s.paragraphs {
		has := 0
		for _, w := range words {
			has += strings.Count(strings.ToLower(p), w)
		}
		if has > bestHas {
			best, bestHas = p, has
		}
	}
	title, heading, text := strings.ToLower(s.page.Title+" "+s.page.Name), strings.ToLower(s.heading), strings.ToLower(strings.Join(s.paragraphs, "\n"))
	for _, w := range words {
		inTitle, inHeading := strings.Contains(title, w), strings.Contains(heading, w)
		n := strings.Count(text, w)
		if n == 0 && !inHeading && !(inTitle && s.heading == "") {
			return h, false
		}
		h.score += min(n, 5)
		if inHeading {
			h.score += 10
		}
		if inTitle && s.heading == "" {
			h.score += 20
		}
	}
	h.Excerpt = around(best, words[0])
	return h, true
}

// around is a piece of a paragraph with a word in it.
func around(paragraph, word string) string {
	letters := []rune(paragraph)
	if len(letters) <= excerpt {
		return paragraph
	}
	at := strings.Index(strings.ToLower(paragraph), word)
	from := 0
	if at > 0 {
		from = max(0, len([]rune(paragraph[:min(at, len(paragraph))]))-excerpt/3)
	}
	to := min(len(letters), from+excerpt)
	piece := string(letters[from:to])
	if from > 0 {
		piece = "… " + piece[strings.IndexByte(piece, ' ')+1:]
	}
	if to < len(letters) {
		piece += " …"
	}
	return piece
}

// sections are the parts of all pages.
var sections = sync.OnceValue(func() (out []section) {
	for _, p := range Pages() {
		doc, source := parse(p.Text)
		at := section{page: p, paragraphs: []string{p.Summary}}
		_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker below returns no error
			if !entering || n.Type() != ast.TypeBlock {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Heading:
				if n.Level > 1 {
					out = append(out, at)
					id, _ := n.AttributeString("id")
					at = section{page: p, heading: plain(n, source), anchor: string(id.([]byte))}
				}
				return ast.WalkSkipChildren, nil
			case *ast.FencedCodeBlock, *ast.CodeBlock:
				at.paragraphs = append(at.paragraphs, linesOf(n, source))
			case *ast.ListItem:
				if name, ok := itemOf(n, source); ok {
					out = append(out, section{page: p, heading: name, anchor: name, paragraphs: []string{strings.TrimSpace(plain(n, source))}})
					return ast.WalkSkipChildren, nil
				}
			case *ast.Document, *ast.List, *ast.HTMLBlock:
			default:
				at.paragraphs = append(at.paragraphs, strings.TrimSpace(plain(n, source)))
				return ast.WalkSkipChildren, nil
			}
			return ast.WalkContinue, nil
		})
		out = append(out, at)
	}
	return out
})
