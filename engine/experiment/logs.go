package experiment

import (
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/replication"
)

// LogOf is what keeps the copies of records in step.
func LogOf(v Knobs) replication.Kind { return Logs.Of(v, Protocols.Of(v).Logs) }

// logRow is the knob that names it.
func logRow() knob.Row {
	r := Logs.Row()
	r.Inactive = func(v Knobs) string {
		if why := Workloads.Load(v).NoTransactions(); why != "" {
			return why
		}
		if cc := v.Text("cc"); len(Protocols.Of(v).Logs) == 0 {
			return "cc=" + cc + " does not use it"
		}
		return ""
	}
	return r
}

// validLog holds that the protocol allows the log, and that there are as many copies as it keeps.
func validLog(v Knobs) error {
	name, allowed := v.Text(replication.Knob), Protocols.Of(v).Logs
	if !Workloads.Of(v).Transactions || len(allowed) == 0 {
		return nil
	}
	if name != replication.Own && !Logs.Allows(allowed, name) {
		return knob.Invalid(replication.Knob, name, "set "+replication.Knob+"="+replication.Own, "cc=%s does not write such logs: it has %s", v.Text("cc"), strings.Join(allowed, " or "))
	}
	if n := v.Int("replicas"); LogOf(v).Single && n > 1 {
		return knob.Invalid("replicas", n, "set replicas=1, or another "+replication.Knob, "%s=%s keeps one copy of each record", replication.Knob, name)
	}
	return nil
}
