package figure

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// doublings is how often a run that is not steady is measured again.
const doublings = 2

// MeasureAgain asks for a run that is not steady to be measured again, for twice as long after twice the
// warm-up, and then for four times: how long is long enough is found out, not known beforehand. It is
// the Again of engine.SweepOptions for the Specs of a figure at quick scale. Where something is to change with
// time, as a timeline shows, longer would be another experiment.
func MeasureAgain(times int, spec experiment.Spec, r *result.Result) (experiment.Spec, bool) {
	warmup, ok := r.Spec["warmup_ns"].(int)
	duration, also := r.Spec["duration_ns"].(int)
	if r.Unsteady == "" || len(r.Timeline) > 0 || times == doublings || !ok || !also {
		return spec, false
	}
	longer, err := spec.With(experiment.Knobs{"warmup_ns": 2 * warmup, "duration_ns": 2 * duration})
	return longer, err == nil // what is too long for the knob stays as it is
}

// claims are those of a figure. One that depends on a run that is not steady is undecided: what was
// measured of the run is a moment of it. A claim depends on a run if it says something else when the
// run's numbers are others, so whatever of a run a claim reads, the rule holds. What is true of each moment, it is of one as well.
func (r *Recipe) claims(f *Figure) []Claim {
	out := r.Definition.Claims(f)
	for _, spoil := range []spoiler{unsteadyRun, unsureLatency("p50"), unsureLatency("p90"), unsureLatency("p99")} {
		shaken, because := shake(f.Runs, spoil)
		if because == "" {
			continue
		}
		others := r.Definition.Claims(r.points(f.Scale, shaken))
		for i := range out {
			c := &out[i]
			at := slices.IndexFunc(others, func(o Claim) bool { return o.ID == c.ID && o.Claim == c.Claim })
			if c.EachMoment || strings.Contains(c.Why, notSteady) || at >= 0 && c.same(&others[at]) {
				continue
			}
			c.undecided("")
			c.Why += "; " + because
		}
	}
	return out
}

// same says that nothing of two claims differs.
func (c *Claim) same(o *Claim) bool {
	return c.Why == o.Why && c.Says == o.Says && c.Status == o.Status && reflect.DeepEqual(c.States, o.States) &&
		reflect.DeepEqual([]*float64{c.Measured, c.Largest, c.Smallest, c.Peak}, []*float64{o.Measured, o.Largest, o.Smallest, o.Peak})
}

// A spoiler changes what is not known of a run by a factor, and says why it is not known, "" if it is.
type spoiler func(r *result.Result, by float64) (out *result.Result, why string)

// notSteady begins the reason of a claim that rests on a run that is not.
const notSteady = "not steady, "

// shake spoils the runs, each by another factor so that quotients change too. It says how many it
// changed and why the first of them, "" if none.
func shake(runs []*result.Result, spoil spoiler) (shaken []*result.Result, because string) {
	shaken = slices.Clone(runs)
	n := 0
	for i, r := range runs {
		if r == nil {
			continue
		}
		changed, why := spoil(r, 1.3+0.01*float64(n))
		if why == "" {
			continue
		}
		shaken[i] = changed
		if n++; n == 1 {
			because = why
		}
	}
	switch n {
	case 0:
		return nil, ""
	case 1:
		return shaken, notSteady + "a run that it rests on: " + because
	}
	return shaken, fmt.Sprintf(notSteady+"one of %d runs of this figure that it rests on; of the first, %s", n, because)
}

// unsteadyRun alters all numbers of a run that is not steady, unless it is drawn over time.
func unsteadyRun(r *result.Result, by float64) (out *result.Result, why string) {
	if r.Unsteady == "" || len(r.Timeline) > 0 {
		return r, ""
	}
	return altered(r, by), r.Unsteady
}

// unsureLatency alters a quantile of a steady run's latency that has no interval, and says why.
func unsureLatency(quantile string) spoiler {
	return func(r *result.Result, by float64) (out *result.Result, why string) {
		reason := r.NoCI95[quantile]
		if r.Unsteady != "" || reason == "" {
			return r, ""
		}
		changed := *r
		l := &changed.LatencyUS
		*map[string]*float64{"p50": &l.P50, "p90": &l.P90, "p99": &l.P99}[quantile] *= by
		return &changed, quantile + ": " + reason
	}
}

// altered is a result with all numbers but those of the spec multiplied.
func altered(r *result.Result, by float64) *result.Result {
	text, err := json.Marshal(r)
	if err != nil {
		panic("figures: result: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic("figures: result: " + err.Error())
	}
	delete(tree, "spec")
	delete(tree, "preset_diff")
	if text, err = json.Marshal(multiplied(tree, by)); err != nil {
		panic("figures: result: " + err.Error())
	}
	out := new(result.Result)
	if err := json.Unmarshal(text, out); err != nil {
		panic("figures: result: " + err.Error())
	}
	out.Spec, out.PresetDiff = r.Spec, r.PresetDiff
	return out
}

// multiplied keeps whole numbers whole, as counts are.
func multiplied(v any, by float64) any {
	switch x := v.(type) {
	case float64:
		if x == math.Trunc(x) {
			return math.Round(x * by)
		}
		return x * by
	case map[string]any:
		for k, sub := range x { // order-free: every entry by itself
			x[k] = multiplied(sub, by)
		}
	case []any:
		for i, sub := range x {
			x[i] = multiplied(sub, by)
		}
	}
	return v
}
