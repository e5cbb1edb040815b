package web

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"drtmx/cluster/words"
	"drtmx/engine/experiment"
)

// Param is a parameter of the query of a request, and what its value may be. An empty value is none.
type Param struct {
	Name       string
	Rule, Next string
	Many       bool // it may be given several times
	valid      func(text string) bool
}

// Text is a parameter with any text of so many bytes at most: what it names is looked up.
func Text(name string, most int) Param {
	return Param{Name: name, Rule: fmt.Sprintf("must have at most %d bytes", most), Next: "give a shorter one", valid: func(text string) bool { return len(text) <= most }}
}

// OneOf is a parameter with a few values.
func OneOf(name string, values ...string) Param {
	return Param{Name: name, Rule: "must be " + anyOf(values), Next: "as ?" + name + "=" + values[len(values)-1], valid: func(text string) bool { return slices.Contains(values, text) }}
}

func anyOf(values []string) string {
	if n := len(values); n > 1 {
		return strings.Join(values[:n-1], ", ") + " or " + values[n-1]
	}
	return values[0]
}

// Whole is a parameter with a whole number of a range.
func Whole(name string, least, most int64) Param {
	return Param{Name: name, Rule: fmt.Sprintf("must be a whole number from %d to %d", least, most), Next: fmt.Sprintf("as ?%s=%d", name, least), valid: func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n >= least && n <= most
	}}
}

// Numbers is a parameter with whole numbers, commas between them.
func Numbers(name string) Param {
	return Param{Name: name, Rule: "must be whole numbers with commas between", Next: "as ?" + name + "=1,3", valid: func(text string) bool {
		for one := range strings.SplitSeq(text, ",") {
			if n, err := strconv.Atoi(one); err != nil || n < 0 {
				return false
			}
		}
		return true
	}}
}

// Moment is a parameter with a virtual time.
func Moment(name string) Param {
	return Param{Name: name, Rule: "must be virtual nanoseconds from 0", Next: "as ?" + name + "=2000000", valid: func(text string) bool {
		n, err := Nanoseconds(text)
		return err == nil && n >= 0
	}}
}

// Nanoseconds reads a virtual time, in nanoseconds or with a unit.
func Nanoseconds(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	d, err := time.ParseDuration(text)
	return d.Nanoseconds(), err
}

// nameBytes is what names of systems, runs and figures have at most, by far.
const nameBytes = 200

// Name is a parameter with the name of a system, run, figure or metric.
func Name(name string) Param { return Text(name, nameBytes) }

// System is the parameter that names a system.
func System() Param { return Name("sys") }

// Params are the parameters that a route takes: all others are refused, for a parameter without effect would be a mistake.
type Params []Param

// Check reads the query of a request. Its error names a parameter, its value, the rule that it breaks and what to do.
func (ps Params) Check(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &experiment.SpecError{Field: "query", Value: words.Clip(r.URL.RawQuery), Rule: "cannot be read: " + words.OneLine(err.Error()), Next: "write special characters as %20"}
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if err := ps.check(name, q[name]); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (ps Params) check(name string, values []string) error {
	i := slices.IndexFunc(ps, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return &experiment.SpecError{Field: words.Clip(name), Value: words.Clip(values[0]), Rule: "is no parameter of this address", Next: ps.taken()}
	}
	p := ps[i]
	if len(values) > 1 && !p.Many {
		return &experiment.SpecError{Field: name, Value: words.Clip(strings.Join(values, ", ")), Rule: fmt.Sprintf("is given %d times", len(values)), Next: "give it once"}
	}
	for _, text := range values {
		if text != "" && !p.valid(text) {
			return &experiment.SpecError{Field: name, Value: words.Clip(text), Rule: p.Rule, Next: p.Next}
		}
	}
	return nil
}

// taken lists what there is.
func (ps Params) taken() string {
	if len(ps) == 0 {
		return "leave it out: there are none"
	}
	var names []string
	for _, p := range ps {
		names = append(names, p.Name)
	}
	return "leave it out: there are " + strings.Join(names, ", ")
}
