package coordinator

import (
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// What a protocol has to have for the knobs of phases, see txn.Kind.Has. Those that have any phase share the knobs of all phases.
const hasPhases = "phases"

// HasPhase is a phase whose optimisations can be switched, HasPrimitive one whose primitive can be set.
func HasPhase(phase string) txn.Feature     { return txn.Feature("phase " + phase) }
func HasPrimitive(phase string) txn.Feature { return txn.Feature("primitive of phase " + phase) }

// HasPhases is what a protocol has whose phases have optimisations, and if primitives is set a choice of primitive.
func HasPhases(phases []Phase, primitives bool) []txn.Feature {
	list := []txn.Feature{hasPhases}
	for _, p := range phases {
		if list = append(list, HasPhase(p.Name)); primitives {
			list = append(list, HasPrimitive(p.Name))
		}
	}
	return list
}

// PhaseRows are the knobs of primitives, and their values from the start.
func PhaseRows(load testbed.LoadOf, def knob.Values) []knob.Row {
	both := []string{"one-sided", "two-sided", "auto"}
	read := []string{"one-sided", "two-sided", "hybrid", "auto"}
	row := func(name, label, section, doc string, choices []string) knob.Row {
		return knob.Row{Knob: knob.Knob{
			Name: "phase." + name, Kind: knob.Choice, Default: def["phase."+name], Choices: choices, Label: label, Doc: doc,
			Section: section, Group: knob.Phases, Live: true,
		}, Needs: string(HasPrimitive(name)), Inactive: func(v knob.Values) string {
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

// SwitchRows are the knobs of optimisations: of all phases together, and of each. of are the primitives that values come to, and at the
// start.
func SwitchRows(load testbed.LoadOf, def knob.Values, start Primitives, of func(v knob.Values) Primitives) (list []knob.Row) {
	for _, o := range Optimisations {
		list = append(list, knob.Row{Knob: knob.Knob{
			Name: o.Group(), Kind: knob.Bool, Default: o.AllOn(def, start), Label: o.Title + ", all phases", Section: "2.2.3",
			Group: knob.Optimisations, Live: true, Doc: o.Doc + " Sets every phase where Table 4-1 allows it; reads true when all of them are on.",
		},
			Needs:   hasPhases,
			Members: o.Members(),
			Sets: func(_ knob.Values, on any) knob.Values {
				k := knob.Values{}
				for _, m := range o.Members() {
					k[m] = on
				}
				return k
			},
			Derived: func(v knob.Values) any { return o.AllOn(v, of(v)) },
		})
	}
	for _, p := range Phases {
		for _, o := range Optimisations {
			list = append(list, knob.Row{Knob: knob.Knob{
				Name: o.Knob(p), Kind: knob.Bool, Default: def[o.Knob(p)], Label: o.Title + " in " + p.Name,
				Section: "4.3", Group: knob.Optimisations, Live: true, Doc: o.Doc,
			}, Needs: string(HasPhase(p.Name)), Inactive: func(v knob.Values) string {
				if o.Name == "db" && o.Ever(p) && !testbed.HasRDMA(v) {
					return testbed.NoDoorbells(v)
				}
				c := of(v)
				return o.Barred(p, *p.Field(&c))
			}, Follows: true})
		}
	}
	return list
}

// PrimitivesOf is what resolved values say of phases. Where their primitives are no knobs, set is false.
func PrimitivesOf(v knob.Values, load *testbed.Load, phases []Phase, set bool) Primitives {
	var c Primitives
	for _, p := range phases {
		if set {
			*p.Field(&c) = Prim(v.Number(p.Knob(), primNames[:]))
		}
		opt := "opt." + p.Name
		c.Opt[p.ID] = r2.Mode{Outstanding: v.Bool(opt + ".or"), Doorbell: v.Bool(opt + ".db"), Passive: v.Bool(opt + ".pa")}
	}
	c.NoRDMA = load.Transactions && !testbed.HasRDMA(v)
	return c
}

// ValidNetwork refuses one-sided verbs where the NICs have none. c has no phase that is Auto; other is what else could be set.
func ValidNetwork(v knob.Values, c Primitives, phases []Phase, other string) error {
	for _, p := range phases {
		if c.NoRDMA && *p.Field(&c) != TwoSided {
			return knob.Invalid(p.Knob(), v.Text(p.Knob()), "set "+other+p.Knob()+"=two-sided or auto", "%s", testbed.NoRDMA(v))
		}
	}
	return nil
}

// ValidSwitches refuses optimisations that Table 4-1 has no check mark for.
func ValidSwitches(v knob.Values, c Primitives, phases []Phase) error {
	for _, p := range phases {
		for _, o := range Optimisations {
			name, why := o.Knob(p), o.Barred(p, *p.Field(&c))
			if v.Bool(name) && why != "" {
				next := "leave it off"
				if o.Ever(p) {
					next += ", or set " + p.Knob() + "=two-sided"
				}
				return knob.Invalid(name, true, next, "%s", why)
			}
		}
	}
	return nil
}

// Invalid is an error of a configuration as one of knobs.
func Invalid(err error) error {
	if err == nil {
		return nil
	}
	rule, _, _ := strings.Cut(err.Error(), "\n")
	return &knob.Error{Rule: rule, Next: "see `drtmx knobs`"}
}
