package calibration

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"gonum.org/v1/gonum/optimize"

	"drtmx/engine"
	"drtmx/engine/fabric"
)

// FitOptions say how much work FitProfile may do. The zero value only measures: a
// profile with its residuals, as after a change by hand.
type FitOptions struct {
	Evaluations int // of all rows, at most
	Progress    func(done, total int)
}

// Parameter is a fitted number of a profile.
type Parameter struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Residual is what is left of a row.
type Residual struct {
	ID        string  `json:"id"`
	Unit      string  `json:"unit"`
	Reference float64 `json:"reference"`
	Measured  float64 `json:"measured"`
	Error     float64 `json:"error"` // signed, as a share
}

// FitReport is the outcome of a fit.
type FitReport struct {
	Profile     string      `json:"profile"`
	Evaluations int         `json:"evaluations"`
	Loss        [2]float64  `json:"loss"` // before and after
	Parameters  []Parameter `json:"parameters"`
	Residuals   []Residual  `json:"residuals"`
}

// What a fit minimises: the squares of the logarithms of measured over published,
// and of new over old value, which count for little. Without the second, numbers
// that no row depends on would wander.
const pull = 0.02

// fitRows are the rows that a fit of a profile may use: those with use=fit that a
// run on it measures.
func fitRows(profile string) (list []measure, rows []Published, err error) {
	for _, m := range measures() {
		if m.read == nil {
			continue
		}
		p, err := published(m.id)
		if err != nil {
			return nil, nil, err
		}
		v, err := engine.Resolve(m.spec)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.id, err)
		}
		if p.Use == Fit && v["profile"] == profile {
			list, rows = append(list, m), append(rows, p)
		}
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("profile %s: no row with use=%s is measured on it", profile, Fit)
	}
	return list, rows, nil
}

// FitProfile adjusts the numbers of a profile whose kind is fitted, to the rows with
// use=fit and nothing else, and returns the profile with what is left of each
// row. The profile given stays as it is.
func FitProfile(ctx context.Context, p *fabric.Profile, o FitOptions) (*fabric.Profile, *FitReport, error) {
	list, rows, err := fitRows(p.Name)
	if err != nil {
		return nil, nil, err
	}
	run := func(m measure, on *fabric.Profile) (float64, error) {
		r, err := engine.Run(ctx, m.spec.On(on), nil)
		if err != nil {
			return 0, err
		}
		return m.read(r), nil
	}
	return fit(p, list, rows, run, o)
}

func fit(p *fabric.Profile, list []measure, rows []Published, run func(measure, *fabric.Profile) (float64, error), o FitOptions) (*fabric.Profile, *FitReport, error) {
	f := &fitting{run: run, list: list, rows: rows, start: p, limit: o.Evaluations, progress: o.Progress}
	p.Each(func(name string, n *fabric.Number) {
		if n.Kind == fabric.Fitted && n.Value > 0 {
			f.names, f.from = append(f.names, name), append(f.from, *n)
		}
	})
	at := make([]float64, len(f.names)) // logarithms of the factors
	before, err := f.measure(at)
	if err != nil {
		return nil, nil, err
	}
	out := &FitReport{Profile: p.ID(), Loss: [2]float64{f.loss(at, before), f.loss(at, before)}}
	best := before
	if o.Evaluations > 0 {
		if at, best, err = f.minimise(at, before); err != nil {
			return nil, nil, err
		}
		out.Loss[1] = f.loss(at, best)
	}
	out.Evaluations = f.done
	for i, name := range f.names {
		out.Parameters = append(out.Parameters, Parameter{name, f.from[i].Unit, f.from[i].Value, f.value(i, at)})
	}
	for i, r := range rows {
		out.Residuals = append(out.Residuals, Residual{r.ID, r.Unit, r.nearest(best[i]), best[i], best[i]/r.nearest(best[i]) - 1})
	}
	return f.profile(at), out, nil
}

type fitting struct {
	run      func(m measure, on *fabric.Profile) (float64, error)
	list     []measure
	rows     []Published
	start    *fabric.Profile
	names    []string
	from     []fabric.Number
	limit    int
	done     int
	progress func(done, total int)
}

// value of a parameter, in a few digits: nobody believes more.
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

func (f *fitting) profile(at []float64) *fabric.Profile {
	p, i := f.start.Clone(), 0
	p.Each(func(_ string, n *fabric.Number) {
		if n.Kind == fabric.Fitted && n.Value > 0 {
			n.Value = f.value(i, at)
			i++
		}
	})
	return p
}

// measure runs all rows on the profile with these parameters.
func (f *fitting) measure(at []float64) ([]float64, error) {
	p := f.profile(at)
	out, errs := make([]float64, len(f.list)), make([]error, len(f.list))
	var wait sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, m := range f.list {
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			var err error
			if out[i], err = f.run(m, p); err != nil {
				errs[i] = fmt.Errorf("%s: %w", m.id, err)
			}
		})
	}
	wait.Wait()
	f.done++
	if f.progress != nil {
		f.progress(min(f.done, f.limit+1), f.limit+1)
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// loss of a measurement. A range has no error inside.
func (f *fitting) loss(at, measured []float64) float64 {
	sum := 0.0
	for i, x := range measured {
		x = math.Max(x, 1e-9)
		d := math.Log(x / f.rows[i].nearest(x))
		sum += d * d
	}
	for _, a := range at {
		sum += pull * a * a
	}
	return sum
}

// minimise looks for better parameters, by Nelder and Mead's method: the rows
// are simulations and have no derivatives.
func (f *fitting) minimise(at, measured []float64) ([]float64, []float64, error) {
	best, bestAt, bestRows := f.loss(at, measured), at, measured
	var failed error
	problem := optimize.Problem{Func: func(x []float64) float64 {
		if failed != nil {
			return math.Inf(1)
		}
		rows, err := f.measure(x)
		if err != nil {
			failed = err
			return math.Inf(1)
		}
		l := f.loss(x, rows)
		if l < best {
			best, bestAt, bestRows = l, append([]float64(nil), x...), rows
		}
		return l
	}}
	settings := &optimize.Settings{FuncEvaluations: f.limit, Concurrent: 1}
	_, err := optimize.Minimize(problem, at, settings, &optimize.NelderMead{SimplexSize: 0.1})
	if failed != nil {
		return nil, nil, failed
	}
	if err != nil {
		return nil, nil, fmt.Errorf("fit: %w", err)
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
		rows = append(rows, []string{"residual", x.ID, num(x.Measured), num(x.Reference), x.Unit, strconv.FormatFloat(x.Error, 'f', 4, 64)})
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
		fmt.Fprintf(t, "%s\t%.4g\t%.4g %s\t%+.1f %%\n", x.ID, x.Reference, x.Measured, x.Unit, 100*x.Error)
	}
	t.Flush() // into memory
	fmt.Fprintf(&b, "%s: %d evaluations, loss %.4g before, %.4g after", r.Profile, r.Evaluations, r.Loss[0], r.Loss[1])
	return b.String()
}
