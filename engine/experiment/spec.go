package experiment

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// Spec names a system to open. Everything that Set does not name has its default, or what the
// preset says.
type Spec struct {
	Name     string `yaml:"name,omitempty" json:"name,omitempty"`
	Preset   string `yaml:"preset,omitempty" json:"preset,omitempty"`
	Workload string `yaml:"workload,omitempty" json:"workload,omitempty"`
	Set      Knobs  `yaml:"set,omitempty" json:"set,omitempty"`
	// Systems are to run side by side: each is what the spec says, changed by its own entry, which has a name. See Each.
	Systems []Spec `yaml:"systems,omitempty" json:"systems,omitempty"`

	Hardware *profile.Profile `yaml:"-" json:"-"` // see On
	Scaling  *Scaling         `yaml:"-" json:"-"` // see MeasureCauses
}

// On is the spec on hardware that is not among the shipped profiles, as when one
// is fitted. It is not part of the spec's text: Run it, do not store it.
func (s Spec) On(p *profile.Profile) Spec {
	s.Hardware = p
	return s
}

// MaxName bounds the name of a spec.
const MaxName = 80

// normalize checks names, parses values and moves preset and workload out of Set.
func (s Spec) normalize() (Spec, error) {
	if utf8.RuneCountInString(s.Name) > MaxName {
		return Spec{}, &SpecError{Field: "name", Value: knob.Clip(s.Name), Rule: fmt.Sprintf("longer than %d characters", MaxName), Next: "shorten it"}
	}
	out := Spec{Name: s.Name, Set: Knobs{}, Hardware: s.Hardware, Scaling: s.Scaling}
	for _, f := range []struct {
		knob string
		in   string
		out  *string
	}{{"preset", s.Preset, &out.Preset}, {"workload", s.Workload, &out.Workload}} {
		if f.in == "" {
			continue
		}
		v, err := knob.Find(f.knob).Parse(f.in)
		if err != nil {
			return Spec{}, err
		}
		*f.out = v.(string)
	}
	set, err := withoutMix(s.Set, out.Workload)
	if err == nil {
		set, err = ParseKnobs(set)
	}
	if err != nil {
		return Spec{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		v := set[name]
		switch name {
		case "preset":
			if err := agree(name, &out.Preset, v.(string)); err != nil {
				return Spec{}, err
			}
		case "workload":
			if err := agree(name, &out.Workload, v.(string)); err != nil {
				return Spec{}, err
			}
		default:
			out.Set[name] = v
		}
	}
	out.Systems, err = normalSystems(s.Systems, out.Workload)
	return out, err
}

func agree(name string, field *string, v string) error {
	if *field != "" && *field != v {
		return &SpecError{Field: name, Value: v, Rule: "already given as " + *field, Next: "give it once"}
	}
	*field = v
	return nil
}

// ParseKnobs returns canonical values. The first error in the order of names is reported, so that
// it does not depend on the map.
func ParseKnobs(k Knobs) (Knobs, error) {
	out := make(Knobs, len(k))
	for _, name := range SortedNames(k) {
		e, err := lookup(name)
		if err != nil {
			return nil, err
		}
		v, err := e.Parse(k[name])
		if err != nil {
			return nil, err
		}
		if was, twice := out[e.Name]; twice && was != v {
			return nil, &SpecError{Field: name, Value: knob.Clip(k[name]), Rule: fmt.Sprintf("%s is already %v", e.Name, was), Next: "give it once"}
		}
		out[e.Name] = v
	}
	return out, nil
}

func SortedNames(k Knobs) []string {
	names := make([]string, 0, len(k))
	for name := range k {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// With is the spec with further settings, which mean what they mean live: a preset replaces
// earlier settings of the knobs that it governs, a group knob those of its members.
func (s Spec) With(k Knobs) (Spec, error) {
	out, err := s.normalize()
	if err != nil {
		return Spec{}, err
	}
	if k, err = withoutMix(k, out.Workload); err != nil {
		return Spec{}, err
	}
	set, err := ParseKnobs(k)
	if err != nil {
		return Spec{}, err
	}
	knob.Override(out.Set, set)
	if p, ok := set["preset"]; ok {
		out.Preset = p.(string)
	}
	for name, v := range set { // order-free: each name has a field of its own
		switch name {
		case "preset":
		case "workload":
			out.Workload = v.(string)
		default:
			out.Set[name] = v
		}
	}
	out.Systems, err = eachWith(out.Systems, k)
	return out, err
}

// Resolve validates a spec and returns the value of every knob.
func Resolve(spec Spec) (Knobs, error) {
	s, err := spec.normalize()
	if err != nil {
		return nil, err
	}
	if err := s.one(); err != nil {
		return nil, err
	}
	v := make(Knobs, len(knob.Rows()))
	v["preset"], v["workload"] = defaultPreset, defaultWorkload
	if s.Preset != "" {
		v["preset"] = s.Preset
	}
	if s.Workload != "" {
		v["workload"] = s.Workload
	}
	for _, e := range knob.Rows() {
		if e.Name != "preset" && e.Name != "workload" {
			v[e.Name] = e.DefaultFor(v.Text("workload"))
		}
	}
	set := s.Set.Clone()
	set["preset"] = v["preset"]
	v.Apply(set)
	if n := testbed.SetNumbers(v); spec.Hardware != nil && len(n) > 0 {
		return nil, knob.Invalid(n[0], knob.Format(n[0], v[n[0]]), "change the number in that hardware", "the spec is on hardware of its own")
	}
	if err := Validate(v); err != nil {
		return nil, err
	}
	return v, nil
}

// SpecOf is the shortest spec that resolves to these values. A knob that they do not have is newer than they are, and has its default.
func SpecOf(name string, v Knobs) (Spec, error) {
	s := Spec{Name: name, Preset: v.Text("preset"), Workload: v.Text("workload"), Set: Knobs{}}
	base, err := Resolve(Spec{Preset: s.Preset, Workload: s.Workload})
	if err != nil {
		return Spec{}, err
	}
	for _, e := range knob.Rows() {
		if x, ok := v[e.Name]; ok && x != base[e.Name] && !e.IsGroup() && !e.Follows {
			s.Set[e.Name] = x
		}
	}
	for _, name := range testbed.SetNumbers(v) {
		s.Set[name] = v[name]
	}
	if base, err = Resolve(s); err != nil { // the switches follow the primitives, and primitives the scheme
		return Spec{}, err
	}
	for _, e := range knob.Rows() {
		if x, ok := v[e.Name]; ok && x != base[e.Name] && !e.IsGroup() {
			s.Set[e.Name] = x
		}
	}
	return s, nil
}

// ParseSetting splits "knob=value", as --set takes it.
func ParseSetting(s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || value == "" {
		return "", "", &SpecError{Field: knob.Clip(s), Rule: "must be KNOB=VALUE", Next: "such as phase.commit=two-sided"}
	}
	if _, err := lookup(name); err != nil && name != mixName {
		return "", "", err
	}
	return name, value, nil
}

// HTML is the spec as a small table.
func (s Spec) HTML() string {
	var b strings.Builder
	b.WriteString("<table>")
	row := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>", html.EscapeString(k), html.EscapeString(v))
		}
	}
	row("name", s.Name)
	row("preset", s.Preset)
	row("workload", s.Workload)
	for _, name := range SortedNames(s.Set) {
		row(name, knob.Format(name, s.Set[name]))
	}
	for _, x := range s.Systems {
		row("system "+x.Name, cmp.Or(x.settings(), "as above"))
	}
	b.WriteString("</table>")
	return b.String()
}
