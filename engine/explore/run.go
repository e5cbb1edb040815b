package explore

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/exploration"
	"drtmx/engine/result"
)

// system is what is run again and again.
type system struct {
	spec   experiment.Spec
	values experiment.Knobs // without delays
	span   int64            // ns until the drain
}

// delaysKnob is the one that exploration turns. What the spec says of it is left out.
const delaysKnob = "explore.delays"

func newSystem(spec experiment.Spec) (s system, err error) {
	if s.spec, err = spec.With(experiment.Knobs{delaysKnob: exploration.FormatDelays(nil)}); err != nil {
		return s, err
	}
	if s.values, err = experiment.Resolve(s.spec); err != nil {
		return s, err
	}
	s.span = int64(s.values.Int("warmup_ns") + s.values.Int("duration_ns"))
	switch {
	case s.values.Text("check") != "full":
		err = &experiment.SpecError{Field: "check", Value: s.values.Text("check"), Rule: "an exploration is judged by the checks", Next: "set check=full"}
	case s.values.Int("duration_ns") == 0:
		err = &experiment.SpecError{Field: "duration_ns", Value: "0", Rule: "an exploration needs to know how long a run is", Next: "set it to what a few requests take, such as duration_ns=100us, and warmup_ns=1us"}
	}
	return s, err
}

// with is the spec of a run.
func (s *system) with(delays []exploration.Delay) experiment.Spec {
	spec := s.spec
	spec.Set = maps.Clone(spec.Set)
	spec.Set[delaysKnob] = exploration.FormatDelays(delays)
	return spec
}

// outcome is what a run has come to.
type outcome struct {
	messages   int
	order      uint64
	kind, text string // what is wrong; "": nothing
	more       []string
}

// run runs the system with some messages delayed. An error is one of the spec or the context: what goes wrong in the system is
// an outcome.
func (s *system) run(ctx context.Context, delays []exploration.Delay) (o outcome, err error) {
	sys, err := engine.OpenExplored(s.with(delays))
	if err != nil {
		return o, err
	}
	defer sys.Close()
	if err = sys.Advance(s.span); err == nil {
		err = sys.DrainWith(ctx, nil)
	}
	if cerr := ctx.Err(); cerr != nil {
		return o, cerr
	}
	o.messages, o.order = sys.Explored().Messages(), sys.Explored().Order()
	if err != nil {
		o.kind = "failure"
		o.text, _, _ = strings.Cut(err.Error(), "\n") // without the stack
		return o, nil
	}
	o.judge(sys.Checks())
	return o, nil
}

// judge takes in the verdict of the checks. What the claim allows, as a stale snapshot, is none.
func (o *outcome) judge(c *result.Checks) {
	var found []string
	for _, a := range c.Anomalies {
		if !a.Breaks {
			continue
		}
		if o.kind == "" {
			o.kind, o.text = a.Kind, a.Text
			continue
		}
		found = append(found, a.Kind+": "+a.Text)
	}
	for _, text := range c.Findings() {
		if o.kind == "" {
			o.kind, _ = c.Fault()
			o.text = text
			continue
		}
		found = append(found, text)
	}
	if o.kind == "" && c.Incomplete != "" {
		o.kind, o.text = "rest", c.Incomplete
	}
	o.more = found
}

// shrink takes delays away, and makes those that are left shorter, while what is wrong stays of the same kind. With an error
// the counterexample is as short as it has become.
func (e *explorer) shrink(delays []exploration.Delay, r outcome) (Counterexample, error) {
	var err error
	for again := true; again && err == nil; {
		delays, r, again, err = e.shrinkOnce(delays, r)
	}
	x := Counterexample{Delays: exploration.FormatDelays(delays), Kind: r.kind, Text: r.text, More: r.more}
	v := e.sys.values.Clone()
	v[delaysKnob] = x.Delays
	spec, serr := experiment.SpecOf(e.sys.spec.Name, v)
	x.Spec = spec
	return x, cmp.Or(err, serr)
}

// shrinkOnce looks for a shorter list.
func (e *explorer) shrinkOnce(delays []exploration.Delay, r outcome) ([]exploration.Delay, outcome, bool, error) {
	for i := range delays {
		for _, d := range shorter(delays, i) {
			x, err := e.sys.run(e.ctx, d)
			if err != nil {
				return delays, r, false, err
			}
			if x.kind == r.kind {
				return d, x, true, nil
			}
		}
	}
	return delays, r, false, nil
}

// shorter are lists without the i-th delay, and with shorter ones in its place.
func shorter(delays []exploration.Delay, i int) (list [][]exploration.Delay) {
	for u := range delays[i].Units {
		var d []exploration.Delay
		for k, x := range delays {
			if k == i {
				x.Units = u
			}
			if x.Units > 0 {
				d = append(d, x)
			}
		}
		list = append(list, d)
	}
	return list
}
