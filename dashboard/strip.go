package dashboard

import (
	"cmp"
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
		out.Knobs = slices.DeleteFunc(out.Knobs, func(k stripKnob) bool { return !ofOne(&k.KnobState) })
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

// isCommon says that a knob is on the strip: of the workload, or one whose part offers it for systems side by side.
func isCommon(k *experiment.KnobState) bool {
	if !k.Live || !k.Active {
		return false
	}
	if k.Group == knob.Workload {
		return !strings.HasPrefix(k.Name, "workload.mix.")
	}
	r := knob.Find(k.Name)
	return r != nil && r.Together != nil && r.Together(k.Value)
}

// ofOne says that the strip of a single system has a knob: of its cache, or of its snapshots.
func ofOne(k *experiment.KnobState) bool { return k.Group == knob.Store || k.Group == knob.Timestamps }

// subModelsKnob has its steps by the number of keys.
const subModelsKnob = "xstore.submodels"

// ladder is what a slider of the number of sub-models steps through: 1, 2 and 5 times powers of ten from one for 2,000 keys of a
// server to one for 20, and what there is now. Nil: the number of keys is not known.
func ladder(states []experiment.KnobState, now any) []float64 {
	number := func(name string) float64 {
		switch v := valueOf(states, name).(type) {
		case int:
			return float64(v)
		case float64:
			return v
		}
		return 0
	}
	keys := number("workload.keys") * cmp.Or(number("workload.scale"), 1) / max(number("servers"), 1)
	if keys < 2000 {
		return nil
	}
	var out []float64
	for unit := 1.0; unit <= keys; unit *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if v := n * unit; v >= keys/2000 && v <= keys/20 {
				out = append(out, v)
			}
		}
	}
	if v, ok := now.(int); ok && v > 0 && !slices.Contains(out, float64(v)) {
		out = append(out, float64(v))
		slices.Sort(out)
	}
	return out
}
