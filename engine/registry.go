package engine

import (
	"cmp"
	"fmt"
	"strings"

	"drtmx/engine/txn"
)

// Groups are the headings under which the page shows knobs: the floors that they act on.
const (
	groupCluster  = "Cluster"
	groupHardware = "Hardware"
	groupR2       = "Communication"
	groupStore    = "Index and cache"
	groupPhases   = "Transaction phases"
	groupOpts     = "Optimisations"
	groupWorkload = "Workload"
	groupFaults   = "Faults"
	groupMeasure  = "Measurement"
)

// entry is a registry row with what the public Knob cannot say.
type entry struct {
	Knob
	inactive func(v Knobs) string            // why it has no effect in v; nil: always active
	normal   func(s string) (string, string) // text knobs: canonical form, or the rule that is broken
	byLoad   map[string]any                  // workload.*: default by workload
	alias    string                          // another name for it
	units    []unit                          // a number's units, as text may end with; written exactly so
	most     func(v Knobs) any               // its maximum in v; nil: always Max
}

var (
	registry   []*entry
	knobByName = map[string]*entry{}
	knobNames  []string
)

func init() {
	for _, list := range [][]entry{clusterKnobs(), hardwareKnobs(), hintKnobs(), phaseKnobs(), optKnobs(), storeKnobs(), workloadKnobs(), faultKnobs(), measureKnobs()} {
		for i := range list {
			e := &list[i]
			if knobByName[e.Name] != nil {
				panic("engine: knob " + e.Name + " twice")
			}
			registry = append(registry, e)
			knobByName[e.Name] = e
			if e.alias != "" {
				knobByName[e.alias] = e
			}
			knobNames = append(knobNames, e.Name)
		}
	}
}

// Registry lists every knob, in the order of the page.
func Registry() []Knob {
	out := make([]Knob, len(registry))
	for i, e := range registry {
		out[i] = e.Knob
	}
	return out
}

// parse is Knob.parse with the canonical form of text.
func (e *entry) parse(v any) (any, error) {
	if IsHardware(e.Name) {
		return e.parseNumber(v)
	}
	c, err := e.Knob.parse(v)
	if err != nil || e.normal == nil {
		return c, err
	}
	s, rule := e.normal(c.(string))
	if rule != "" {
		return nil, &SpecError{Field: e.Name, Value: clip(v), Rule: rule, Next: "see `drtmx knobs`"}
	}
	return s, nil
}

// defaultFor is the default under a workload.
func (e *entry) defaultFor(workload string) any {
	if d, ok := e.byLoad[workload]; ok {
		return d
	}
	return e.Default
}

// lookup finds a knob or says which one may be meant.
func lookup(name string) (*entry, error) {
	if e := entryOf(name); e != nil {
		return e, nil
	}
	like := cmp.Or(didYouMean(name, knobNames), labelled(name))
	number := strings.TrimPrefix(name, hardwarePrefix)
	if number == name && name+"." != hardwarePrefix && entryOf(hardwarePrefix+name) == nil && !(isNumber(name) && like == "") {
		return nil, &SpecError{Field: clip(name), Rule: "unknown knob" + like, Next: "`drtmx knobs` lists them all"}
	}
	if !isNumber(number) {
		number = hardwarePrefix + number
	}
	return nil, &SpecError{Field: clip(name), Rule: "unknown number of the hardware" + didYouMean(number, numbers().names), Next: "`drtmx profiles val` lists those of val, and hardware.NUMBER sets one"}
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
func states(v Knobs, c txn.Config) []KnobState {
	choices := autoChoices(v, c)
	base := governed(v)
	out := make([]KnobState, len(registry))
	for i, e := range registry {
		s := e.state(v)
		s.Preset = base[e.Name]
		if choice, ok := choices[e.Name]; ok && s.Active {
			s.Auto = &choice
		}
		out[i] = s
	}
	return append(out, describe(v, setNumbers(v))...)
}

// state is a knob in resolved values.
func (e *entry) state(v Knobs) KnobState {
	s := KnobState{
		Name: e.Name, Kind: e.Kind, Value: v[e.Name], Default: e.defaultFor(v.text("workload")), Min: e.Min, Max: e.Max,
		Choices: e.Choices, Unit: e.Unit, Label: e.Label, Doc: e.Doc, Section: e.Section, Group: e.Group, Live: e.Live, Active: true,
	}
	if e.most != nil {
		s.Max = e.most(v)
	}
	if e.inactive != nil {
		s.InactiveBecause = e.inactive(v)
		s.Active = s.InactiveBecause == ""
	}
	return s
}

// Describe lists the registry with the values that a spec gives, and behind it the numbers of the
// hardware that the spec changes, or that are named.
func Describe(spec Spec, numbers ...string) ([]KnobState, error) {
	v, err := Resolve(spec)
	if err != nil {
		return nil, err
	}
	list := states(v, txnConfig(v))
	for _, name := range numbers {
		if err := hasNumber(v, name); err != nil {
			return nil, err
		}
		if _, set := v[name]; !set {
			list = append(list, describe(v, []string{name})...)
		}
	}
	return list, nil
}

func phaseKnobs() []entry {
	both := []string{"one-sided", "two-sided", "auto"}
	read := []string{"one-sided", "two-sided", "hybrid", "auto"}
	def := presetKnobs(defaultPreset)
	row := func(name, label, section, doc string, choices []string) entry {
		return entry{Knob: Knob{
			Name: "phase." + name, Kind: KindChoice, Default: def["phase."+name], Choices: choices, Label: label, Doc: doc,
			Section: section, Group: groupPhases, Live: true,
		}, inactive: func(v Knobs) string {
			w := workloadOf(v)
			if why := noTransactions(v); why != "" {
				return why
			}
			if strings.HasPrefix(name, "ro_") && !w.readOnly {
				return "workload " + w.name + " has no read-only transactions"
			}
			return ""
		}}
	}
	return []entry{
		row("execution", "Execution", "4.3.1", "How a read-write transaction fetches records. hybrid: one READ when the location cache knows the address, an RPC when not.", read),
		row("lock", "Lock (write set)", "4.3.2", "Who locks the write set: the RNIC with CAS, or the owner's CPU in an RPC. The two are not atomic with each other, so a change waits until no lock is held.", both),
		row("validation", "Validation (read set)", "4.3.2", "How the versions of records that were only read are checked again: a 16-byte READ each, or an RPC per machine.", both),
		row("logging", "Logging", "4.3.4", "How the write set reaches the backups' ring-buffer logs: a WRITE per backup, or an RPC that copies it.", both),
		row("commit", "Commit", "4.3.3", "How updates are written back and unlocked: two WRITEs on one queue pair, or an RPC per machine.", both),
		row("ro_read", "Read-only: read", "4.3.5", "How a read-only transaction fetches records; as execution.", read),
		row("ro_validation", "Read-only: validation", "4.3.5", "How a read-only transaction checks its versions again; one record alone needs no check.", both),
	}
}

// noTransactions says that a knob of transactions has nothing to act on.
func noTransactions(v Knobs) string {
	if w := workloadOf(v); !w.transactions {
		return "workload " + w.name + " runs no transactions"
	}
	return ""
}

func optKnobs() []entry {
	def := presetKnobs(defaultPreset)
	own, _ := txn.Preset(defaultPreset)
	deriveGroups(def, own.Resolved())
	list := []entry{{Knob: Knob{
		Name: "opt.co", Kind: KindBool, Default: def["opt.co"], Label: "Coroutines", Section: "2.2.3", Group: groupOpts, Live: true,
		Doc: "Runs several transactions per worker, each in its coroutine, so that one computes while others wait. Off: one at a time, whatever coroutines says.",
	}}}
	for _, o := range opts {
		list = append(list, entry{Knob: Knob{
			Name: o.group(), Kind: KindBool, Default: def[o.group()], Label: o.title + ", all phases", Section: "2.2.3",
			Group: groupOpts, Live: true, Doc: o.doc + " Sets every phase where Table 4-1 allows it; reads true when all of them are on.",
		}, inactive: noTransactions})
	}
	for _, p := range phases {
		for _, o := range opts {
			list = append(list, entry{Knob: Knob{
				Name: o.knob(p), Kind: KindBool, Default: def[o.knob(p)], Label: o.title + " in " + p.name,
				Section: "4.3", Group: groupOpts, Live: true, Doc: o.doc,
			}, inactive: func(v Knobs) string {
				if why := noTransactions(v); why != "" {
					return why
				}
				return o.inactive(p, v)
			}})
		}
	}
	return list
}

func workloadOf(v Knobs) *workloadKind {
	name := v.text("workload")
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	panic(fmt.Sprintf("engine: resolved spec with workload %q", name))
}
