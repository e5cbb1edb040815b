package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Report is what the checks of a run say; it marshals as "checks" of a result.
type Report struct {
	Mode         Mode              `json:"mode"`
	Claimed      Claim             `json:"claimed"`                      // "" where transactions are not judged: there are none, or checks are off
	Writers      Claim             `json:"claimed_of_writers,omitempty"` // of read-write transactions among one another, where it is more
	OK           Verdict           `json:"ok"`
	Transactions uint64            `json:"transactions"`              // committed and checked
	Seen         uint64            `json:"transactions_seen"`         // committed at all; more when sampled
	Anomalies    []Anomaly         `json:"anomalies"`                 // the first ones; never null
	Count        uint64            `json:"anomaly_count"`             // all of them
	Stale        uint64            `json:"stale_snapshots,omitempty"` // of those, snapshots that lack what had ended before they began, and may
	Overflowed   bool              `json:"window_overflow,omitempty"` // see Options.Capacity
	CanShow      []string          `json:"can_show,omitzero"`         // of Showable, those that the workload's transactions can have at all; nil: unknown
	Invariants   map[string]bool   `json:"invariants,omitempty"`
	Violated     map[string]string `json:"violated,omitempty"`             // of the invariants that do not hold: the rule, and where it is broken
	Unclaimed    map[string]string `json:"invariants_unclaimed,omitempty"` // invariants that were not checked, with the claim that each needs: the protocol's is weaker
	AtDrain      bool              `json:"invariants_at_drain,omitempty"`  // they need a cluster at rest and are not judged before
	Incomplete   string            `json:"incomplete,omitempty"`           // what was not judged, and why; in JSON also why ok is null
}

// MarshalJSON leaves out what is said of transactions where none are judged.
func (r Report) MarshalJSON() ([]byte, error) {
	type whole Report
	r.Incomplete = r.Why()
	if r.Claimed != "" {
		return json.Marshal(whole(r))
	}
	return json.Marshal(struct {
		Mode       Mode              `json:"mode"`
		OK         Verdict           `json:"ok"`
		Invariants map[string]bool   `json:"invariants,omitempty"`
		Violated   map[string]string `json:"violated,omitempty"`
		Unclaimed  map[string]string `json:"invariants_unclaimed,omitempty"`
		AtDrain    bool              `json:"invariants_at_drain,omitempty"`
		Incomplete string            `json:"incomplete,omitempty"`
	}{r.Mode, r.OK, r.Invariants, r.Violated, r.Unclaimed, r.AtDrain, r.Incomplete})
}

// Judged says that there is a verdict, on transactions or invariants.
func (r *Report) Judged() bool { return r != nil && r.OK != Undecided }

// Passed says that something was judged and nothing is wrong.
func (r *Report) Passed() bool { return r != nil && r.OK == Holds }

// Failed says that something was found.
func (r *Report) Failed() bool { return r != nil && r.OK == Violated }

// Findings tells of each broken invariant, a line each by name, with what is known of it.
func (r *Report) Findings() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(r.Invariants)) {
		switch text := r.Violated[name]; {
		case r.Invariants[name]:
		case text == "":
			lines = append(lines, name)
		default:
			lines = append(lines, name+": "+text)
		}
	}
	return lines
}

// Fault says what was claimed and is broken, for the words "is violated", and how: the claim, by the first anomaly that it
// does not allow, else invariants.
func (r *Report) Fault() (what, how string) {
	if a := r.Breaking(); a != nil {
		against := r.Claimed
		if r.Writers != "" && !r.Claimed.breaks(a.Kind) {
			against = r.Writers
		}
		return string(against), a.Kind + ": " + a.Text
	}
	return r.broken(), strings.Join(r.Findings(), "; ")
}

// Breaking is the first anomaly that a claim does not allow; nil where all are allowed.
func (r *Report) Breaking() *Anomaly {
	if i := slices.IndexFunc(r.Anomalies, func(a Anomaly) bool { return a.Breaks }); i >= 0 {
		return &r.Anomalies[i]
	}
	return nil
}

// broken names the invariants that do not hold, else the claim.
func (r *Report) broken() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.Invariants)) {
		if !r.Invariants[name] {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return string(r.Claimed)
	}
	return strings.Join(names, ", ")
}

// Unused is what there is to say where invariants hold and no transaction was
// seen, as with micro-benchmarks; "" where there is more to say.
func (r *Report) Unused() string {
	if r.OK != Holds || r.Seen > 0 {
		return ""
	}
	return "ok: " + strings.Join(slices.Sorted(maps.Keys(r.Invariants)), ", ") + "; no transactions"
}

// Allowed tells of the anomalies of a history that upholds a weaker claim: what was seen and may be; "" where nothing was. What
// snapshots lacked is counted apart.
func (r *Report) Allowed() string {
	var kinds []string
	for _, a := range r.Anomalies {
		if !a.Breaks && !slices.Contains(kinds, a.Kind) && (a.Kind != RealTime || r.Stale == 0) {
			kinds = append(kinds, a.Kind)
		}
	}
	if r.OK != Holds || len(kinds) == 0 {
		return ""
	}
	slices.Sort(kinds)
	return fmt.Sprintf("; seen, which it allows: %s, in all %d", strings.Join(kinds, ", "), r.Count-r.Stale)
}

// Unchecked tells of the invariants that were not checked, and why; "" where all were.
func (r *Report) Unchecked() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Unclaimed)) {
		list = append(list, fmt.Sprintf("%s, which only %s transactions keep", name, r.Unclaimed[name]))
	}
	if list == nil {
		return ""
	}
	return "; not checked: " + strings.Join(list, ", ")
}

// Unclaim says that an invariant was not checked: it holds of transactions with a claim, and theirs is weaker.
func (r *Report) Unclaim(name string, needs Claim) {
	if r.Unclaimed == nil {
		r.Unclaimed = make(map[string]string)
	}
	r.Unclaimed[name] = string(needs)
}

// Invariant adds the verdict of an oracle (replica equality, a workload's total).
func (r *Report) Invariant(name string, ok bool) {
	if r.Invariants == nil {
		r.Invariants = make(map[string]bool)
	}
	r.Invariants[name] = ok
	switch {
	case !ok:
		r.OK = Violated
	case r.OK == Undecided && r.Mode != Off && r.Incomplete == "":
		r.OK = Holds
	}
}

// Violation is that of an oracle that found something, and what it says of it.
func (r *Report) Violation(name, text string) {
	r.Invariant(name, false)
	if r.Violated == nil {
		r.Violated = make(map[string]string)
	}
	r.Violated[name] = text
}
