package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/replication"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

func init() { register() }

// ownParts are how many parts of each list are of this module: the first ones.
var ownParts = struct{ protocols, stores, ordered, workloads, schemes, logs int }{len(Protocols), len(Stores), len(Ordered), len(Workloads), len(Schemes), len(Logs)}

// Plug adds protocols, stores of both kinds, workloads, schemes of timestamps and of logs to the lists of parts, for authors that keep them elsewhere: in a test, in
// a command of their own, or in a notebook. It takes the place of a part of the same name that was plugged in before: systems that are
// open keep the one that they were opened with. It is called while nothing runs. A name of a part or knob of this module is a panic, and
// so is a part that lacks something: then the lists are as before.
func Plug(protocols txn.Kinds, stores store.Kinds, ordered store.Ordered, workloads workload.Parts, schemes timestamp.Kinds, logs replication.Kinds) {
	p, s, o, w, t, l, at := Protocols, Stores, Ordered, Workloads, Schemes, Logs, pluggedAt
	pluggedAt = maps.Clone(at)
	done := false
	defer func() {
		if !done {
			Protocols, Stores, Ordered, Workloads, Schemes, Logs, pluggedAt = p, s, o, w, t, l, at
		}
	}()
	Protocols = plugged(Protocols, ownParts.protocols, protocols, "cc", func(k *txn.Kind) string { return k.Name })
	Stores = plugged(Stores, ownParts.stores, stores, store.UnorderedKnob, func(k *store.Kind) string { return (*k).Name() })
	Ordered = plugged(Ordered, ownParts.ordered, ordered, store.OrderedKnob, func(k *store.KVKind) string { return k.Name })
	Workloads = plugged(Workloads, ownParts.workloads, workloads, "workload", func(k *workload.Kind) string { return k.Name })
	Schemes = plugged(Schemes, ownParts.schemes, schemes, timestamp.Knob, func(k *timestamp.Kind) string { return k.Name })
	Logs = plugged(Logs, ownParts.logs, logs, replication.Knob, func(k *replication.Kind) string { return k.Name })
	knob.Rebuild(register)
	done = true
}

// plugged is a list with more parts, which take the place of those of their names behind the first own ones. The knob which names one of it.
func plugged[K any](list []K, own int, more []K, which string, name func(k *K) string) []K {
	list = slices.Clone(list) // who has the list goes on with it
	for i := range more {
		at := slices.IndexFunc(list, func(k K) bool { return name(&k) == name(&more[i]) })
		switch {
		case at < 0:
			list = append(list, more[i])
		case at < own:
			panic(fmt.Errorf("%s=%s is one of drtmx: give yours another name", which, name(&more[i])))
		default:
			list[at] = more[i]
		}
		pluggedAt[part{which, name(&more[i])}] = knob.Edition() + 1
	}
	return list
}

// part is one of a list, by the knob that names one of it.
type part struct{ knob, name string }

var pluggedAt = map[part]int{} // program: of the lists of parts: edition of the list of knobs

// PluggedAt says in which edition of the list of knobs the parts of resolved values were plugged in, the latest of them, and which knob names that
// part; 0: all are of this module.
func PluggedAt(v Knobs) (which string, edition int) {
	for p, at := range pluggedAt { // order-free: of a maximum
		if at > edition && v[p.knob] == any(p.name) {
			which, edition = p.knob, at
		}
	}
	return which, edition
}

// Fitting are resolved values of another edition of the list of knobs as this one has them.
func Fitting(v Knobs) Knobs {
	out := make(Knobs, len(v))
	for name, x := range v { // order-free: fills a map
		if knob.Find(name) != nil {
			out[name] = x
		}
	}
	for _, r := range knob.Rows() {
		if _, ok := out[r.Name]; !ok {
			out[r.Name] = r.DefaultFor(v.Text("workload"))
		}
	}
	out.Derive()
	return out
}

// register puts the knobs of all parts on the list.
func register() {
	for i := range Protocols {
		if err := Protocols[i].Complete(); err != nil {
			panic(err)
		}
	}
	cluster, found, protocol := Protocols.Rows(Workloads.Load, LogOf)
	for _, list := range [][]knob.Row{
		{presetRow()}, testbed.ClusterKnobs(), cluster, {seedRow()}, testbed.HardwareKnobs(Workloads.Load), workload.HintKnobs(Workloads.Of), clientKnobs(),
		protocol, {logRow()}, timestampKnobs(), Stores.Rows(Workloads.Load), Ordered.Rows(Workloads.Load, Workloads.Indexed()), found, Workloads.Rows(defaultWorkload), faultKnobs(), exploreKnobs(), measureKnobs(),
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
