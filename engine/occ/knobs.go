package occ

import (
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// defaultPreset is the one whose settings the knobs have from the start.
const defaultPreset = "drtm+h"

// rows are the knobs of phases and optimisations.
func rows(load testbed.LoadOf) []knob.Row {
	def := presetKnobs(defaultPreset)
	list := append(phaseRows(load, def), messageRows(load)...)
	list = append(list, inlineRow(load))
	for _, o := range Optimisations {
		list = append(list, groupRow(o, load))
	}
	for _, p := range Phases {
		for _, o := range Optimisations {
			list = append(list, knob.Row{Knob: knob.Knob{
				Name: o.Knob(p), Kind: knob.Bool, Default: def[o.Knob(p)], Label: o.Title + " in " + p.Name,
				Section: "4.3", Group: knob.Optimisations, Live: true, Doc: o.Doc,
			}, Inactive: func(v knob.Values) string { return o.inactive(p, v, load(v)) }, Follows: true})
		}
	}
	return list
}

func phaseRows(load testbed.LoadOf, def knob.Values) []knob.Row {
	both := []string{"one-sided", "two-sided", "auto"}
	read := []string{"one-sided", "two-sided", "hybrid", "auto"}
	row := func(name, label, section, doc string, choices []string) knob.Row {
		return knob.Row{Knob: knob.Knob{
			Name: "phase." + name, Kind: knob.Choice, Default: def["phase."+name], Choices: choices, Label: label, Doc: doc,
			Section: section, Group: knob.Phases, Live: true,
		}, Inactive: func(v knob.Values) string {
			if l := load(v); strings.HasPrefix(name, "ro_") && !l.ReadOnly {
				return "workload " + l.Name + " has no read-only transactions"
			}
			return ""
		}}
	}
	return []knob.Row{
		row("execution", "Execution", "4.3.1", "How a read-write transaction fetches records. hybrid: one READ when the location cache knows the address, an RPC when not.", read),
		row("lock", "Lock (write set)", "4.3.2", "How the write set is locked: by the RNIC with CAS, or by the owner's CPU in an RPC. The two are not atomic with each other, so a change waits until no lock is held.", both),
		row("validation", "Validation (read set)", "4.3.2", "How the versions of records that were only read are checked again: a 16-byte READ each, or an RPC per machine.", both),
		row("logging", "Logging", "4.3.4", "How the write set reaches the backups' ring-buffer logs: a WRITE per backup, or an RPC that copies it.", both),
		row("commit", "Commit", "4.3.3", "How updates are written back and unlocked: two WRITEs on one queue pair, or an RPC per machine.", both),
		row("ro_read", "Read-only: read", "4.3.5", "How a read-only transaction fetches records; as execution. Where records have versions, hybrid READs lock, timestamp and version of a record with a known location, and sends an RPC if the lock is held or the timestamp below the snapshot's.", read),
		row("ro_validation", "Read-only: validation", "4.3.5", "How a read-only transaction checks its versions again; one record alone needs no check.", both),
	}
}

// messageRows are what the released code and the thesis's text leave open about messages.
func messageRows(load testbed.LoadOf) []knob.Row {
	unless := func(why string, prims func(c Config) []Prim) func(v knob.Values) string {
		return func(v knob.Values) string {
			for _, p := range prims(configOf(v, load(v)).Resolved()) {
				if p == TwoSided || p == Hybrid {
					return ""
				}
			}
			return why
		}
	}
	return []knob.Row{
		{Knob: knob.Knob{Name: "rpc.charge_per_record", Kind: knob.Bool, Default: false, Label: "Execution charged per record", Section: "4.3.1", Group: knob.Phases, Live: true,
			Doc: "Charges a handler the execution time of Table 4-2 for each record that a message asks for. Off: once per message. By the sizes of the released code's messages, SmallBank in the table fetches 1.95 records per message."},
			Inactive: unless("nothing is fetched by RPC", func(c Config) []Prim { return []Prim{c.Execution, c.RORead} })},
		{Knob: knob.Knob{Name: "rpc.commit_together", Kind: knob.Bool, Default: false, Label: "One commit message", Section: "4.3.3", Group: knob.Phases, Live: true,
			Doc: "Commit by RPC sends one message per machine with all its records. Off, one message per record, as the released code: its sizes are the payloads of Table 4-2."},
			Inactive: unless("commit is one-sided", func(c Config) []Prim { return []Prim{c.Commit} })},
	}
}

// groupRow is the knob that switches an optimisation in all phases.
func groupRow(o Optimisation, load testbed.LoadOf) knob.Row {
	own, _ := Preset(defaultPreset)
	return knob.Row{Knob: knob.Knob{
		Name: o.Group(), Kind: knob.Bool, Default: o.allOn(presetKnobs(defaultPreset), own.Resolved()), Label: o.Title + ", all phases", Section: "2.2.3",
		Group: knob.Optimisations, Live: true, Doc: o.Doc + " Sets every phase where Table 4-1 allows it; reads true when all of them are on.",
	},
		Members: o.Members(),
		Sets: func(_ knob.Values, on any) knob.Values {
			k := knob.Values{}
			for _, m := range o.Members() {
				k[m] = on
			}
			return k
		},
		Derived: func(v knob.Values) any { return o.allOn(v, configOf(v, load(v)).Resolved()) },
	}
}

// inactive says why an optimisation's switch has no effect with the primitive that the phase resolves to.
func (o Optimisation) inactive(p Phase, v knob.Values, load *testbed.Load) string {
	if o.Name == "db" && o.Ever(p) && !testbed.HasRDMA(v) {
		return testbed.NoDoorbells(v)
	}
	c := configOf(v, load).Resolved()
	return o.Barred(p, *p.Field(&c))
}
