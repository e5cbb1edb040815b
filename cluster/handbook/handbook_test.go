package handbook

import (
	"fmt"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"drtmx/engine/experiment"
	"drtmx/engine/metrics/panel"
	"drtmx/engine/result"
)

// Each page has its front, an order of its own, and begins with its title.
func TestPages(t *testing.T) {
	orders := map[int]string{}
	for _, p := range Pages() {
		if p.Title == "" || p.Summary == "" || strings.HasSuffix(p.Summary, ".") || p.Order == 0 {
			t.Errorf("%s: title %q, summary %q, order %d", p.Name, p.Title, p.Summary, p.Order)
		}
		if other, twice := orders[p.Order]; twice {
			t.Errorf("%s and %s have order %d", p.Name, other, p.Order)
		}
		orders[p.Order] = p.Name
		if !strings.HasPrefix(p.Text, "# "+p.Title+"\n") {
			t.Errorf("%s does not begin with # %s", p.Name, p.Title)
		}
	}
	for _, name := range []string{"results", "sources", "recipes"} {
		if _, ok := Get(name); !ok {
			t.Errorf("no page %s", name)
		}
	}
}

// What a page repeats of the code is as the code is. UPDATE=1 writes it.
func TestGenerated(t *testing.T) {
	for _, p := range Pages() {
		want, err := withGenerated(p)
		if err != nil {
			t.Error(err)
			continue
		}
		if want == p.Text {
			continue
		}
		file := "pages/" + p.Name + ".md"
		if os.Getenv("UPDATE") == "" {
			t.Errorf("%s: its generated parts differ from the code; UPDATE=1 go test ./cluster/handbook -run TestGenerated writes them", file)
			continue
		}
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, []byte(strings.Replace(string(b), p.Text, want, 1)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every knob has a page, and its item stands there.
func TestEveryKnobHasAPage(t *testing.T) {
	for _, k := range experiment.Registry() {
		p, ok := Get(TopicOf(k.Name))
		name := k.Name
		if f, _, of := familyOf(name); of {
			name = f.prefix + f.of + f.suffix
		}
		if !ok || !strings.Contains(p.Text, "\n- `"+name+"` (") {
			t.Errorf("%s: no page has it; name it, or how it begins, below knobs in front of one", k.Name)
		}
	}
	for name, want := range map[string]string{"fault.clock_skew": "snapshots", "fault.crash": "nvm", "hardware.wire.switch": "hardware", "nope": ""} {
		if got := TopicOf(name); got != want {
			t.Errorf("%s is explained by %q, want %q", name, got, want)
		}
	}
}

// The page of results names every field that a result as JSON can have, and no other.
func TestFieldsOfAResult(t *testing.T) {
	p, _ := Get("results")
	_, list, _ := strings.Cut(p.Text, "\n## The fields\n")
	list, _, _ = strings.Cut(list, "\n## ")
	named := map[string]bool{}
	for line := range strings.Lines(list) {
		names, _, _ := strings.Cut(line, ": ")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(names, -1) {
			named[m[1]] = true
		}
	}
	var fields []string
	r := reflect.TypeFor[result.Result]()
	for i := range r.NumField() {
		if name, _, _ := strings.Cut(r.Field(i).Tag.Get("json"), ","); name != "-" {
			fields = append(fields, name)
		}
	}
	for _, s := range panel.Sections() {
		fields = append(fields, s.Part)
	}
	for _, name := range fields {
		if !named[name] {
			t.Errorf("the page does not name %s", name)
		}
		delete(named, name)
	}
	for name := range named { // order-free: one error each
		t.Errorf("the page names %s, which no result has", name)
	}
}

// Links lead to pages, headings and pictures that there are.
func TestLinks(t *testing.T) {
	for _, p := range Pages() {
		for _, to := range linksOf(p) {
			if err := broken(p, to); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
	p := Page{Name: "results", Text: "# T\n\n[a](nope.md) [b](concepts.md#nope) [c](#nope) ![d](nope.png) [e](concepts.md#glossary)\n"}
	for i, to := range linksOf(p) {
		if err := broken(p, to); (err == nil) != (i == 4) {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// linksOf are where the links and pictures of a page lead to.
func linksOf(p Page) (out []string) {
	doc, _ := parse(p.Text)
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if l, ok := n.(*ast.Link); ok && entering {
			out = append(out, string(l.Destination))
		}
		if i, ok := n.(*ast.Image); ok && entering {
			out = append(out, string(i.Destination))
		}
		return ast.WalkContinue, nil
	})
	return out
}

func broken(p Page, to string) error {
	if path.Ext(to) == ".png" {
		if _, ok := Picture(to); !ok {
			return fmt.Errorf("no picture %s", to)
		}
		return nil
	}
	if anchor, ok := strings.CutPrefix(to, "#"); ok {
		to = p.Name + ".md#" + anchor
	}
	name, anchor, ok := toPage(to)
	if !ok {
		return fmt.Errorf("%s: neither a page nor a picture", to)
	}
	target, ok := Get(name)
	if !ok {
		return fmt.Errorf("%s: no such page", to)
	}
	doc, _ := parse(target.Text)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if id, ok := n.AttributeString("id"); ok && string(id.([]byte)) == anchor {
			return nil
		}
	}
	if anchor != "" {
		return fmt.Errorf("%s: no such heading", to)
	}
	return nil
}

// pointer is a file or a folder of the repository, as the pages name it.
var pointer = regexp.MustCompile("`((?:engine|cluster|dashboard|notebooks|kernel|xstore|dst|rdpma)/[\\w./-]*|house_test\\.go)`")

// Files and folders that the pages name are there.
func TestPointers(t *testing.T) {
	found := 0
	for _, p := range Pages() {
		for _, m := range pointer.FindAllStringSubmatch(p.Text, -1) {
			found++
			if _, err := os.Stat("../../" + m[1]); err != nil && m[1] != "engine/protocol/mine" {
				t.Errorf("%s names %s, which is not there", p.Name, m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("%d pointers are found", found)
	}
}

// Every question of a researcher has its recipe: a heading that ends with a question mark, and one command.
func TestRecipes(t *testing.T) {
	p, _ := Get("recipes")
	questions := 0
	for _, part := range strings.Split(p.Text, "\n### ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		if !strings.HasSuffix(head, "?") {
			t.Errorf("%s: is no question", head)
		}
		if n := strings.Count(body, "\ndrtmx "); n != 1 {
			t.Errorf("%s: %d commands", head, n)
		}
		questions++
	}
	if questions < 30 {
		t.Errorf("%d recipes", questions)
	}
}

// Words that tell of how the text came about, and numbers that are kept back, stand in no page.
func TestNoHistory(t *testing.T) {
	banned := regexp.MustCompile(`(?i)\b(withheld|baseline|stale|missed|[0-9a-f]{7,40})\b`)
	for _, p := range Pages() {
		for _, m := range banned.FindAllString(p.Text, -1) {
			if strings.ContainsAny(m, "abcdefghijklmnopqrstuvwxyzABCDEF") && !strings.Contains("session|stale|strict|mixed", m) {
				t.Errorf("%s: %s", p.Name, m)
			}
		}
	}
}

// A terminal shows no line that is too long but code, and without colour no marks.
func TestTerminal(t *testing.T) {
	for _, p := range Pages() {
		for _, wide := range []int{60, 100} {
			text := p.Terminal(wide, false)
			if strings.Contains(text, "\x1b") || strings.Contains(text, "```") || strings.Contains(text, "<!--") {
				t.Errorf("%s has marks", p.Name)
			}
			for line := range strings.Lines(text) {
				n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
				if n > wide && !strings.HasPrefix(line, "    ") && strings.Contains(strings.TrimSpace(line), " ") && !strings.Contains(line, "  ") {
					t.Errorf("%s: %d letters: %s", p.Name, n, line)
				}
			}
		}
	}
	p := Page{Text: "# One\n\nA `b` and *c* to [there](results.md), long enough for two lines.\n\n| k | v |\n|---|---|\n| a | b c |\n\n1. x\n2. y\n   z\n\n```\ncode  here\n```\n"}
	const want = "ONE\n\nA b and c to there (drtmx help results),\nlong enough for two lines.\n\nk  v\n------\na  b c\n\n1. x\n2. y z\n\n    code  here\n"
	if got := p.Terminal(42, false); got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	if got := p.Terminal(42, true); strings.Count(got, reset) != 4 || !strings.Contains(got, bold+"ONE"+reset) || !strings.Contains(got, blue+"b"+reset) {
		t.Errorf("%q", got)
	}
}

func TestHTML(t *testing.T) {
	p := Page{Name: "own", Text: "# One\n\n## Two `x`\n\n[a](results.md#checks) [b](#two-x) ![c](d.png)\n\n- `a.b` (c): d\n- e\n\n<script>x</script>\n"}
	got, err := p.HTML("pictures/")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h2 id="help-two-x" tabindex="-1">`, `href="#handbook/results/checks"`, `href="#handbook/own/two-x"`, `src="pictures/d.png"`, `<li id="help-a.b" tabindex="-1"><code>a.b</code>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "<script") {
		t.Errorf("a script in %s", got)
	}
}

// An anchor leads to one place.
func TestAnchorsAreUnique(t *testing.T) {
	for _, p := range Pages() {
		html, err := p.HTML("")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
			if seen[m[1]] {
				t.Errorf("%s has %s twice", p.Name, m[1])
			}
			seen[m[1]] = true
		}
	}
}

func TestSearch(t *testing.T) {
	for query, page := range map[string]string{"glossary": "concepts", "write amplification": "nvm", "Elle": "results", "elasticity": "concepts", "bandwidth=200Gbps": "hardware", "ts.staleness_ns": "snapshots"} {
		hits := Search(query, 5)
		if !slices.ContainsFunc(hits, func(h Hit) bool { return h.Page == page }) {
			t.Errorf("%s: %v", query, hits)
		}
	}
	if hits := Search("ts.staleness_ns", 5); !slices.ContainsFunc(hits, func(h Hit) bool { return h.Page == "snapshots" && h.Anchor == "ts.staleness_ns" }) {
		t.Errorf("the item of a knob is not found: %v", hits)
	}
	if hits := Search("staleness", 3); len(hits) != 3 || !strings.Contains(strings.ToLower(hits[0].Excerpt+hits[0].Heading+hits[0].Title), "stale") {
		t.Errorf("%v", hits)
	}
	for _, query := range []string{"", "no-such-word", "glossary no-such-word"} {
		if hits := Search(query, 5); len(hits) > 0 {
			t.Errorf("%q: %v", query, hits)
		}
	}
}

func TestPicture(t *testing.T) {
	if b, ok := Picture("xcache.png"); !ok || len(b) < 1000 {
		t.Error("no xcache.png")
	}
	for _, name := range []string{"nope.png", "../doc.go", "concepts.md", ""} {
		if _, ok := Picture(name); ok {
			t.Errorf("%q is a picture", name)
		}
	}
}
