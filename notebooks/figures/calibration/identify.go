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

	"gonum.org/v1/gonum/floats"

	"drtmx/engine/fabric/profile"
)

// IdentifyOptions say what Identify looks at. The zero value means all of it.
type IdentifyOptions struct {
	Rows     []string // ids of the rows to look at; nil: all that the profile may be fitted to
	Params   []string // names of the numbers to change; nil: all that are fitted
	Progress func(done, total int)
}

// Sensitivity says how well rows tell the fitted numbers of a profile. The objective is
// that of a fit without its pull towards the values it began with: a number that only the
// pull holds would look well known.
type Sensitivity struct {
	Profile     string       `json:"profile"`
	Evaluations int          `json:"evaluations"`
	Interrupted bool         `json:"interrupted"` // numbers that were not reached are missing
	Loss        float64      `json:"loss"`        // of the profile as it is
	Rows        []string     `json:"rows"`
	Numbers     []Identified `json:"numbers"`
}

// Identified is a fitted number, and what a fifth less and a fifth more of it do.
type Identified struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Down  Change  `json:"down"`
	Up    Change  `json:"up"`
	Flag  string  `json:"flag"` // Weak, OneSided, Together or ""
	Like  string  `json:"like"` // the number whose effect on the rows is most nearly a multiple of this one's
	Alike float64 `json:"alike"`

	effect []float64 // by row: logarithm of measured with more over measured with less
}

// Change is what another value of a number does, all else equal.
type Change struct {
	Value float64  `json:"value"`
	Loss  *float64 `json:"loss"`  // change of the objective; null: a row has no value then
	Moved *float64 `json:"moved"` // all rows together: root of the sum of the squares of their logarithms' changes
	Row   string   `json:"row"`   // the row that moves most
	By    *float64 `json:"by"`    // by this share
	Note  string   `json:"note,omitempty"`

	none bool // the number is what it was
	rows []Row
}

// Flags of a number.
const (
	// Weak: neither a fifth less nor a fifth more of it moves the rows, all together, as
	// far as weakBelow. How far they move does not depend on what is left of them, as the
	// objective's change does, and nothing but rows is in it.
	Weak = "weak"
	// OneSided: only one of the two does. The rows bound the number, from that side.
	OneSided = "one-sided"
	// Together: the rows move as another number moves them, which could take its place, for
	// it moves them at least a quarter as far: they tell the two together and not each.
	Together = "together"
)

const (
	step20    = 0.2
	weakBelow = 0.05
	alike     = 0.98 // cosine between the effects of two numbers
	rival     = 0.25 // effect of a number that could take another's place, as a share
)

// Identify changes each fitted number of a profile by a fifth, all else equal, and
// measures what that does to the rows with use=fit. When the context ends after the
// first evaluation, the outcome has the numbers that were done.
func Identify(ctx context.Context, p *profile.Profile, o IdentifyOptions) (*Sensitivity, error) {
	all, err := fitRows(p.Name)
	if err != nil {
		return nil, err
	}
	used, err := fitted(all, o.Rows)
	if err != nil {
		return nil, err
	}
	f, err := newFitting(p, FitOptions{Params: o.Params})
	if err != nil {
		return nil, err
	}
	w, err := plan(used)
	if err != nil {
		return nil, err
	}
	step := counter((2*len(f.names)+1)*w.steps(), o.Progress)
	f.run = func(on *profile.Profile) ([]Row, error) { return w.rows(ctx, on, step) }
	return f.identify()
}

func (f *fitting) identify() (*Sensitivity, error) {
	as := make([]float64, len(f.names))
	base, err := f.measure(as)
	if err != nil {
		return nil, err
	}
	out := &Sensitivity{Profile: f.start.ID(), Loss: loss(nil, base), Numbers: []Identified{}}
	for _, r := range base {
		if !r.hasValue() {
			return nil, fmt.Errorf("%s: %s", r.ID, cmp.Or(r.Note, "no value"))
		}
		out.Rows = append(out.Rows, r.ID)
	}
	for i := range f.names {
		n := Identified{Name: f.names[i], Value: f.from[i].Value, Unit: f.from[i].Unit}
		if n.Down, err = f.change(i, 1-step20, base); err == nil {
			n.Up, err = f.change(i, 1+step20, base)
		}
		if errors.Is(err, context.Canceled) {
			out.Interrupted = true
			break
		} else if err != nil {
			return nil, err
		}
		n.judge(base)
		out.Numbers = append(out.Numbers, n)
	}
	out.Evaluations = f.done
	together(out.Numbers)
	return out, nil
}

// change measures with one number changed. That a run fails then, or a row loses its
// value, is the outcome and no error.
func (f *fitting) change(i int, factor float64, base []Row) (Change, error) {
	at := make([]float64, len(f.names))
	at[i] = math.Log(factor)
	c := Change{Value: f.value(i, at)}
	if c.Value == f.from[i].Value {
		c.none, c.Note = true, "a fifth of it rounds to nothing"
		return c, nil
	}
	rows, err := f.measure(at)
	switch {
	case errors.Is(err, context.Canceled):
		return c, err
	case err != nil:
		c.Note = err.Error()
		return c, nil
	}
	c.rows = rows
	sum, most := 0.0, 0.0
	for k, r := range rows {
		if !r.hasValue() {
			c.Row, c.Note = r.ID, r.ID+": "+cmp.Or(r.Note, "no value")
			return c, nil
		}
		d := moved(base[k], r)
		sum += d * d
		if math.Abs(d) > math.Abs(most) {
			most, c.Row = d, r.ID
		}
	}
	change, all, by := loss(nil, rows)-loss(nil, base), math.Sqrt(sum), math.Exp(most)-1
	c.Loss, c.Moved, c.By = &change, &all, &by
	return c, nil
}

// moved is the logarithm of one measurement over another.
func moved(from, to Row) float64 {
	return math.Log(math.Max(*to.Measured, 1e-9) / math.Max(*from.Measured, 1e-9))
}

// tells says whether rows notice the change. A profile that a row has no value on, or
// on which a run fails, is noticed.
func (c *Change) tells() bool { return !c.none && (c.Moved == nil || *c.Moved >= weakBelow) }

func (n *Identified) judge(base []Row) {
	switch down, up := n.Down.tells(), n.Up.tells(); {
	case !down && !up:
		n.Flag = Weak
	case down != up:
		n.Flag = OneSided
	}
	if n.Down.Moved == nil || n.Up.Moved == nil {
		return
	}
	n.effect = make([]float64, len(base))
	for k := range base {
		n.effect[k] = moved(n.Down.rows[k], n.Up.rows[k])
	}
}

// together finds for each number the one that is most like it, of those that could take
// its place.
func together(list []Identified) {
	for i := range list {
		n := &list[i]
		for j := range list {
			o := &list[j]
			if i == j || floats.Norm(o.effect, 2) < rival*floats.Norm(n.effect, 2) {
				continue
			}
			if c := math.Abs(cosine(n.effect, o.effect)); c > n.Alike {
				n.Like, n.Alike = o.Name, c
			}
		}
		if n.Flag == "" && n.Alike >= alike {
			n.Flag = Together
		}
	}
}

func cosine(a, b []float64) float64 {
	if len(a) != len(b) {
		return 0
	}
	if aa, bb := floats.Norm(a, 2), floats.Norm(b, 2); aa > 0 && bb > 0 {
		return floats.Dot(a, b) / (aa * bb)
	}
	return 0
}

// most is the change of the two that moves a row furthest.
func (n *Identified) most() *Change {
	if n.Up.By == nil || n.Down.By != nil && math.Abs(*n.Down.By) > math.Abs(*n.Up.By) {
		return &n.Down
	}
	return &n.Up
}

// CSV is what is kept beside the fits: the numbers, and the rows that were looked at.
func (s *Sensitivity) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"kind", "name", "value", "unit", "loss_down", "loss_up", "moved_down", "moved_up", "row", "by", "flag", "like", "alike"}}
	num := func(x *float64) string {
		if x == nil {
			return ""
		}
		return strconv.FormatFloat(*x, 'f', 5, 64)
	}
	for _, n := range s.Numbers {
		m := n.most()
		rows = append(rows, []string{"number", n.Name, strconv.FormatFloat(n.Value, 'g', -1, 64), n.Unit, num(n.Down.Loss), num(n.Up.Loss), num(n.Down.Moved), num(n.Up.Moved),
			m.Row, num(m.By), n.Flag, n.Like, strconv.FormatFloat(n.Alike, 'f', 3, 64)})
	}
	for _, id := range s.Rows {
		rows = append(rows, append([]string{"row", id}, make([]string, len(rows[0])-2)...))
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

func (s *Sensitivity) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "number\tvalue\tloss at -20 %\tat +20 %\trows move\t\tmost\tby\t\tmost like")
	share := func(x *float64, form string, scale float64) string {
		if x == nil {
			return "-"
		}
		return fmt.Sprintf(form, scale**x)
	}
	for _, n := range s.Numbers {
		m := n.most()
		fmt.Fprintf(t, "%s\t%.4g %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s %.2f\n", n.Name, n.Value, n.Unit, share(n.Down.Loss, "%+.4f", 1), share(n.Up.Loss, "%+.4f", 1),
			share(n.Down.Moved, "%.1f %%", 100), share(n.Up.Moved, "%.1f %%", 100), m.Row, share(m.By, "%+.1f %%", 100), n.Flag, n.Like, n.Alike)
	}
	t.Flush() // into memory
	for _, n := range s.Numbers {
		for _, c := range []*Change{&n.Down, &n.Up} {
			if c.Note != "" {
				fmt.Fprintf(&b, "%s at %.4g %s: %s\n", n.Name, c.Value, n.Unit, c.Note)
			}
		}
	}
	fmt.Fprintf(&b, "%s: neither change moves the rows, together, by %.0f %%; %s: only one does; %s: as another number moves them\n", Weak, 100*weakBelow, OneSided, Together)
	if s.Interrupted {
		fmt.Fprintln(&b, "interrupted: numbers that were not reached are missing")
	}
	for _, flag := range []string{Weak, OneSided, Together} {
		fmt.Fprintf(&b, "%s: %s\n", flag, cmp.Or(strings.Join(s.Flagged(flag), ", "), "none"))
	}
	fmt.Fprintf(&b, "%s: objective %.4g over %d rows, without the pull towards old values; %d of %d numbers are weakly identified", s.Profile, s.Loss, len(s.Rows), len(s.Flagged(Weak)), len(s.Numbers))
	return b.String()
}

// Flagged are the numbers with a flag.
func (s *Sensitivity) Flagged(flag string) []string {
	var out []string
	for _, n := range s.Numbers {
		if n.Flag == flag {
			out = append(out, n.Name)
		}
	}
	slices.Sort(out)
	return out
}
