package engine

import (
	"strings"

	"drtmx/engine/knob"

	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

func init() {
	cluster, store, protocol := protocols.Rows(workloads.Load)
	for _, list := range [][]knob.Row{
		{presetRow()}, testbed.ClusterKnobs(), cluster, {seedRow()}, testbed.HardwareKnobs(workloads.Load), workload.HintKnobs(workloads.Of), clientKnobs(),
		protocol, store, workloads.Rows(defaultWorkload), faultKnobs(), measureKnobs(),
	} {
		knob.Register(list)
	}
	knob.Beside(testbed.NumberRow)
	for i := range protocols {
		knob.Follow(protocols[i].Follower(workloads.Load))
	}
	knob.Follow(knob.Follower{Values: func(_, v, _ Knobs) { testbed.DropPlain(v) }})
}

// Registry lists every knob, in the order of the page.
func Registry() []Knob {
	rows := knob.Rows()
	out := make([]Knob, len(rows))
	for i, e := range rows {
		out[i] = e.Knob
	}
	return out
}

// lookup finds a knob or says which one may be meant.
func lookup(name string) (*knob.Row, error) {
	if e := knob.Find(name); e != nil {
		return e, nil
	}
	like := knob.Like(name)
	number := strings.TrimPrefix(name, testbed.NumberPrefix)
	if number == name && name+"." != testbed.NumberPrefix && knob.Find(testbed.NumberPrefix+name) == nil && !(testbed.IsNumber(name) && like == "") {
		return nil, &SpecError{Field: knob.Clip(name), Rule: "unknown knob" + like, Next: "`drtmx knobs` lists them all"}
	}
	if !testbed.IsNumber(number) {
		number = testbed.NumberPrefix + number
	}
	return nil, &SpecError{Field: knob.Clip(name), Rule: "unknown number of the hardware" + testbed.Suggest(number), Next: "`drtmx profiles val` lists those of val, and hardware.NUMBER sets one"}
}

// KnobName is the name in the registry of a knob that is called by any of its names.
func KnobName(name string) (string, error) {
	e, err := lookup(name)
	if err != nil {
		return "", err
	}
	return e.Name, nil
}

// states puts the registry beside resolved values.
func states(v Knobs, seen txn.Seen) []KnobState {
	choices := autoChoices(v, seen)
	base := governed(v)
	rows := knob.Rows()
	out := make([]KnobState, len(rows))
	for i, e := range rows {
		s := e.State(v)
		s.Preset = base[e.Name]
		if choice, ok := choices[e.Name]; ok && s.Active {
			s.Auto = &choice
		}
		out[i] = s
	}
	return append(out, testbed.Describe(v, testbed.SetNumbers(v))...)
}

// Describe lists the registry with the values that a spec gives, and behind it the numbers of the
// hardware that the spec changes, or that are named.
func Describe(spec Spec, numbers ...string) ([]KnobState, error) {
	v, err := Resolve(spec)
	if err != nil {
		return nil, err
	}
	list := states(v, txn.Seen{})
	for _, name := range numbers {
		if err := testbed.HasNumber(v, name); err != nil {
			return nil, err
		}
		if _, set := v[name]; !set {
			list = append(list, testbed.Describe(v, []string{name})...)
		}
	}
	return list, nil
}

// IsGroup says whether a knob only sets others, and reads what they say.
func IsGroup(name string) bool {
	r := knob.Find(name)
	return r != nil && r.IsGroup()
}

// IsSwitch says whether a knob follows others while nobody names it, as an optimisation of a phase does.
func IsSwitch(name string) bool {
	r := knob.Find(name)
	return r != nil && r.Follows
}

// IsOrder says whether a knob is a command rather than a setting: what it reads is not what it was set to.
func IsOrder(name string) bool {
	r := knob.Find(name)
	return r != nil && r.Order
}

// IsHardware says whether a knob is a number of the hardware profile.
func IsHardware(name string) bool { return testbed.IsHardware(name) }

// Unit is what the numbers of a knob are counted in, "" where they are just counted.
func Unit(name string) string { return testbed.Unit(name) }
