package prediction

import (
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Published is a number or an order that the thesis has of whole systems.
type Published struct {
	ID       string
	Chapter  int
	Figure   string // 4-2a; that of several panels without a letter; "-": of a section
	Claim    string
	Series   string // which line it is about
	Baseline string // which it is compared with, "" if with none
	Unit     string
	Kind     string // result, structure, model, hardware or ordering
	Config   string
	Section  string
	// From and To are the number, or the ends of its range. An ordering has neither.
	From, To float64
	// Compare says how the number is the ratio of two lines: see Ratio.
	Compare string
	// Claims are those of figures that an order consists of.
	Claims []string
	// Note is what cannot be explained, "" for nothing.
	Note string
	// First is what this simulator said before the number was read, and FirstVerdict how far that is off. Neither changes.
	First        string
	FirstVerdict string
}

// What Published.Kind and Published.Compare can be, where code asks.
const (
	kindOrder    = "ordering"
	kindHardware = "hardware"
	kindModel    = "model"

	compareMore  = "more"
	compareLess  = "less"
	compareShare = "share"
)

//go:embed chapter*.csv
var publishedFiles embed.FS

// Results are the open results of all chapters, in the order of the thesis.
func Results() []Published { return results() }

var results = sync.OnceValue(func() []Published {
	files, err := publishedFiles.ReadDir(".") // sorted by name
	if err != nil {
		panic("prediction: " + err.Error())
	}
	var out []Published
	for _, f := range files {
		text, err := publishedFiles.ReadFile(f.Name())
		if err == nil {
			var rows []Published
			rows, err = readPublished(string(text))
			out = append(out, rows...)
		}
		if err != nil {
			panic("prediction: " + f.Name() + ": " + err.Error())
		}
	}
	return out
})

func readPublished(text string) (out []Published, err error) {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	for _, r := range records[1:] {
		at := func(name string) string { return r[column[name]] }
		p := Published{ID: at("id"), Figure: at("figure"), Claim: at("claim"), Series: at("series"), Baseline: at("baseline"), Unit: at("unit"),
			Kind: at("kind"), Config: at("config"), Section: at("where"), First: at("first_prediction"), FirstVerdict: at("first_verdict"),
			Compare: at("compare"), Claims: strings.Fields(at("claims")), Note: at("note")}
		if p.Chapter, err = strconv.Atoi(at("chapter")); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ID, err)
		}
		if len(p.Claims) == 0 {
			p.Claims = []string{p.ID}
		}
		if v := at("value"); v != "" {
			if p.From, p.To, err = Span(v); err != nil {
				return nil, fmt.Errorf("%s: %w", p.ID, err)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// Result is the published result with this id.
func Result(id string) (Published, bool) {
	all := Results()
	i := slices.IndexFunc(all, func(p Published) bool { return p.ID == id })
	if i < 0 {
		return Published{}, false
	}
	return all[i], true
}

// Span reads "130" or "1.03..1.35".
func Span(s string) (from, to float64, err error) {
	a, b, ranged := strings.Cut(s, "..")
	if from, err = strconv.ParseFloat(a, 64); err != nil {
		return 0, 0, err
	}
	if !ranged {
		return from, from, nil
	}
	to, err = strconv.ParseFloat(b, 64)
	return from, to, err
}

// Order says that what above what is published, and no number.
func (p *Published) Order() bool { return p.Kind == kindOrder }

// Number says that it is a number of a system. That something costs nothing is none: a published 0 has no ratio.
func (p *Published) Number() bool {
	return p.Kind != kindHardware && p.Kind != kindModel && p.From != 0
}

// OfModel says that it is a number of models alone, which is computed without a system.
func (p *Published) OfModel() bool { return p.Kind == kindModel }

// Text is the number as it is published: 1.26..1.45.
func (p *Published) Text() string {
	if p.From == p.To {
		return fmt.Sprint(p.To)
	}
	return fmt.Sprintf("%g..%g", p.From, p.To)
}
