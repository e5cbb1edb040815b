package experiment

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"drtmx/engine/knob"
)

// IdleKnob is a knob that does nothing in a spec.
type IdleKnob struct {
	Name, Why string
	Instead   string // the nearest knob that does something there; "": none is near
}

func (k IdleKnob) String() string { return knob.NoEffect(k.Name, k.Why) }

// Error refuses a value for it.
func (k IdleKnob) Error(value string) *SpecError {
	next := "leave it out, or change what keeps it from working"
	if k.Instead != "" {
		next += "; " + k.Instead + " has an effect"
	}
	return &SpecError{Field: k.Name, Value: value, Rule: "has no effect here: " + k.Why, Next: next}
}

// Idle tells which of some knobs do nothing in a spec: a curve over one of them is flat, and looks
// like a finding. Over axes a knob may work at some points only, so it does nothing if it does so at
// none. Names, axes and points that are refused elsewhere are passed over.
func Idle(spec Spec, names []string, axes ...Axis) []IdleKnob {
	sets, err := Product(axes)
	if err != nil {
		return nil
	}
	names = slices.Clone(names)
	for _, a := range axes {
		names = append(names, a.Knob)
	}
	var knobs []*knob.Row
	for _, name := range names {
		if e, err := lookup(name); err == nil && e.Inactive != nil && !slices.Contains(knobs, e) {
			knobs = append(knobs, e)
		}
	}
	slices.SortFunc(knobs, func(a, b *knob.Row) int { return strings.Compare(a.Name, b.Name) })
	why, last := map[*knob.Row]string{}, Knobs(nil)
	for _, set := range sets {
		if len(knobs) == 0 {
			break
		}
		s, err := spec.With(set)
		if err != nil {
			continue
		}
		v, err := Resolve(s)
		if err != nil {
			continue
		}
		last = v
		knobs = slices.DeleteFunc(knobs, func(e *knob.Row) bool {
			why[e] = e.Inactive(v)
			return why[e] == ""
		})
	}
	var out []IdleKnob
	for _, e := range knobs {
		if why[e] != "" {
			out = append(out, IdleKnob{e.Name, why[e], instead(e, last)})
		}
	}
	return out
}

// IdleInAll is Idle of a spec of several systems: what does nothing in any of them. One that is no spec has none.
func IdleInAll(spec Spec, names []string, axes ...Axis) []IdleKnob {
	list, err := spec.Each()
	if err != nil {
		return nil
	}
	idle := Idle(list[0], names, axes...)
	for _, s := range list[1:] {
		also := Idle(s, names, axes...)
		idle = slices.DeleteFunc(idle, func(k IdleKnob) bool {
			return !slices.ContainsFunc(also, func(o IdleKnob) bool { return o.Name == k.Name })
		})
	}
	return idle
}

// Working is the spec without those of its settings that do nothing: as it is written for a person to run it again.
func (s Spec) Working() Spec {
	s.Set = maps.Clone(s.Set)
	for _, k := range IdleInAll(s, SortedNames(s.Set)) {
		delete(s.Set, k.Name)
	}
	list, err := s.Each()
	if err != nil {
		return s
	}
	s.Systems = slices.Clone(s.Systems)
	for i := range s.Systems {
		one := &s.Systems[i]
		one.Set = maps.Clone(one.Set)
		for _, k := range Idle(list[i], SortedNames(one.Set)) {
			delete(one.Set, k.Name)
		}
	}
	return s
}

// instead is the knob nearest to one that does nothing, of those of its group that do something: the one with most words of its name and
// label, and at least half; "" if there is none.
func instead(idle *knob.Row, v Knobs) (name string) {
	wanted := wordsOf(idle)
	most := (len(wanted) - 1) / 2
	for _, e := range knob.Rows() {
		if e.Group != idle.Group || e == idle || e.Inactive != nil && e.Inactive(v) != "" {
			continue
		}
		n := 0
		for _, word := range wordsOf(e) {
			if slices.Contains(wanted, word) {
				n++
			}
		}
		if n > most {
			name, most = e.Name, n
		}
	}
	return name
}

// wordsOf are the words of a knob's name, but its first part, and of its label.
func wordsOf(e *knob.Row) []string {
	_, name, _ := strings.Cut(e.Name, ".")
	return slices.Compact(slices.Sorted(strings.FieldsFuncSeq(strings.ToLower(name+" "+e.Label), func(r rune) bool { return !unicode.IsLetter(r) })))
}
