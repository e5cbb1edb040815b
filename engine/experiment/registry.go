package experiment

import (
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

func init() { register() }

// Plug adds protocols, stores of both kinds, workloads and schemes of timestamps to the lists of parts, for authors that keep them elsewhere: in a test, or in
// a command of their own. It is called while the program starts, before anything reads a spec. A name that is taken is a
// panic.
func Plug(protocols txn.Kinds, stores store.Kinds, ordered store.Ordered, workloads workload.Parts, schemes timestamp.Kinds) {
	Protocols = append(Protocols, protocols...)
	Stores = append(Stores, stores...)
	Ordered = append(Ordered, ordered...)
	Workloads = append(Workloads, workloads...)
	Schemes = append(Schemes, schemes...)
	knob.Forget()
	register()
}

// register puts the knobs of all parts on the list.
func register() {
	timestamp.Register(Schemes)
	cluster, found, protocol := Protocols.Rows(Workloads.Load)
	for _, list := range [][]knob.Row{
		{presetRow()}, testbed.ClusterKnobs(), cluster, {seedRow()}, testbed.HardwareKnobs(Workloads.Load), workload.HintKnobs(Workloads.Of), clientKnobs(),
		protocol, timestampKnobs(), Stores.Rows(Workloads.Load), Ordered.Rows(Workloads.Load, Workloads.Indexed()), found, Workloads.Rows(defaultWorkload), faultKnobs(), exploreKnobs(), measureKnobs(),
	} {
		knob.Register(list)
	}
	knob.Beside(testbed.NumberRow)
	for i := range Protocols {
		if f := Protocols[i].Follower; f != nil {
			knob.Follow(f(Workloads.Load))
		}
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

// States puts the registry beside resolved values.
func States(v Knobs, seen txn.Seen) []KnobState {
	choices := AutoChoices(v, seen)
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
	list := States(v, txn.Seen{})
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

// IsSwitch says whether a knob follows others while it is not set, as an optimisation of a phase does.
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

// PresetNames lists the presets.
func PresetNames() []string { return Protocols.Presets() }

// PresetKnobs is everything that a preset sets: its row of Table 4-3, and the optimisations of
// Table 4-1 for it.
func PresetKnobs(name string) (Knobs, error) {
	k := Protocols.PresetOf(name)
	if k == nil {
		names := PresetNames()
		return nil, &SpecError{Field: "preset", Value: knob.Clip(name), Rule: "must be one of " + strings.Join(names, ", ") + knob.DidYouMean(name, names), Next: "see `drtmx knobs preset`"}
	}
	return k.PresetKnobs(name), nil
}

// presetKnobs is PresetKnobs of a name that is known to exist.
func presetKnobs(name string) Knobs {
	k, err := PresetKnobs(name)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return k
}

// governed is what the preset says in v, where others of its knobs may be set otherwise.
func governed(v Knobs) Knobs {
	return Protocols.PresetOf(v.Text("preset")).Governed(v, Workloads.Load(v))
}

// PresetDiff lists the governed knobs whose value is not the preset's.
func PresetDiff(v Knobs) Knobs {
	diff := Knobs{}
	for name, want := range governed(v) { // order-free: fills a map
		if v[name] != want {
			diff[name] = v[name]
		}
	}
	return diff
}
