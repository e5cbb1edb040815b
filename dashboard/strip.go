package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// strip is the knobs that systems side by side have in common: one change goes to all of them. A single system has those of
// its learned cache.
type strip struct {
	Systems []stripSystem `json:"systems"`
	Knobs   []stripKnob   `json:"knobs"`
}

type stripSystem struct {
	Sys  string `json:"sys"`
	Name string `json:"name,omitempty"`
}

// stripKnob is a knob as the first system has it, with its values in all.
type stripKnob struct {
	experiment.KnobState
	Values []any     `json:"values"`
	Steps  []float64 `json:"steps,omitempty"` // of a slider that is no even scale
}

// common answers with the strip: what every system that is no ghost can change live of its workload, without the
// weights of its mix, the coroutines, the back-off, timestamps, and the learned cache. Systems of other workloads have none.
func (p *page) common(w http.ResponseWriter, r *http.Request) {
	none := strip{Systems: []stripSystem{}, Knobs: []stripKnob{}}
	out, workload := none, any(nil)
	all := p.source.Systems()
	for _, s := range all {
		if isGhost(s, all) || s.CatchingUp {
			continue
		}
		states, err := p.source.Knobs(r.Context(), s.Sys)
		if err != nil {
			continue // closed since
		}
		own := valueOf(states, "workload")
		if workload == nil {
			workload = own
		}
		if own != workload {
			answer(w, none)
			return
		}
		out.meet(states)
		out.Systems = append(out.Systems, stripSystem{s.Sys, s.Name})
	}
	if len(out.Systems) == 1 {
		out.Knobs = slices.DeleteFunc(out.Knobs, func(k stripKnob) bool { return !ofCache(&k.KnobState) && !ofSnapshots(&k.KnobState) })
	}
	if len(out.Knobs) == 0 {
		out = none
	}
	answer(w, out)
}

// meet keeps the knobs that another system has in common with those before it.
func (s *strip) meet(states []experiment.KnobState) {
	var common []experiment.KnobState
	for _, of := range []bool{true, false} { // what the workload is comes first
		for _, k := range states {
			if isCommon(&k) && (k.Group == knob.Workload) == of {
				common = append(common, k)
			}
		}
	}
	if len(s.Systems) == 0 {
		for _, k := range common {
			x := stripKnob{KnobState: k, Values: []any{k.Value}}
			if k.Name == subModelsKnob {
				x.Steps = ladder(states, k.Value)
			}
			s.Knobs = append(s.Knobs, x)
		}
		return
	}
	var kept []stripKnob
	for _, k := range s.Knobs {
		if i := slices.IndexFunc(common, func(o experiment.KnobState) bool { return o.Name == k.Name }); i >= 0 {
			k.Values = append(k.Values, common[i].Value)
			kept = append(kept, k)
		}
	}
	s.Knobs = append([]stripKnob{}, kept...)
}

func isCommon(k *experiment.KnobState) bool {
	return k.Live && k.Active && (k.Group == knob.Workload && !strings.HasPrefix(k.Name, "workload.mix.") || k.Name == "coroutines" || k.Name == "txn.backoff_max_ns" || ofCache(k) || ofSnapshots(k))
}

// ofSnapshots says that a knob is one of those of timestamps on the strip. Without versions of records, where there is no scheme,
// it could not be changed live.
func ofSnapshots(k *experiment.KnobState) bool {
	return slices.Contains(timestampKnobs, k.Name) && k.Value != "none"
}

var timestampKnobs = []string{"ts.scheme", "ts.staleness_ns", "ts.freshness", "ts.clock_drift_ns"}

// ofCache says that a knob is one of the two that the learned cache has on the strip.
func ofCache(k *experiment.KnobState) bool { return k.Name == subModelsKnob || k.Name == cacheKnob }
