package palette

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/metrics"
)

// What people with a kind of colour blindness see of linear RGB: Machado, Oliveira and
// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
// IEEE TVCG 15(6), 2009, severity 1.
var visions = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab is a colour in CIELAB (D65) as somebody sees it.
func lab(colour string, vision [3][3]float64) (out [3]float64) {
	r, g, b := RGB(colour)
	rgb := [3]float64{linear(r), linear(g), linear(b)}
	var seen [3]float64
	for i := range seen {
		for k := range rgb {
			seen[i] += vision[i][k] * rgb[k]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(x, y, z, white float64) float64 {
		t := (x*seen[0] + y*seen[1] + z*seen[2]) / white
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return t*841/108 + 4.0/29
	}
	x, y, z := f(0.4124, 0.3576, 0.1805, 0.9505), f(0.2126, 0.7152, 0.0722, 1), f(0.0193, 0.1192, 0.9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// Two colours of one table differ for everybody. A difference of 2.3 in CIELAB is just
// seen side by side; small areas apart from each other need several times that.
func TestColoursAreToldApart(t *testing.T) {
	const least = 13
	tables := map[string][]string{"places": nil}
	for _, l := range places {
		tables["places"] = append(tables["places"], l.Colour)
	}
	for _, p := range metrics.Phases() {
		x := p.Info()
		if x.Of == "" {
			tables["phases"] = append(tables["phases"], x.Colour)
		}
		if name := "phases of requests"; x.Of == "requests" || p == metrics.PhaseOther || p == metrics.Backoff {
			tables[name] = append(tables[name], x.Colour)
		}
	}
	for name, of := range map[string]*Table{"systems": Systems, "designs": Designs, "milestones": Milestones} {
		for _, l := range of.looks {
			tables[name] = append(tables[name], l.Colour)
		}
	}
	for name, light := range tables {
		dark := slices.Clone(light)
		for i, c := range dark {
			if d, ok := OnDark[c]; ok {
				dark[i] = d
			}
		}
		for ground, colours := range map[string][]string{"light": light, "dark": dark} {
			for who, vision := range visions {
				for i, a := range colours {
					for _, b := range colours[:i] {
						p, q := lab(a, vision), lab(b, vision)
						if d := math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2])); d < least {
							t.Errorf("%s on a %s ground: %s and %s differ by %.1f only with %s", name, ground, a, b, d, who)
						}
					}
				}
			}
		}
	}
}

// What is drawn on a dark ground can be seen on it.
func TestColoursAreSeenOnTheirGround(t *testing.T) {
	const ground = "#1A1E22" // --panel in style.css
	for _, of := range []*Table{Phases, Systems, Designs} {
		for _, l := range of.looks {
			c := l.Colour
			if d, ok := OnDark[c]; ok {
				c = d
			}
			if v := Contrast(c, ground); v < 2.8 {
				t.Errorf("%s: %s has a contrast of %.1f on a dark ground", l.Name, c, v)
			}
		}
	}
}

// The tables have what the engine reports, in the same words.
func TestTablesAreWhole(t *testing.T) {
	for _, name := range []string{"other", "backoff", "execution", "lock", "validation", "logging", "commit", "ro_read", "ro_validation", "reclaim"} {
		if _, ok := Phases.Of(name); !ok {
			t.Errorf("phase %s has no colour", name)
		}
	}
	for m := range metrics.NumMilestones {
		if _, ok := Milestones.Of(m.String()); !ok {
			t.Errorf("milestone %s has no colour", m)
		}
	}
	if n := len(Phases.Names()); n != len(metrics.Phases()) {
		t.Errorf("%d phases in the table, %d in the engine", n, len(metrics.Phases()))
	}
}

// No two lines of a chart look the same without colour.
func TestMarkersAreToldApart(t *testing.T) {
	for name, looks := range map[string][]Look{"places": places[:], "systems": Systems.looks, "designs": Designs.looks} {
		signs, symbols := map[string]bool{}, map[string]bool{}
		for _, l := range looks {
			if s := l.Marker.Sign(); s == "" || signs[s] || symbols[l.Marker.Symbol(false)] || l.Marker == Diamond {
				t.Errorf("%s: %s has the marker %q, which another has", name, l.Colour, l.Marker)
			}
			signs[l.Marker.Sign()], symbols[l.Marker.Symbol(false)] = true, true
		}
	}
}

// Nobody has colours of their own: not the program, not the page. The grounds and inks
// of the page and of a gallery are variables at the top of their style sheets.
func TestColoursAreHereOnly(t *testing.T) {
	colour := regexp.MustCompile(`#([0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b|\brgba?\(\d|\bhsla?\(\d|color\.(RGBA|NRGBA|Gray)\{\d`)
	root, files := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "assets" || rel == "dashboard/charts/palette" {
				return fs.SkipDir
			}
			return nil
		}
		// a saved session is a page of its own, with a style sheet for its grounds and inks
		if ext := filepath.Ext(rel); !slices.Contains([]string{".go", ".js", ".css", ".html"}, ext) || strings.HasSuffix(rel, "_test.go") || rel == "dashboard/sessionpage.html" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if rel == "dashboard/web/style.css" || rel == "notebooks/figures/gallery/style.css" {
			b = regexp.MustCompile(`--[a-z]+: #[0-9a-f]{6};`).ReplaceAll(b, nil)
		}
		for i, line := range strings.Split(string(b), "\n") {
			for _, c := range colour.FindAllString(line, -1) {
				phase := (strings.HasPrefix(rel, "engine/") || strings.HasPrefix(rel, "xstore/")) && strings.Contains(line, `Name: "`) && strings.Contains(line, "Order: ") // it brings its own
				if isColour(c, line) && !phase {
					t.Errorf("%s:%d: %s is not in the palette's hands: give it a name there", rel, i+1, c)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 200 {
		t.Errorf("only %d files were read", files)
	}
}

// isColour says that a word is a colour and not an address or the number of an issue.
func isColour(word, line string) bool {
	if !strings.HasPrefix(word, "#") {
		return true
	}
	at := strings.Index(line, word)
	before := line[:at]
	return !strings.HasSuffix(before, "/") && !strings.HasSuffix(before, "&") && !strings.HasSuffix(before, "issue ") && !strings.HasSuffix(before, "href=\"")
}

func ExampleMarker_Symbol() {
	fmt.Println(Triangle.Symbol(false), Circle.Symbol(true))
	// Output: path://M0 18L20 18L10 0Z emptyCircle
}
