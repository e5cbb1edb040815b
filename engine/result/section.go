package result

import (
	"encoding/json"
	"maps"
	"slices"

	"drtmx/engine/metrics/panel"
)

// Section is what one part says of itself in a result: numbers, and sentences that explain them.
type Section map[string]any

// Number is a number of the section, 0 if it has none of the name.
func (s Section) Number(name string) float64 { v, _ := s[name].(float64); return v }

// Text is a sentence of the section, "" if it has none of the name.
func (s Section) Text(name string) string { v, _ := s[name].(string); return v }

// SectionsOf are those of the parts that run, after so much time; nil: none of them has one.
func SectionsOf(parts map[string]Part, ns int64) map[string]Section {
	var out map[string]Section
	for _, x := range panel.Sections() {
		p := parts[x.Part]
		if p == nil {
			continue
		}
		reading := panel.Reading{Gauge: func(name string) float64 { return p[name] }, Seconds: float64(ns) / 1e9}
		s := Section{}
		for _, f := range x.Fields {
			s[f.Name] = f.Of(&reading)
		}
		if out == nil {
			out = map[string]Section{}
		}
		out[x.Part] = s
	}
	return out
}

// plain is a result without its sections.
type plain Result

// MarshalJSON writes each section under its part's name, behind the fields that all results have.
func (r Result) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(plain(r))
	if err != nil {
		return nil, err
	}
	for _, part := range slices.Sorted(maps.Keys(r.Sections)) {
		section, err := json.Marshal(map[string]Section{part: r.Sections[part]})
		if err != nil {
			return nil, err
		}
		text = append(append(text[:len(text)-1], ','), section[1:]...)
	}
	return text, nil
}

// UnmarshalJSON reads what MarshalJSON writes. Sections of parts that this program does not have are left out.
func (r *Result) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*plain)(r)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	r.Sections = nil
	for _, x := range panel.Sections() {
		section, ok := all[x.Part]
		if !ok {
			continue
		}
		var s Section
		if err := json.Unmarshal(section, &s); err != nil {
			return err
		}
		if r.Sections == nil {
			r.Sections = map[string]Section{}
		}
		r.Sections[x.Part] = s
	}
	return nil
}
