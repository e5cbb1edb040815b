package handbook

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"drtmx/engine/experiment"
)

//go:embed pages
var files embed.FS

// Page is a topic of the handbook.
type Page struct {
	Name    string   `yaml:"-"` // as in drtmx help NAME
	Title   string   `yaml:"title"`
	Summary string   `yaml:"summary"` // one line
	Order   int      `yaml:"order"`
	Knobs   []string `yaml:"knobs"` // that it explains: a name, or with a dot at its end all that begin so
	Text    string   `yaml:"-"`     // Markdown, without what stands in front
}

// Pages are all of them, in order.
var Pages = sync.OnceValue(func() []Page {
	names, err := fs.Glob(files, "pages/*.md")
	if err != nil {
		panic(err) // the pattern is ours
	}
	var out []Page
	for _, name := range names {
		p, err := read(name)
		if err != nil {
			panic(err) // the page is embedded, and a test reads it
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Page) int { return a.Order - b.Order })
	return out
})

// read parses the front of a page.
func read(name string) (Page, error) {
	p := Page{Name: strings.TrimSuffix(path.Base(name), ".md")}
	b, err := files.ReadFile(name)
	if err != nil {
		return p, err
	}
	front, text, ok := bytes.Cut(bytes.TrimPrefix(b, []byte("---\n")), []byte("\n---\n"))
	if !ok {
		return p, fmt.Errorf("%s: has no front: title, summary and order between two lines of three dashes", name)
	}
	dec := yaml.NewDecoder(bytes.NewReader(front))
	dec.KnownFields(true)
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p.Text = strings.TrimLeft(string(text), "\n")
	return p, nil
}

// Get finds a page by its name.
func Get(name string) (Page, bool) {
	pages := Pages()
	i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == name })
	if i < 0 {
		return Page{}, false
	}
	return pages[i], true
}

// TopicOf is the page that explains a knob, "" if there is no such knob. A longer prefix decides.
func TopicOf(knob string) (name string) {
	if experiment.IsHardware(knob) {
		knob = "hardware."
	}
	longest := 0
	for _, p := range Pages() {
		for _, k := range p.Knobs {
			if (k == knob || strings.HasSuffix(k, ".") && strings.HasPrefix(knob, k)) && len(k) > longest {
				name, longest = p.Name, len(k)
			}
		}
	}
	return name
}

// Picture is a picture of the pages.
func Picture(name string) ([]byte, bool) {
	if path.Ext(name) != ".png" || strings.ContainsAny(name, "/\\") {
		return nil, false
	}
	b, err := files.ReadFile("pages/" + name)
	return b, err == nil
}
