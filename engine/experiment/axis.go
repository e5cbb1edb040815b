package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"drtmx/engine/knob"
)

// Axis is one dimension of a sweep.
type Axis struct {
	Knob   string `json:"knob"`
	Values []any  `json:"values"`
}

// UnmarshalJSON restores the canonical types of the values, as that of Knobs does.
func (a *Axis) UnmarshalJSON(text []byte) error {
	type plain Axis // without this method
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode((*plain)(a)); err != nil {
		return err
	}
	for i, v := range a.Values {
		a.Values[i] = knob.Known(a.Knob, v)
	}
	return nil
}

// MaxAxis and maxPoints bound a sweep, which a person may mistype.
const (
	MaxAxis   = 1000
	maxPoints = 10_000
)

// NewAxis takes a slice of any type, or text with commas, and checks it against the registry.
func NewAxis(name string, values any) (Axis, error) {
	e, err := lookup(name)
	if err != nil {
		return Axis{}, err
	}
	var raw []any
	switch r := reflect.ValueOf(values); {
	case r.IsValid() && r.Kind() == reflect.Slice:
		for i := range r.Len() {
			raw = append(raw, r.Index(i).Interface())
		}
	case r.IsValid() && r.Kind() == reflect.String:
		for s := range strings.SplitSeq(r.String(), ",") {
			raw = append(raw, strings.TrimSpace(s))
		}
	default:
		raw = []any{values}
	}
	if len(raw) == 0 || len(raw) > MaxAxis {
		return Axis{}, &SpecError{Field: name, Rule: fmt.Sprintf("an axis has 1 to %d values, this one %d", MaxAxis, len(raw)), Next: "such as " + name + "=V1,V2"}
	}
	a := Axis{Knob: name}
	for _, x := range raw {
		v, err := e.Parse(x)
		if err != nil {
			return Axis{}, err
		}
		a.Values = append(a.Values, v)
	}
	return a, nil
}

// ParseAxis reads "knob=v1,v2,...", as --over takes it.
func ParseAxis(s string) (Axis, error) {
	if !strings.Contains(s, "=") {
		return Axis{}, &SpecError{Field: knob.Clip(s), Rule: "must be KNOB=VALUE,VALUE,...", Next: "such as coroutines=1,4,8"}
	}
	name, values, err := ParseSetting(s)
	if err != nil {
		return Axis{}, err
	}
	return NewAxis(name, values)
}

// Product lists all combinations, the last axis running fastest.
func Product(axes []Axis) ([]Knobs, error) {
	sets := []Knobs{{}}
	seen := map[string]bool{}
	for _, a := range axes {
		var next []Knobs
		e, err := lookup(a.Knob)
		if err != nil {
			return nil, err
		}
		if seen[e.Name] {
			return nil, &SpecError{Field: a.Knob, Rule: "is an axis twice", Next: "give it once, with all its values"}
		}
		seen[e.Name] = true
		if len(sets)*len(a.Values) > maxPoints {
			return nil, &SpecError{Field: a.Knob, Rule: fmt.Sprintf("makes more than %d points", maxPoints), Next: "use fewer values"}
		}
		for _, s := range sets {
			for _, v := range a.Values {
				c := s.Clone()
				c[a.Knob] = v
				next = append(next, c)
			}
		}
		sets = next
	}
	return sets, nil
}
