package gallery

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/runs/runstest"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

func TestMain(m *testing.M) { os.Exit(runstest.Main(m)) }

// fast are figures of each kind that take no long: lines, one that is computed, what is recorded.
var fast = []string{"2-2a", "t3-2", "predictions-4"}

func opened(t *testing.T, o Options) *Gallery {
	t.Helper()
	g, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func filled(t *testing.T) (dir string, g *Gallery) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "gallery")
	g = opened(t, Options{Dir: dir, Scale: figures.Quick})
	for _, id := range fast {
		if err := g.Add(figures.Get(id).Quick()); err != nil {
			t.Fatal(err)
		}
	}
	return dir, g
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// pages are the HTML files of a folder by their names.
func pages(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	names, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		out[filepath.Base(n)] = read(t, n)
	}
	return out
}

// consistent sees that every figure has a page and a place in the index, that every link leads somewhere, and that no page asks a
// network for anything.
func consistent(t *testing.T, dir string) {
	t.Helper()
	all := pages(t, dir)
	for _, x := range figures.List() {
		if all[pageOf(x.ID)] == "" || !strings.Contains(all[indexFile], `<li id="f-`+x.ID+`"><a href="`+x.ID+`.html"`) {
			t.Errorf("%s has no page, or no place in the index", x.ID)
		}
	}
	href := regexp.MustCompile(`href="([^"#]*)(?:#([^"]*))?"`)
	for name, text := range all {
		for _, problem := range asks(text) {
			t.Errorf("%s: %s", name, problem)
		}
		for _, m := range href.FindAllStringSubmatch(text, -1) {
			target := all[m[1]]
			if m[1] == "" {
				target = text
			} else if target == "" {
				target = read(t, dir, m[1])
			}
			if m[2] != "" && !strings.Contains(target, `id="`+m[2]+`"`) {
				t.Errorf("%s: %s leads nowhere", name, m[0])
			}
		}
		if d := ids(t, name, text); d != "" {
			t.Errorf("%s has two elements %s", name, d)
		}
	}
}

// asks are the elements and properties of a page that a browser would load something for.
func asks(text string) (out []string) {
	if !strings.Contains(text, `http-equiv="Content-Security-Policy" content="default-src 'none';`) {
		out = append(out, "no policy")
	}
	for _, never := range []string{`<script\b`, `<link\b`, `<img\b`, `<iframe\b`, `<image\b`, `\bsrc=`, `@import`, `url\(`, `\bhref="(https?:)?//`, `xlink:href`} {
		if m := regexp.MustCompile(`(?i)` + never).FindString(text); m != "" {
			out = append(out, "has "+m)
		}
	}
	return out
}

func TestAsksFindsRequests(t *testing.T) {
	const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none';">`
	for _, bad := range []string{"", policy + `<img src="a.png">`, policy + `<a href="https://example.org">`, policy + `<style>a { background: url(x) }</style>`} {
		if len(asks(bad)) == 0 {
			t.Errorf("%s asks for something", bad)
		}
	}
	if got := asks(policy + `<a href="a.html">`); got != nil {
		t.Error(got)
	}
}

// ids reads a page as XML after its head, so that every tag is closed, and finds an id that is there twice.
func ids(t *testing.T, name, text string) (double string) {
	t.Helper()
	_, body, _ := strings.Cut(text, "<body")
	body, _, _ = strings.Cut("<body"+body, "</html>")
	seen := map[string]bool{}
	d := xml.NewDecoder(strings.NewReader(body))
	d.Entity = xml.HTMLEntity
	for {
		tok, err := d.Token()
		if err == io.EOF {
			return double
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return double
		}
		if e, ok := tok.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if a.Name.Local == "id" && a.Name.Space == "" {
					if seen[a.Value] {
						double = a.Value
					}
					seen[a.Value] = true
				}
			}
		}
	}
}

// TestFolder: pages come one by one, each link leads somewhere at any time, and a second run goes on with what there is.
func TestFolder(t *testing.T) {
	dir, g := filled(t)
	consistent(t, dir)
	index := read(t, dir, indexFile)
	if there, all := g.Count(); there != len(fast) || all != len(figures.List()) {
		t.Errorf("%d of %d", there, all)
	}
	if !strings.Contains(index, `id="missing"`) || !strings.Contains(index, `<a href="4-9a.html">4-9a</a>`) || strings.Contains(index, `, <a href="t3-2.html">`) {
		t.Error("the index does not say what is missing")
	}
	page := read(t, dir, "2-2a.html")
	for _, want := range []string{`rel="next" href="2-2b.html"`, `class="wide" role="img" aria-label="Figure 2-2a`, `class="narrow"`, "drtmx figure 2-2a --scale quick", "figures.Get(&#34;2-2a&#34;).Show()", `id="part-runs"`, "preset: drtm", `href="#run-3"`, `id="run-3"`, "✓ 2 hold"} {
		if !strings.Contains(page, want) {
			t.Errorf("2-2a.html has no %s", want)
		}
	}
	if svg := read(t, dir, "2-2a.svg"); !strings.HasPrefix(svg, "<?xml") {
		t.Errorf("%.40s", svg)
	}
	if missing := read(t, dir, "4-9a.html"); !strings.Contains(missing, "Not computed yet") || !strings.Contains(missing, `id="part-predictions"`) || strings.Contains(missing, `id="part-claims"`) {
		t.Error("a page that is missing does not say so")
	}
	again := opened(t, Options{Dir: dir, Scale: figures.Quick})
	if there, _ := again.Count(); there != len(fast) || read(t, dir, "2-2a.html") != page || read(t, dir, indexFile) != index {
		t.Errorf("a second run found %d", there)
	}
	if err := os.Remove(filepath.Join(dir, "t3-2.html")); err != nil {
		t.Fatal(err)
	}
	again = opened(t, Options{Dir: dir, Scale: figures.Quick})
	if there, _ := again.Count(); there != len(fast)-1 {
		t.Errorf("a page that was deleted counts: %d", there)
	}
	consistent(t, dir)
}

// TestFailedFigure: its page and the index say so, and a later run takes it for one that is missing.
func TestFailedFigure(t *testing.T) {
	dir := t.TempDir()
	g := opened(t, Options{Dir: dir, Scale: figures.Quick})
	if err := g.Fail("4-6", errors.New("a planted <failure>")); err != nil {
		t.Fatal(err)
	}
	consistent(t, dir)
	if page := read(t, dir, "4-6.html"); !strings.Contains(page, "a planted &lt;failure&gt;") {
		t.Error("the page does not say why")
	}
	if !strings.Contains(read(t, dir, indexFile), "✗ failed") {
		t.Error("the index does not say so")
	}
	if n, _ := opened(t, Options{Dir: dir, Scale: figures.Quick}).Count(); n != 0 {
		t.Errorf("%d figures", n)
	}
}

// TestKilledBeforeTheIndex: a folder in which a writer was killed at any file is a gallery to go on with.
func TestKilledBeforeTheIndex(t *testing.T) {
	dir, _ := filled(t)
	for _, lost := range []string{indexFile, "2-2b.html", "2-2a.svg"} {
		if err := os.Remove(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, atomicfile.Unfinished+"X"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := opened(t, Options{Dir: dir, Scale: figures.Quick})
	if err := g.Add(figures.Get("2-2a").Quick()); err != nil {
		t.Fatal(err)
	}
	consistent(t, dir)
	only := t.TempDir() // killed before its first file had a name
	if err := os.WriteFile(filepath.Join(only, atomicfile.Unfinished+"X"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, Options{Dir: only, Scale: figures.Quick})
	consistent(t, only)
}

// TestOtherFolders are refused in one line, and stay as they are.
func TestOtherFolders(t *testing.T) {
	base := t.TempDir()
	made := func(name, file, text string) string {
		dir := filepath.Join(base, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	file := filepath.Join(made("plain", "x", "y"), "x")
	paper := made("paper", stateFile, `{"gallery": "`+kind+`", "format": 1, "scale": "paper"}`)
	knobs := made("knobs", stateFile, `{"gallery": "`+kind+`", "format": 1, "scale": "quick", "set": {"ddio": false, "nodes": 4}}`)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Dir: filepath.Dir(file)}, "no gallery"},
		{Options{Dir: file}, "is a file"},
		{Options{Dir: filepath.Join(base, "not", "there")}, "no such file"},
		{Options{Dir: made("other", stateFile, `{"gallery": "of art"}`)}, "not of a gallery"},
		{Options{Dir: made("broken", stateFile, `{`)}, "not of a gallery"},
		{Options{Dir: made("newer", stateFile, `{"gallery": "`+kind+`", "format": 2}`)}, "format 2"},
		{Options{Dir: paper}, "--scale paper"},
		{Options{Dir: knobs}, "other knobs"},
		{Options{Dir: knobs, Set: experiment.Knobs{"ddio": false, "nodes": 4}, Band: true}, "bands"},
	} {
		c.o.Scale = figures.Quick
		_, err := Open(c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.o.Dir, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(c.o.Dir, indexFile)); err == nil {
			t.Errorf("%s: an index was written", c.o.Dir)
		}
	}
	opened(t, Options{Dir: knobs, Scale: figures.Quick, Set: experiment.Knobs{"ddio": false, "nodes": 4}})
}

// TestOtherCode: a page of another version of the code says so in the index until it is made again.
func TestOtherCode(t *testing.T) {
	dir, _ := filled(t)
	path := filepath.Join(dir, stateFile)
	text := regexp.MustCompile(`"code": "[^"]*"`).ReplaceAllString(read(t, path), `"code": "src-older"`)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := opened(t, Options{Dir: dir, Scale: figures.Quick})
	if n := strings.Count(read(t, dir, indexFile), "made by code src-older"); n != len(fast) {
		t.Errorf("%d pages of other code", n)
	}
	if err := g.Add(figures.Get("2-2a").Quick()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(read(t, dir, indexFile), "made by code src-older"); n != len(fast)-1 {
		t.Errorf("%d pages of other code after one was made again", n)
	}
}
