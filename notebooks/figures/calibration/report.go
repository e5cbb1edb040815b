package calibration

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/published"
)

// Uses of a published number.
const (
	Fit      = "fit"
	Constant = "constant"
	Check    = "check"
	Order    = "order"
)

// tolerance is how far a row may be off.
const tolerance = 0.15

// Row is a published number beside the measured one.
type Row struct {
	ID          string   `json:"id"`
	Use         string   `json:"use"`
	Claim       string   `json:"claim"`
	Section     string   `json:"section"`
	Reference   *float64 `json:"reference"` // null for orderings; the end that is further off of a range
	Measured    *float64 `json:"measured"`
	Unit        string   `json:"unit"`
	Error       *float64 `json:"error"` // signed, as a share; null for orderings
	Pass        bool     `json:"pass"`
	Before      bool     `json:"passed_before"`
	Configured  bool     `json:"configured"` // the model was given it
	Note        string   `json:"note"`
	Follows     string   `json:"follows,omitempty"`     // the row whose quantity it has, or is a quotient with
	Contradicts string   `json:"contradicts,omitempty"` // the row with which it cannot be true
	Doubt       string   `json:"doubt,omitempty"`       // what is unclear about the published number
}

// Report is the table.
type Report struct {
	Rows        []Row     `json:"rows"`
	Quantities  int       `json:"quantities"`   // measured fit rows that do not follow from others
	FitWithin5  *float64  `json:"fit_within_5"` // share of these, nil where there are none
	FitWithin10 *float64  `json:"fit_within_10"`
	FitWithin25 *float64  `json:"fit_within_25"`
	Waiting     []Waiting `json:"waiting"` // rows that nothing measures yet
}

// Options of Verify. The zero value measures every row and keeps nothing.
type Options struct {
	Only     []string // ids of rows; nil: all
	Cache    batch.Cache
	Progress func(done, total int)
}

// Verify measures the rows.
func Verify(ctx context.Context, o Options) (*Report, error) {
	return verify(ctx, o, published.Table(), passedFile)
}

// verify compares with a table and a record.
func verify(ctx context.Context, o Options, rows []published.Row, record string) (*Report, error) {
	list, err := chosen(o.Only)
	if err != nil {
		return nil, err
	}
	w, err := plan(list)
	if err != nil {
		return nil, err
	}
	got, err := w.run(ctx, nil, o.Cache, counter(w.steps(), o.Progress))
	if err != nil {
		return nil, err
	}
	before := passedBefore(record)
	out := &Report{Rows: []Row{}, Waiting: []Waiting{}}
	if o.Only == nil { // with rows named, the others are left out
		out.Waiting = unmeasured()
	}
	for i, m := range list {
		p, err := find(rows, m.id)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, got.row(i, m, p, before[m.id]))
	}
	out.count()
	return out, nil
}

// counter makes a progress callback of a count.
func counter(total int, progress func(done, total int)) func() {
	var done atomic.Int64
	return func() {
		n := int(done.Add(1))
		if progress != nil {
			progress(min(n, total), total)
		}
	}
}

// Listed names a row that is measured, without measuring it.
type Listed struct {
	ID    string `json:"id"`
	Use   string `json:"use"`
	Claim string `json:"claim"`
}

// List names the rows that Verify measures.
func List() ([]Listed, error) {
	table := published.Table()
	var out []Listed
	for _, m := range measures() {
		p, err := find(table, m.id)
		if err != nil {
			return nil, err
		}
		out = append(out, Listed{p.ID, p.Use, p.Claim})
	}
	return out, nil
}

func chosen(only []string) ([]measure, error) {
	all := measures()
	if only == nil {
		return all, nil
	}
	var out []measure
	for _, id := range only {
		i := slices.IndexFunc(all, func(m measure) bool { return m.id == id })
		if i < 0 {
			return nil, &experiment.SpecError{Field: "row", Value: fmt.Sprintf("%.40q", id), Rule: "is not measured in this version", Next: "drtmx verify --list names the rows"}
		}
		out = append(out, all[i])
	}
	return out, nil
}

// row reads one row.
func (o *outcome) row(i int, m measure, p published.Row, before bool) Row {
	row := Row{ID: p.ID, Use: p.Use, Claim: p.Claim, Section: p.Section, Unit: p.Unit, Before: before, Note: m.note,
		Configured: m.given != nil, Follows: p.Follows, Contradicts: p.Contradicts, Doubt: p.Note}
	if m.figure != "" {
		row.claimed(p, o.claims[m.id])
	} else {
		row.judge(p, o.numbers[i])
	}
	return row
}

func find(rows []published.Row, id string) (published.Row, error) {
	for _, p := range rows {
		if p.ID == id {
			return p, nil
		}
	}
	return published.Row{}, fmt.Errorf("%s: not in the calibration table", id)
}

// judge compares a number. What was counted has to be equal.
func (r *Row) judge(p published.Row, x float64) {
	at := p.Nearest(x)
	r.compare(at, x)
	if p.Use == Constant && p.Unit == "count" {
		r.Pass = x == p.To
	}
}

// compare decides by the error.
func (r *Row) compare(at, x float64) {
	e := x/at - 1
	r.Reference, r.Measured, r.Error = &at, &x, &e
	r.Pass = math.Abs(e) <= tolerance
}

// claimed takes the number of a figure and its verdict: a number has to be within the
// tolerance, and the claim has to hold, which takes the interval of the measurement too.
// The note says so where only the number is good.
func (r *Row) claimed(p published.Row, c figure.Claim) {
	r.Pass = c.Status == figure.Holds
	r.Note = c.Why
	if p.Use == Order || c.Measured == nil {
		return
	}
	x := *c.Measured
	at := p.Nearest(x)
	if p.From != p.To && c.Smallest != nil { // both ends of a range are claimed
		low := p.Nearest(*c.Smallest)
		if math.Abs(*c.Smallest/low-1) > math.Abs(x/at-1) {
			at, x = low, *c.Smallest
		}
	}
	if r.compare(at, x); r.Pass && c.Status != figure.Holds {
		r.Pass, r.Note = false, "the figure's claim is "+c.Status+": "+c.Why
	}
}

// count fills the shares of the fit rows, one for each quantity.
func (v *Report) count() {
	var in5, in10, in25 float64
	for _, r := range v.Rows {
		if r.Use != Fit || r.Error == nil || r.Follows != "" {
			continue
		}
		v.Quantities++
		for _, c := range []struct {
			in   *float64
			most float64
		}{{&in5, 0.05}, {&in10, 0.10}, {&in25, 0.25}} {
			if math.Abs(*r.Error) <= c.most {
				*c.in++
			}
		}
	}
	if n := float64(v.Quantities); n > 0 {
		in5, in10, in25 = in5/n, in10/n, in25/n
		v.FitWithin5, v.FitWithin10, v.FitWithin25 = &in5, &in10, &in25
	}
}

// verdict is a word for the first column.
func (r *Row) verdict() string {
	switch {
	case !r.Pass && r.Before:
		return "LOST"
	case !r.Pass:
		return "OFF"
	case r.Configured:
		return "configured"
	}
	return "ok"
}

func (v *Report) String() string {
	var b strings.Builder
	if lost := v.Lost(); len(lost) > 0 {
		fmt.Fprintf(&b, "passed before and off now: %s\n", strings.Join(lost, ", "))
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\trow\tuse\tpublished\tmeasured\toff\tof what")
	for _, r := range v.Rows {
		if r.Error == nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t\t\t\t%s\n", r.verdict(), r.ID, r.Use, r.Claim)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4g %s\t%+.1f %%\t%s\n", r.verdict(), r.ID, r.Use, *r.Reference, *r.Measured, r.Unit, 100**r.Error, r.Claim)
	}
	t.Flush() // into memory
	v.notes(&b)
	if v.Quantities == 0 {
		b.WriteString("none of these rows is counted: each is no fit row, or follows from another one")
	} else {
		fmt.Fprintf(&b, "of %d quantities that are fit rows %.0f %% are within 5 %%, %.0f %% within 10 %%, %.0f %% within 25 %%", v.Quantities, 100**v.FitWithin5, 100**v.FitWithin10, 100**v.FitWithin25)
	}
	if n := len(v.Waiting); n > 0 {
		fmt.Fprintf(&b, "; %d rows are not measured", n)
	}
	return b.String()
}

// notes are why rows are off, which of them contradict each other, and what the
// others wait for.
func (v *Report) notes(b *strings.Builder) {
	for _, r := range v.Rows {
		if !r.Pass && r.Note != "" {
			fmt.Fprintf(b, "%s: %s\n", r.ID, r.Note)
		}
	}
	for _, r := range v.Rows {
		switch r.Contradicts {
		case "":
		case r.ID:
			fmt.Fprintf(b, "%s is published with two numbers: %s\n", r.ID, r.Doubt)
		default:
			fmt.Fprintf(b, "%s contradicts %s: %s\n", r.ID, r.Contradicts, r.Doubt)
		}
	}
	for i, w := range v.Waiting {
		if i == 0 || w.Why != v.Waiting[i-1].Why {
			fmt.Fprintf(b, "not measured, %s: %s", w.Why, w.ID)
		} else {
			fmt.Fprintf(b, ", %s", w.ID)
		}
		if i+1 == len(v.Waiting) || v.Waiting[i+1].Why != w.Why {
			fmt.Fprintln(b)
		}
	}
}
