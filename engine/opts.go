package engine

// The phases of Figure 4-1, each with its knob phase.<name>. The write set is locked, the read set
// validated: the thesis counts both as Validation.
var phaseNames = []string{"execution", "lock", "validation", "logging", "commit", "ro_read", "ro_validation"}

// The optimisations of section 2.2.3 that are switched per phase. Coroutines are per worker.
var optNames = []string{"or", "db", "pa"}

// primSet says for which primitives Table 4-1 has a check mark.
type primSet uint8

const (
	neverAllowed primSet = 0
	oneSided     primSet = 1 << 0 // column I
	twoSided     primSet = 1 << 1 // column II
	eitherSided          = oneSided | twoSided
)

// table41 is Table 4-1 without its CO columns, which are all check marks.
var table41 = map[string][3]primSet{
	//               OR            DB           PA
	"execution":     {neverAllowed, twoSided, neverAllowed},
	"lock":          {eitherSided, eitherSided, neverAllowed},
	"validation":    {eitherSided, eitherSided, neverAllowed},
	"logging":       {eitherSided, twoSided, neverAllowed},
	"commit":        {eitherSided, eitherSided, eitherSided},
	"ro_read":       {neverAllowed, twoSided, neverAllowed},
	"ro_validation": {eitherSided, twoSided, neverAllowed},
}

var optTitle = map[string]string{
	"or": "Outstanding requests", "db": "Doorbell batching", "pa": "Passive ACK", "co": "Coroutines",
}

var optDoc = map[string]string{
	"or": "Posts all requests of the phase before waiting for the first completion. Off: one request at a time.",
	"db": "Rings one doorbell for all requests of a queue pair and lets the RNIC fetch them. Off: one MMIO each.",
	"pa": "Does not wait for the acknowledgement: unsignaled for one-sided, replies piggybacked for two-sided.",
}

// optNever says why Table 4-1 has no check mark for either primitive.
func optNever(phase, opt string) string {
	if opt == "or" {
		return "Table 4-1: " + phase + " fetches record by record, for its read set is not known in advance; see txn.speculative"
	}
	return "Table 4-1: the completion of " + phase + " is on the critical path, so it cannot be acknowledged passively"
}

// optInactive says why opt.<phase>.<opt> has no effect in v, or nothing.
func optInactive(v Knobs, phase, opt string) string {
	allowed := allowedPrims(phase, opt)
	if allowed == neverAllowed {
		return optNever(phase, opt)
	}
	used := usedPrims(v, phase)
	if allowed&used != 0 {
		return ""
	}
	if allowed == twoSided {
		return "Table 4-1: in " + phase + " this needs the two-sided primitive"
	}
	return "Table 4-1: in " + phase + " this needs the one-sided primitive"
}

func allowedPrims(phase, opt string) primSet {
	for i, name := range optNames {
		if name == opt {
			return table41[phase][i]
		}
	}
	panic("engine: no optimisation " + opt)
}

// primOf is the primitive of a phase with auto replaced by the rule of chapter 4's summaries.
func primOf(v Knobs, phase string) string {
	p := v.text("phase." + phase)
	if p != "auto" {
		return p
	}
	switch phase {
	case "execution", "ro_read":
		return "hybrid" // section 4.3.1
	case "lock":
		// Section 4.3.2: ATOMIC unless lock words are also touched by CPUs, which a two-sided
		// commit does.
		if v.text("phase.commit") == "two-sided" {
			return "two-sided"
		}
		return "one-sided"
	case "commit":
		// Section 4.4.1: one-sided if one-sided ATOMIC locks, else two-sided.
		return primOf(v, "lock")
	}
	return "one-sided" // sections 4.3.2, 4.3.4 and 4.3.5
}

// usedPrims is what the phase may use at run time.
func usedPrims(v Knobs, phase string) primSet {
	switch primOf(v, phase) {
	case "one-sided":
		return oneSided
	case "two-sided":
		return twoSided
	}
	return eitherSided
}

// optOn is the effective switch: on, and Table 4-1 allows it for what the phase uses.
func optOn(v Knobs, phase, opt string) bool {
	return v.bool("opt."+phase+"."+opt) && optInactive(v, phase, opt) == ""
}

// groupMembers are the knobs that opt.or, opt.db or opt.pa set.
func groupMembers(opt string) []string {
	var names []string
	for _, p := range phaseNames {
		if allowedPrims(p, opt) != neverAllowed {
			names = append(names, "opt."+p+"."+opt)
		}
	}
	return names
}

// deriveGroups sets each group knob to whether all of its members are on.
func deriveGroups(v Knobs) {
	for _, opt := range optNames {
		all := true
		for _, m := range groupMembers(opt) {
			all = all && v.bool(m)
		}
		v["opt."+opt] = all
	}
}
