package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// extreme is a choice of the values at the ends of a range, of a knob or of several.
type extreme struct {
	name   string
	values []experiment.Knobs
}

// extremesOf are those of a workload: the ends of its numbers, each type of its requests alone, how many machines, threads and
// coroutines there are, and for ordered stores which one it is.
func extremesOf(kind *workload.Kind, base experiment.Knobs) []extreme {
	out := []extreme{
		{"machines", []experiment.Knobs{{}, machines(kind, 1), machines(kind, 3)}},
		{"clients", []experiment.Knobs{{"coroutines": 1}, {"coroutines": 7}}},
	}
	var mixes []experiment.Knobs
	for _, t := range kind.Mix {
		alone := experiment.Knobs{}
		for _, other := range kind.Mix {
			alone["workload.mix."+other.Name] = 0
		}
		alone["workload.mix."+t.Name] = 100
		mixes = append(mixes, alone)
	}
	if len(mixes) > 1 {
		out = append(out, extreme{"mix", mixes})
	}
	for _, name := range kind.Knobs {
		if strings.HasPrefix(name, "workload.") && !experiment.IsGroup(name) && name != "workload.variant" { // which may be wrong on purpose
			if ends := endsOf(knob.Find(name), base); len(ends) > 1 {
				out = append(out, extreme{name, ends})
			}
		}
	}
	if kind.Ordered {
		var stores []experiment.Knobs
		for i := range experiment.Ordered {
			if s := &experiment.Ordered[i]; s.Open != nil && !strings.HasPrefix(s.Name, "xstore-") { // else for indexes alone, or with a planted fault
				stores = append(stores, experiment.Knobs{"store.ordered": s.Name})
			}
		}
		out = append(out, extreme{"store", stores})
	}
	return out
}

// alone keeps of an extreme what is not refused by itself, so that no other choice is hidden behind it.
func (x *extreme) alone(kind *workload.Kind, base experiment.Knobs, refused map[string]int) error {
	kept := x.values[:0]
	for _, v := range x.values {
		field, err := resolved(experiment.Spec{Workload: kind.Name, Set: joined(base, v)})
		switch {
		case err != nil:
			return err
		case field != "":
			refused[field]++
		default:
			kept = append(kept, v)
		}
	}
	x.values = kept
	return nil
}

// joined are knobs, the later ones over the others.
func joined(sets ...experiment.Knobs) experiment.Knobs {
	out := experiment.Knobs{}
	for _, set := range sets {
		for k, v := range set { // order-free: fills a map
			out[k] = v
		}
	}
	return out
}

// machines are so many that hold data, and a client where a workload has clients of their own.
func machines(kind *workload.Kind, n int) experiment.Knobs {
	if kind.Ordered {
		return experiment.Knobs{"servers": n, "clients": 1}
	}
	return experiment.Knobs{"nodes": n, "replicas": 1}
}

// endsOf are the values at the ends of a knob's range, with 1 and 2, and what is there by default.
func endsOf(k *knob.Row, base experiment.Knobs) (out []experiment.Knobs) {
	add := func(v any) {
		if !slices.ContainsFunc(out, func(o experiment.Knobs) bool { return o[k.Name] == v }) {
			out = append(out, experiment.Knobs{k.Name: v})
		}
	}
	if v, ok := base[k.Name]; ok {
		add(v)
	}
	switch least := k.Min.(type) {
	case int:
		most := k.Max.(int)
		for _, n := range []int{least, 1, 2, 8, most} {
			if n >= least && n <= most {
				add(n)
			}
		}
	case float64:
		add(least)
		add(k.Max)
	}
	if k.Kind == knob.Bool {
		add(false)
		add(true)
	}
	for _, c := range k.Choices {
		add(c)
	}
	return out
}

// extremeBytes is what a system of these tests may need at most: a larger one is only resolved.
var extremeBytes = workloadtest.Effort[int64](2<<30, 192<<20)

// At the ends of what its knobs take, two of them at a time, every workload and store runs, or it is refused as a bad spec that names
// a knob. Nothing panics, and nothing takes for ever. make soak takes larger ones too.
func TestExtremes(t *testing.T) {
	for i := range experiment.Workloads {
		kind := &experiment.Workloads[i]
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			base := experiment.Knobs{"threads": 1, "coroutines": 2, "warmup_ns": "2us", "duration_ns": "15us", "window_ns": "10us", "check": "full", "cache.bytes": "1MB"}
			for name, small := range map[string]any{"workload.keys": 64, "workload.scale": 0.01, "workload.accounts": 100, "workload.spare": 1000, "workload.orders": 50} { // order-free: fills a map
				if kind.Reads(name) {
					base[name] = small
				}
			}
			if kind.Ordered {
				base["xstore.trainers"] = 1
			}
			base = joined(base, machines(kind, 2))
			ran, refused := 0, map[string]int{}
			all := extremesOf(kind, base)
			levels := make([]int, len(all))
			for i := range all {
				if err := all[i].alone(kind, base, refused); err != nil {
					t.Fatal(err)
				}
				levels[i] = len(all[i].values)
			}
			all = slices.DeleteFunc(all, func(x extreme) bool { return len(x.values) == 0 })
			levels = slices.DeleteFunc(levels, func(n int) bool { return n == 0 })
			for _, row := range workloadtest.Pairs(levels) {
				set := base
				for i, at := range row {
					set = joined(set, all[i].values[at])
				}
				spec := experiment.Spec{Workload: kind.Name, Set: set}
				field, err := extremeRun(t.Context(), spec)
				switch {
				case err != nil:
					t.Errorf("%v: %v", words(set), err)
				case field != "":
					refused[field]++
				default:
					ran++
				}
			}
			t.Logf("%d ran, refused: %v", ran, refused)
			if ran == 0 {
				t.Errorf("none of them ran: %v", refused)
			}
		})
	}
}

// words are knobs as flags.
func words(set experiment.Knobs) string {
	var out []string
	for _, name := range experiment.SortedNames(set) {
		out = append(out, "--set "+name+"="+experiment.Format(name, set[name]))
	}
	return strings.Join(out, " ")
}

// resolved resolves a spec. field is the knob that it was refused for, "size" where it is more than these tests have time for.
func resolved(spec experiment.Spec) (field string, err error) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return refusedFor(err)
	}
	// All rows may be looked at in the end.
	if max(experiment.EstimateOfValues(v).MemoryBytes, experiment.Workloads.Of(v).Footprint(v).Bytes) > extremeBytes {
		return "size", nil
	}
	return "", nil
}

// extremeRun resolves a spec and runs it.
func extremeRun(ctx context.Context, spec experiment.Spec) (field string, err error) {
	if field, err = resolved(spec); err != nil || field != "" {
		return field, err
	}
	const long = 20 * time.Second
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	r, err := Run(ctx, spec, nil)
	switch {
	case err != nil && strings.Contains(err.Error(), "raise workload.orders"): // as it says, a run that needs more rows ends so
		return "rows", nil
	case err != nil:
		return refusedFor(err)
	case r.Checks.Failed() || math.IsNaN(r.Throughput) || math.IsInf(r.Throughput, 0):
		return "", fmt.Errorf("throughput %g, %v", r.Throughput, r.Checks)
	}
	return "", nil
}

// refusedFor is the knob that a bad spec names; what else went wrong stays an error.
func refusedFor(err error) (field string, _ error) {
	bad := new(experiment.SpecError)
	if !errors.As(err, &bad) {
		return "", err
	}
	if _, unknown := experiment.KnobName(bad.Field); unknown != nil {
		return "", fmt.Errorf("refused for %q, which is no knob: %w", bad.Field, err)
	}
	return bad.Field, nil
}
