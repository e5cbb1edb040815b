package calibration

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/optimize"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/figure"
	"drtmx/notebooks/figures/published"
)

// FitOptions say what FitProfile may do. The zero value only measures: a profile
// with its residuals, as after a change by hand.
type FitOptions struct {
	Evaluations int      // of the rows, at most
	Rows        []string // ids of the rows to fit to; nil: all. Residuals are of all, unless interrupted
	Params      []string // names of the numbers to adjust; nil: all that are fitted
	Progress    func(done, total int)
}

// Parameter is a fitted number of a profile.
type Parameter struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Residual is what is left of a row. A row that the fit was not to may end without
// a value: its numbers are null.
type Residual struct {
	ID        string   `json:"id"`
	Unit      string   `json:"unit"`
	Reference *float64 `json:"reference"`
	Measured  *float64 `json:"measured"`
	Error     *float64 `json:"error"`          // signed, as a share
	Note      string   `json:"note,omitempty"` // why it has no value
}

// FitReport is the outcome of a fit.
type FitReport struct {
	Profile     string      `json:"profile"`
	Evaluations int         `json:"evaluations"`
	Interrupted bool        `json:"interrupted"`       // what follows is the best until then, and of its residuals those that were known
	Failed      int         `json:"failed"`            // evaluations with a run that failed
	Failure     string      `json:"failure,omitempty"` // the last of these
	Loss        [2]float64  `json:"loss"`              // before and after
	Parameters  []Parameter `json:"parameters"`
	Residuals   []Residual  `json:"residuals"`
}

// What a fit minimises: the squares of the logarithms of measured over published,
// and of new over old value, which count for little. Without the second, numbers
// that no row depends on would wander.
const pull = 0.02

// FitProfile adjusts the numbers of a profile whose kind is fitted, to the rows with
// use=fit and nothing else, and returns the profile with what is left of each
// row. The profile given stays as it is. When the context ends after the first
// evaluation, the best so far is the outcome, with what it leaves of the rows that
// it was fitted to.
func FitProfile(ctx context.Context, p *profile.Profile, o FitOptions) (*profile.Profile, *FitReport, error) {
	all, err := fitRows(p.Name)
	if err != nil {
		return nil, nil, err
	}
	used, err := fitted(all, o.Rows)
	if err != nil {
		return nil, nil, err
	}
	f, err := newFitting(p, o)
	if err != nil {
		return nil, nil, err
	}
	few, err := plan(used)
	if err != nil {
		return nil, nil, err
	}
	last, err := plan(all)
	if err != nil {
		return nil, nil, err
	}
	var step func()
	steps := (o.Evaluations + 1) * few.steps()
	if len(used) < len(all) {
		steps += last.steps()
		f.rest = func(on *profile.Profile) ([]Row, error) { return last.rows(ctx, on, step) }
	}
	f.run = func(on *profile.Profile) ([]Row, error) { return few.rows(ctx, on, step) }
	step = counter(steps, o.Progress)
	return f.fit()
}

// fitRows are the rows with use=fit for which a profile is experimented on.
func fitRows(profile string) (list []measure, err error) {
	for _, m := range measures() {
		p, err := find(published.Table(), m.id)
		if err != nil {
			return nil, err
		}
		name, err := m.hardware()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.id, err)
		}
		if p.Use == Fit && m.given == nil && name == profile {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("profile %s: no row with use=%s is measured on it", profile, Fit)
	}
	return list, nil
}

// hardware is the profile that a row is measured on.
func (m *measure) hardware() (string, error) {
	specs := m.runs
	switch {
	case m.profile != "":
		return m.profile, nil
	case m.figure != "":
		r, err := figures.Find(m.figure)
		if err != nil {
			return "", err
		}
		if specs, err = r.Specs(figure.Quick); err != nil {
			return "", err
		}
	}
	v, err := experiment.Resolve(specs[0])
	if err != nil {
		return "", err
	}
	name, _ := v["profile"].(string)
	return name, nil
}

// fitted are those of the rows to fit to: the named ones, or all.
func fitted(all []measure, only []string) ([]measure, error) {
	for _, id := range only {
		if !slices.ContainsFunc(all, func(m measure) bool { return m.id == id }) {
			return nil, &experiment.SpecError{Field: "row", Value: fmt.Sprintf("%.40q", id), Rule: "is no row to fit this profile to", Next: "its residuals list them"}
		}
	}
	var out []measure
	for _, m := range all {
		if only == nil || slices.Contains(only, m.id) {
			out = append(out, m)
		}
	}
	return out, nil
}

// rows measures on a profile. One on which a figure does not show what it claims,
// say no crossover, gives a row without a value.
func (w *work) rows(ctx context.Context, on *profile.Profile, step func()) ([]Row, error) {
	got, err := w.run(ctx, on, nil, step)
	if err != nil {
		return nil, err
	}
	var out []Row
	for i, m := range w.list {
		p, err := find(published.Table(), m.id)
		if err != nil {
			return nil, err
		}
		out = append(out, got.row(i, m, p, false))
	}
	return out, nil
}

// fitting is a fit under way.
type fitting struct {
	run   func(on *profile.Profile) ([]Row, error) // the rows to fit to
	rest  func(on *profile.Profile) ([]Row, error) // all rows; nil if these are the same
	start *profile.Profile
	names []string // of the numbers that are adjusted
	from  []profile.Number
	limit int
	done  int

	failed int // evaluations with a run that failed
	why    error
}

func newFitting(p *profile.Profile, o FitOptions) (*fitting, error) {
	f := &fitting{start: p, limit: o.Evaluations}
	var all []string
	p.Each(func(name string, n *profile.Number) {
		if n.Kind != profile.Fitted || n.Value <= 0 {
			return
		}
		all = append(all, name)
		if o.Params == nil || slices.Contains(o.Params, name) {
			f.names, f.from = append(f.names, name), append(f.from, *n)
		}
	})
	for _, name := range o.Params {
		if !slices.Contains(all, name) {
			return nil, &experiment.SpecError{Field: "parameter", Value: fmt.Sprintf("%.40q", name), Rule: "is no fitted number of profile " + p.Name, Next: "there is " + strings.Join(all, ", ")}
		}
	}
	return f, nil
}

func (f *fitting) fit() (*profile.Profile, *FitReport, error) {
	at := make([]float64, len(f.names)) // logarithms of the factors
	before, err := f.measure(at)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range before {
		if !r.hasValue() {
			return nil, nil, fmt.Errorf("%s: %s", r.ID, cmp.Or(r.Note, "no value"))
		}
	}
	start := loss(at, before)
	out := &FitReport{Profile: f.start.ID(), Loss: [2]float64{start, start}}
	all := before
	if f.limit > 0 && len(at) > 0 {
		if at, all, err = f.minimise(at, before); errors.Is(err, context.Canceled) {
			out.Interrupted = true
		} else if err != nil {
			return nil, nil, err
		}
		out.Loss[1] = loss(at, all)
	}
	p := f.profile(at)
	if f.rest != nil {
		rest, err := f.rest(p)
		switch {
		case errors.Is(err, context.Canceled):
			out.Interrupted = true
		case err != nil:
			return nil, nil, err
		default:
			all = rest
		}
	}
	out.Evaluations, out.Failed = f.done, f.failed
	if f.why != nil {
		out.Failure = f.why.Error()
	}
	was := map[string]float64{}
	f.start.Each(func(name string, n *profile.Number) { was[name] = n.Value })
	p.Each(func(name string, n *profile.Number) {
		if n.Kind == profile.Fitted && n.Value > 0 {
			out.Parameters = append(out.Parameters, Parameter{name, n.Unit, was[name], n.Value})
		}
	})
	for _, r := range all {
		out.Residuals = append(out.Residuals, r.residual())
	}
	return p, out, nil
}

// value of a parameter, in a few digits: more would not be significant.
func (f *fitting) value(i int, at []float64) float64 {
	x, err := strconv.ParseFloat(strconv.FormatFloat(f.from[i].Value*math.Exp(at[i]), 'g', 4, 64), 64)
	if err != nil || at[i] == 0 {
		return f.from[i].Value
	}
	if f.from[i].Unit == "count" {
		return math.Round(x)
	}
	return x
}

func (f *fitting) profile(at []float64) *profile.Profile {
	p := f.start.Clone()
	p.Each(func(name string, n *profile.Number) {
		if i := slices.Index(f.names, name); i >= 0 {
			n.Value = f.value(i, at)
		}
	})
	return p
}

// measure is one evaluation.
func (f *fitting) measure(at []float64) ([]Row, error) {
	f.done++
	return f.run(f.profile(at))
}

// hasValue says that there is a number to compare: a quotient may have had
// nothing below it.
func (r *Row) hasValue() bool {
	return r.Measured != nil && !math.IsNaN(*r.Measured) && !math.IsInf(*r.Measured, 0)
}

func (r *Row) residual() Residual {
	if !r.hasValue() {
		return Residual{ID: r.ID, Unit: r.Unit, Note: cmp.Or(r.Note, "no value")}
	}
	return Residual{ID: r.ID, Unit: r.Unit, Reference: r.Reference, Measured: r.Measured, Error: r.Error}
}

// loss of a measurement. A range has no error inside. Without one of its values a
// profile is worse than all that have them.
func loss(at []float64, rows []Row) float64 {
	sum := 0.0
	for _, r := range rows {
		if !r.hasValue() {
			return math.Inf(1)
		}
		d := math.Log(math.Max(*r.Measured, 1e-9) / *r.Reference)
		sum += d * d
	}
	for _, a := range at {
		sum += pull * a * a
	}
	return sum
}

// minimise looks for better parameters, by Nelder and Mead's method: the rows
// are simulations and have no derivatives. A profile on which a run fails is worse
// than all others. It returns the best it saw, beside the error that ended it too
// early.
func (f *fitting) minimise(at []float64, before []Row) (bestAt []float64, bestRows []Row, err error) {
	best := loss(at, before)
	start := best
	bestAt, bestRows = at, before
	var interrupted error
	problem := optimize.Problem{Func: func(x []float64) float64 {
		if interrupted != nil {
			return math.Inf(1)
		}
		rows, err := f.measure(x)
		switch {
		case errors.Is(err, context.Canceled):
			interrupted = err
			return math.Inf(1)
		case err != nil:
			f.failed, f.why = f.failed+1, err
			return math.Inf(1)
		}
		l := loss(x, rows)
		if l < best {
			best, bestAt, bestRows = l, slices.Clone(x), rows
		}
		return l
	}}
	settings := &optimize.Settings{FuncEvaluations: f.limit, Concurrent: 1, InitValues: &optimize.Location{F: start}}
	_, err = optimize.Minimize(problem, at, settings, &optimize.NelderMead{SimplexSize: 0.1})
	if interrupted != nil {
		return bestAt, bestRows, interrupted
	}
	if err != nil {
		return bestAt, bestRows, fmt.Errorf("fit: %w", err)
	}
	return bestAt, bestRows, nil
}

// Values are the parameters by name, as fabric.SetNumbers takes them.
func (r *FitReport) Values() map[string]float64 {
	out := map[string]float64{}
	for _, p := range r.Parameters {
		out[p.Name] = p.After
	}
	return out
}

// CSV is what is kept beside the profile: the fitted numbers, and what they
// leave of each row.
func (r *FitReport) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"kind", "name", "value", "reference", "unit", "error"}}
	num := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, p := range r.Parameters {
		rows = append(rows, []string{"parameter", p.Name, strconv.FormatFloat(p.After, 'g', -1, 64), "", p.Unit, ""})
	}
	for _, x := range r.Residuals {
		row := []string{"residual", x.ID, "", "", x.Unit, ""}
		if x.Measured != nil {
			row[2], row[3], row[5] = num(*x.Measured), num(*x.Reference), strconv.FormatFloat(*x.Error, 'f', 4, 64)
		}
		rows = append(rows, row)
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

func (r *FitReport) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "number\tbefore\tafter\t")
	for _, p := range r.Parameters {
		fmt.Fprintf(t, "%s\t%.4g\t%.4g %s\t\n", p.Name, p.Before, p.After, p.Unit)
	}
	fmt.Fprintln(t, "row\tpublished\tmeasured\toff")
	for _, x := range r.Residuals {
		if x.Measured == nil {
			fmt.Fprintf(t, "%s\t\t%s\t\n", x.ID, x.Note)
			continue
		}
		fmt.Fprintf(t, "%s\t%.4g\t%.4g %s\t%+.1f %%\n", x.ID, *x.Reference, *x.Measured, x.Unit, 100**x.Error)
	}
	t.Flush() // into memory
	if r.Interrupted {
		fmt.Fprintln(&b, "interrupted: this is the best until then; rows that were not fitted to may be missing")
	}
	if r.Failed > 0 {
		fmt.Fprintf(&b, "%d evaluations had a run that failed, the last: %s\n", r.Failed, r.Failure)
	}
	fmt.Fprintf(&b, "%s: %d evaluations, loss %.4g before, %.4g after", r.Profile, r.Evaluations, r.Loss[0], r.Loss[1])
	return b.String()
}
