package published

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"drtmx/notebooks/figures/prediction"
)

// What Published.Bound can be.
const (
	AtMost  = "at most"
	AtLeast = "at least"
)

// Row is a row of the table of published numbers, rows.csv.
type Row struct {
	ID      string
	Use     string // fit, constant, check or order; package calibration says what for
	Unit    string
	Section string // of the thesis
	Config  string // cluster and workload, as published
	Claim   string
	Note    string // where it is unclear or contradicts another row
	// Contradicts is the row with which it cannot be true, its own id if two numbers
	// are published for it, "" if there is none. Note has the reason.
	Contradicts string
	// Follows is a row that has the same quantity, or of which and another this one is
	// the quotient; "": it is a quantity of its own.
	Follows string
	// Bound is "at most" or "at least" where an example of a limit is published: the
	// limit is at or below it, or at or above. "": it is a number.
	Bound string
	// From and To are the number, or the ends of its range. An ordering has
	// neither.
	From, To float64
	// Also is a second number that is published for the same thing, 0 if there is
	// none: either is accepted.
	Also float64
}

// Nearest is the published number that x is closest to: x itself inside a range or bound.
func (p *Row) Nearest(x float64) float64 {
	if p.Bound == AtMost && x <= p.To || p.Bound == AtLeast && x >= p.From {
		return x
	}
	at := min(max(x, p.From), p.To)
	if p.Also != 0 && math.Abs(x/p.Also-1) < math.Abs(x/at-1) {
		return p.Also
	}
	return at
}

//go:embed rows.csv
var rowsFile string

// Table is every published number there is, in the order of the thesis.
func Table() []Row { return table() }

var table = sync.OnceValue(func() []Row {
	records, err := csv.NewReader(strings.NewReader(rowsFile)).ReadAll()
	if err != nil {
		panic("figures: rows.csv: " + err.Error())
	}
	var out []Row
	for _, r := range records[1:] {
		p := Row{ID: r[0], Use: r[1], Unit: r[4], Section: r[5], Config: r[6], Claim: r[7], Note: r[8], Contradicts: r[9], Follows: r[10], Bound: r[11]}
		if p.Use != "order" && r[2] != "" {
			if p.From, p.To, err = prediction.Span(r[2]); err != nil {
				panic(fmt.Sprintf("figures: rows.csv: %s: %v", p.ID, err))
			}
		}
		if r[3] != "" {
			if p.Also, _, err = prediction.Span(r[3]); err != nil {
				panic(fmt.Sprintf("figures: rows.csv: %s: %v", p.ID, err))
			}
		}
		out = append(out, p)
	}
	return out
})

// Find is the row of the table with this id.
func Find(id string) (Row, bool) {
	i := slices.IndexFunc(Table(), func(p Row) bool { return p.ID == id })
	if i < 0 {
		return Row{}, false
	}
	return Table()[i], true
}
