package gallery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/job"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

// The files of a gallery beside its pages.
const (
	stateFile = "gallery.json"
	indexFile = "index.html"
)

// What gallery.json begins with.
const (
	kind   = "drtmx figures"
	format = 1
)

// stateLimit bounds what is read of a gallery.json.
const stateLimit = 16 << 20

// Options say what a gallery is of.
type Options struct {
	Dir   string           // the folder; its parent must be there
	Scale string           // figures.Quick or figures.Paper
	Set   experiment.Knobs // changed in all runs, nil: none
	Band  bool             // figures that can have one have a band
}

// Gallery is a folder of figures.
type Gallery struct {
	o     Options
	list  figures.Infos
	state state
	codes map[string]string // of figures, by id: what would make them now
}

// state is what gallery.json has.
type state struct {
	Kind    string           `json:"gallery"`
	Format  int              `json:"format"`
	Scale   string           `json:"scale"`
	Set     experiment.Knobs `json:"set,omitempty"`
	Band    bool             `json:"band,omitempty"`
	Figures map[string]entry `json:"figures"` // by id: those that are there, or failed
}

// entry is what the index shows of a figure.
type entry struct {
	Code     string       `json:"code"`
	Made     string       `json:"made,omitempty"`    // of a figure that was known before, in words
	Differs  bool         `json:"differs,omitempty"` // other code made it, or other runs
	WallMS   int64        `json:"wall_ms"`
	Verdicts job.Verdicts `json:"claims"`
	Sketch   string       `json:"sketch,omitempty"`
	Failed   string       `json:"failed,omitempty"` // why it is not there
}

// Open makes the folder, or goes on with one that is a gallery of the same. Then every figure has a page, and the index shows what
// there is.
func Open(o Options) (*Gallery, error) {
	g := &Gallery{o: o, list: figures.List(), state: state{kind, format, o.Scale, o.Set, o.Band, map[string]entry{}}}
	if err := os.Mkdir(o.Dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: %w", o.Dir, errors.Unwrap(err))
	}
	if err := g.read(); err != nil {
		return nil, err
	}
	if err := g.keep(); err != nil {
		return nil, err
	}
	for i, x := range g.list {
		if _, there := g.state.Figures[x.ID]; there {
			continue
		}
		if err := g.write(pageOf(x.ID), g.planned(i, "")); err != nil {
			return nil, err
		}
	}
	return g, g.index()
}

// read takes what is there, and refuses a folder that is something else.
func (g *Gallery) read() error {
	refuse := func(rule, next string) error {
		return &experiment.SpecError{Field: "--html", Value: g.o.Dir, Rule: rule, Next: next}
	}
	names, err := os.ReadDir(g.o.Dir)
	if err != nil {
		return refuse("is a file, and a gallery is a folder", "name a folder")
	}
	names = slices.DeleteFunc(names, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), atomicfile.Unfinished) })
	if len(names) == 0 {
		return nil
	}
	const other = "name another folder, or one that is empty"
	text, err := atomicfile.ReadUpTo(filepath.Join(g.o.Dir, stateFile), stateLimit)
	if err != nil {
		return refuse("has files in it and is no gallery", other)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil || s.Kind != kind {
		return refuse("has a "+stateFile+" that is not of a gallery", other)
	}
	switch {
	case s.Format != format:
		return refuse(fmt.Sprintf("is a gallery of format %d, and this drtmx writes format %d", s.Format, format), other)
	case s.Scale != g.o.Scale:
		return refuse("is a gallery at "+s.Scale+" scale", "name another folder, or add --scale "+s.Scale)
	case !sameKnobs(s.Set, g.o.Set):
		return refuse("is a gallery with other knobs", other)
	case s.Band != g.o.Band:
		return refuse("is a gallery with bands, or without, other than this one", other)
	}
	for _, x := range g.list {
		_, missing := os.Stat(filepath.Join(g.o.Dir, pageOf(x.ID)))
		if e, ok := s.Figures[x.ID]; ok && missing == nil && e.Failed == "" {
			g.state.Figures[x.ID] = e
		}
	}
	return nil
}

// sameKnobs compares knobs as they are typed: in JSON numbers have lost their kind.
func sameKnobs(a, b experiment.Knobs) bool {
	text := func(k experiment.Knobs) map[string]string {
		out := map[string]string{}
		for name, v := range k { // order-free: fills a map
			out[name] = fmt.Sprint(v)
		}
		return out
	}
	return reflect.DeepEqual(text(a), text(b))
}

// Add writes a computed figure: its picture, its numbers, its page, then the index.
func (g *Gallery) Add(f *figures.Figure) error {
	svg, err := f.Picture(charts.Style{}).SVG()
	if err != nil {
		return fmt.Errorf("figure %s: %w", f.ID, err)
	}
	page, err := g.page(g.at(f.ID), f, string(svg))
	if err != nil {
		return fmt.Errorf("figure %s: %w", f.ID, err)
	}
	for _, x := range []struct {
		name string
		text []byte
	}{{f.ID + ".svg", svg}, {f.ID + ".csv", []byte(f.CSV())}, {pageOf(f.ID), page}} { // the page is the last: it leads to the others
		if err := g.write(x.name, x.text); err != nil {
			return err
		}
	}
	e := entry{Code: g.code(f.ID), WallMS: f.WallMS, Verdicts: f.Verdicts(), Sketch: f.Sketch()}
	if f.Made != nil {
		e.Code, e.Made, e.Differs = f.Made.Code, f.Made.String(), f.Made.Differs
	}
	g.state.Figures[f.ID] = e
	return g.kept()
}

// Fail notes why a figure is not there.
func (g *Gallery) Fail(id string, why error) error {
	text := why.Error()
	if err := g.write(pageOf(id), g.planned(g.at(id), text)); err != nil {
		return err
	}
	g.state.Figures[id] = entry{Code: g.code(id), Failed: text}
	return g.kept()
}

// code is the version of the code that makes a figure now.
func (g *Gallery) code(id string) string {
	if _, ok := g.codes[id]; !ok {
		if g.codes == nil {
			g.codes = map[string]string{}
		}
		g.codes[id] = figures.Get(id).Code(g.o.Scale)
	}
	return g.codes[id]
}

// kept writes what there is now.
func (g *Gallery) kept() error {
	if err := g.keep(); err != nil {
		return err
	}
	return g.index()
}

func (g *Gallery) keep() error {
	text, err := json.MarshalIndent(g.state, "", " ")
	if err != nil {
		return err
	}
	return g.write(stateFile, append(text, '\n'))
}

// write replaces a file of the folder.
func (g *Gallery) write(name string, text []byte) error {
	path := filepath.Join(g.o.Dir, name)
	if err := atomicfile.Replace(path, text, 0o644); err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	return nil
}

// at is the place of a figure in the list.
func (g *Gallery) at(id string) int {
	return slices.IndexFunc(g.list, func(x job.FigureInfo) bool { return x.ID == id })
}

// computed says that a figure's page has its picture.
func (g *Gallery) computed(id string) bool {
	e, ok := g.state.Figures[id]
	return ok && e.Failed == ""
}

// Count is how many figures there are, and how many there could be.
func (g *Gallery) Count() (there, all int) {
	for _, x := range g.list {
		if g.computed(x.ID) {
			there++
		}
	}
	return there, len(g.list)
}

// Index is the page to begin with.
func (g *Gallery) Index() string { return filepath.Join(g.o.Dir, indexFile) }

func pageOf(id string) string { return id + ".html" }
