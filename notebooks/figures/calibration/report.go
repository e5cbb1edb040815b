package calibration

import (
	"context"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"drtmx/engine"
	"drtmx/notebooks/figures"
)

// tolerance is how far a row may be off.
const tolerance = 0.15

// Row is a published number beside the measured one.
type Row struct {
	ID        string   `json:"id"`
	Use       string   `json:"use"`
	Claim     string   `json:"claim"`
	Section   string   `json:"section"`
	Reference *float64 `json:"reference"` // null for orderings; the end that is further off of a range
	Measured  *float64 `json:"measured"`
	Unit      string   `json:"unit"`
	Error     *float64 `json:"error"` // signed, as a share; null for orderings
	Pass      bool     `json:"pass"`
	Required  bool     `json:"required"`
	Note      string   `json:"note"`
}

// Report is the table.
type Report struct {
	Rows        []Row   `json:"rows"`
	FitWithin10 float64 `json:"fit_within_10"` // share of the measured fit rows
	FitWithin25 float64 `json:"fit_within_25"`
	Unmeasured  int     `json:"unmeasured"` // rows whose hardware or workload is not modelled yet
}

// Options of Verify. The zero value measures every row and keeps nothing.
type Options struct {
	Only     []string // ids of rows; nil: all
	Cache    engine.Cache
	Progress func(done, total int)
}

// Verify measures the rows.
func Verify(ctx context.Context, o Options) (*Report, error) {
	list, err := chosen(o.Only)
	if err != nil {
		return nil, err
	}
	runs, err := o.runs(ctx, list)
	if err != nil {
		return nil, err
	}
	out := &Report{Rows: []Row{}, Unmeasured: len(Table()) - len(measures())}
	for i, m := range list {
		row, err := runs.row(i, m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.id, err)
		}
		out.Rows = append(out.Rows, row)
	}
	out.count()
	return out, nil
}

func chosen(only []string) ([]measure, error) {
	all := measures()
	if only == nil {
		return all, nil
	}
	var out []measure
	for _, id := range only {
		n := len(out)
		for _, m := range all {
			if m.id == id {
				out = append(out, m)
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("row %s: not measured in this version", id)
		}
	}
	return out, nil
}

// outcome is what the rows are read from.
type outcome struct {
	results map[int]*engine.Result // by index of the measure
	claims  map[string]figures.Claim
}

// runs does all runs that the measures need.
func (o *Options) runs(ctx context.Context, list []measure) (*outcome, error) {
	out := &outcome{results: map[int]*engine.Result{}, claims: map[string]figures.Claim{}}
	var specs []engine.Spec
	var owners []int
	var recipes []*figures.Recipe
	seen := map[string]bool{}
	total := 0
	for i, m := range list {
		switch {
		case m.read != nil:
			specs, owners = append(specs, m.spec), append(owners, i)
		case m.figure != "" && !seen[m.figure]:
			seen[m.figure] = true
			r, err := figures.Find(m.figure)
			if err != nil {
				return nil, err
			}
			recipes = append(recipes, r)
			total += r.Count(figures.Quick)
		}
	}
	total += len(specs)
	before := 0
	report := func(done, _ int) {
		if o.Progress != nil {
			o.Progress(min(before+done, total), total)
		}
	}
	results, err := engine.RunAll(ctx, specs, engine.SweepOptions{Cache: o.Cache, Progress: report})
	if err != nil {
		return nil, err
	}
	for k, r := range results {
		out.results[owners[k]] = r
	}
	before = len(specs)
	for _, r := range recipes {
		f, err := r.RunWith(ctx, figures.Quick, nil, o.Cache, report)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Claims {
			out.claims[c.ID] = c
		}
		before += r.Count(figures.Quick)
	}
	return out, nil
}

// row reads one row.
func (o *outcome) row(i int, m measure) (Row, error) {
	p, err := published(m.id)
	if err != nil {
		return Row{}, err
	}
	row := Row{ID: p.ID, Use: p.Use, Claim: p.Claim, Section: p.Section, Unit: p.Unit, Required: m.required, Note: m.note}
	if row.Note == "" {
		row.Note = p.Note
	}
	switch {
	case m.read != nil:
		row.judge(p, m.read(o.results[i]))
	case m.probe != nil:
		x, err := m.probe()
		if err != nil {
			return row, err
		}
		row.judge(p, x)
	default:
		c, ok := o.claims[m.id]
		if !ok {
			return row, fmt.Errorf("figure %s has no such claim", m.figure)
		}
		row.claimed(p, c)
	}
	return row, nil
}

func published(id string) (Published, error) {
	for _, p := range Table() {
		if p.ID == id {
			return p, nil
		}
	}
	return Published{}, fmt.Errorf("not in rows.csv")
}

// judge compares a number. What was counted has to be equal.
func (r *Row) judge(p Published, x float64) {
	at := p.nearest(x)
	e := x/at - 1
	r.Reference, r.Measured, r.Error = &at, &x, &e
	r.Pass = math.Abs(e) <= tolerance
	if p.Use == Constant && p.Unit == "count" {
		r.Pass = x == p.To
	}
}

// claimed takes the verdict of a figure.
func (r *Row) claimed(p Published, c figures.Claim) {
	r.Pass = c.Status == figures.Holds
	r.Note = c.Why
	if p.Use == Order {
		return
	}
	at := p.nearest(*c.Measured)
	r.Reference, r.Measured = &at, c.Measured
	if p.From != p.To && c.Smallest != nil { // both ends of a range are claimed
		low := p.nearest(*c.Smallest)
		if math.Abs(*c.Smallest/low-1) > math.Abs(*c.Measured/at-1) {
			r.Reference, r.Measured = &low, c.Smallest
		}
	}
	e := *r.Measured / *r.Reference - 1
	r.Error = &e
}

// count fills the shares of the fit rows.
func (v *Report) count() {
	fits, in10, in25 := 0.0, 0.0, 0.0
	for _, r := range v.Rows {
		if r.Use != Fit || r.Error == nil {
			continue
		}
		fits++
		if math.Abs(*r.Error) <= 0.10 {
			in10++
		}
		if math.Abs(*r.Error) <= 0.25 {
			in25++
		}
	}
	if fits > 0 {
		v.FitWithin10, v.FitWithin25 = in10/fits, in25/fits
	}
}

// Err names the required rows that are off.
func (v *Report) Err() error {
	var off []string
	for _, r := range v.Rows {
		if r.Required && !r.Pass {
			off = append(off, r.ID)
		}
	}
	if len(off) == 0 {
		return nil
	}
	return fmt.Errorf("required rows of the calibration table are off: %s", strings.Join(off, ", "))
}

func (v *Report) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\trow\tuse\tpublished\tmeasured\toff\tof what")
	for _, r := range v.Rows {
		verdict := "ok"
		if !r.Pass {
			verdict = "OFF"
		}
		if r.Error == nil {
			fmt.Fprintf(t, "%s\t%s\t%s\t\t\t\t%s\n", verdict, r.ID, r.Use, r.Claim)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4g %s\t%+.1f %%\t%s\n", verdict, r.ID, r.Use, *r.Reference, *r.Measured, r.Unit, 100**r.Error, r.Claim)
	}
	t.Flush() // into memory
	for _, r := range v.Rows {
		if !r.Pass && r.Note != "" {
			fmt.Fprintf(&b, "%s: %s\n", r.ID, r.Note)
		}
	}
	fmt.Fprintf(&b, "of the fit rows measured %.0f %% are within 10 %%, %.0f %% within 25 %%; %d rows wait for their hardware or workload", 100*v.FitWithin10, 100*v.FitWithin25, v.Unmeasured)
	return b.String()
}
