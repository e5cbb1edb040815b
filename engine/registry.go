package engine

import (
	"fmt"
	"strings"

	"drtmx/engine/knob"

	"drtmx/engine/occ"
)

func init() {
	for _, list := range [][]knob.Row{clusterKnobs(), hardwareKnobs(), hintKnobs(), phaseKnobs(), optKnobs(), storeKnobs(), workloadKnobs(), faultKnobs(), measureKnobs()} {
		knob.Register(list)
	}
	knob.Beside(numberRow)
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
	number := strings.TrimPrefix(name, hardwarePrefix)
	if number == name && name+"." != hardwarePrefix && knob.Find(hardwarePrefix+name) == nil && !(isNumber(name) && like == "") {
		return nil, &SpecError{Field: knob.Clip(name), Rule: "unknown knob" + like, Next: "`drtmx knobs` lists them all"}
	}
	if !isNumber(number) {
		number = hardwarePrefix + number
	}
	return nil, &SpecError{Field: knob.Clip(name), Rule: "unknown number of the hardware" + knob.DidYouMean(number, numbers().names), Next: "`drtmx profiles val` lists those of val, and hardware.NUMBER sets one"}
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
func states(v Knobs, c occ.Config) []KnobState {
	choices := autoChoices(v, c)
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
	return append(out, describe(v, setNumbers(v))...)
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

func phaseKnobs() []knob.Row {
	both := []string{"one-sided", "two-sided", "auto"}
	read := []string{"one-sided", "two-sided", "hybrid", "auto"}
	def := presetKnobs(defaultPreset)
	row := func(name, label, section, doc string, choices []string) knob.Row {
		return knob.Row{Knob: knob.Knob{
			Name: "phase." + name, Kind: knob.Choice, Default: def["phase."+name], Choices: choices, Label: label, Doc: doc,
			Section: section, Group: knob.Phases, Live: true,
		}, Inactive: func(v Knobs) string {
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
	return []knob.Row{
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

func optKnobs() []knob.Row {
	def := presetKnobs(defaultPreset)
	own, _ := occ.Preset(defaultPreset)
	occ.DeriveGroups(def, own.Resolved())
	list := []knob.Row{{Knob: knob.Knob{
		Name: "opt.co", Kind: knob.Bool, Default: def["opt.co"], Label: "Coroutines", Section: "2.2.3", Group: knob.Optimisations, Live: true,
		Doc: "Runs several transactions per worker, each in its coroutine, so that one computes while others wait. Off: one at a time, whatever coroutines says.",
	}}}
	for _, o := range opts {
		list = append(list, knob.Row{Knob: knob.Knob{
			Name: o.Group(), Kind: knob.Bool, Default: def[o.Group()], Label: o.Title + ", all phases", Section: "2.2.3",
			Group: knob.Optimisations, Live: true, Doc: o.Doc + " Sets every phase where Table 4-1 allows it; reads true when all of them are on.",
		}, Inactive: noTransactions})
	}
	for _, p := range phases {
		for _, o := range opts {
			list = append(list, knob.Row{Knob: knob.Knob{
				Name: o.Knob(p), Kind: knob.Bool, Default: def[o.Knob(p)], Label: o.Title + " in " + p.Name,
				Section: "4.3", Group: knob.Optimisations, Live: true, Doc: o.Doc,
			}, Inactive: func(v Knobs) string {
				if why := noTransactions(v); why != "" {
					return why
				}
				return inactive(o, p, v)
			}})
		}
	}
	return list
}

func workloadOf(v Knobs) *workloadKind {
	name := v.Text("workload")
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	panic(fmt.Sprintf("engine: resolved spec with workload %q", name))
}
