package explore

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/exploration"
)

// ignoring is a system that is wrong: a switch of the released code has its transactions commit whatever they meet.
func ignoring(script string) experiment.Knobs {
	return experiment.Knobs{"workload.variant": "as-published", "workload.script": script}
}

// many has several counterexamples.
func many(t testing.TB) experiment.Spec { return tiny(t, ignoring(crossWrites)) }

func explored(t *testing.T, spec experiment.Spec, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// An exploration in pieces finds what one at a stretch finds, however many systems run at a time.
func TestResume(t *testing.T) {
	whole := explored(t, many(t), Options{Bound: 1, Most: 1000, Parallel: 1})
	if len(whole.Found) < 3 || !whole.Complete || whole.Cursor != "" {
		t.Fatalf("not much to find:\n%s", whole)
	}
	if side := explored(t, many(t), Options{Bound: 1, Most: 1000, Parallel: 3}); !reflect.DeepEqual(side, whole) {
		t.Errorf("three at a time:\n%s\none:\n%s", side, whole)
	}
	for _, o := range []Options{{Budget: 37, Most: 1000}, {Most: 1}} {
		var found []Counterexample
		pieces := 0
		for o.Bound = 1; ; pieces++ {
			r := explored(t, many(t), o)
			found = append(found, r.Found...)
			if r.Complete {
				if r.Runs != whole.Runs || !reflect.DeepEqual(r.ByDelays, whole.ByDelays) {
					t.Errorf("%d runs in the end, %d at a stretch", r.Runs, whole.Runs)
				}
				break
			}
			o.Resume = r.Cursor
		}
		if pieces < 2 || !reflect.DeepEqual(found, whole.Found) {
			t.Errorf("%+v: %d pieces found %d, at a stretch %d", o, pieces, len(found), len(whole.Found))
		}
	}
}

// A resume on a level that is extended runs it again, for the next one follows from it.
func TestResumeBetweenLevels(t *testing.T) {
	spec := tiny(t, experiment.Knobs{"workload.script": "w0; w0"})
	whole := explored(t, spec, Options{Steps: 1, Budget: 150})
	first := explored(t, spec, Options{Steps: 1, Budget: 20})
	then := explored(t, spec, Options{Steps: 1, Budget: 130, Resume: first.Cursor})
	if then.Replayed != 20 || then.Runs != whole.Runs || then.Cursor != whole.Cursor || then.Orders != whole.Orders || then.Pruned != whole.Pruned {
		t.Errorf("in two pieces:\n%s\nat a stretch:\n%s", then, whole)
	}
}

// A context that ends leaves a cursor that goes on.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	n := 0
	r, err := Run(ctx, many(t), Options{Bound: 1, Most: 1000, Progress: func(_, done, total int) {
		if n++; n == 30 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || r == nil || r.Runs < 30 || r.Complete {
		t.Fatalf("%v, %v", r, err)
	}
	if rest := explored(t, many(t), Options{Bound: 1, Most: 1000, Resume: r.Cursor}); !rest.Complete {
		t.Error(rest)
	}
}

// Delays that a counterexample does not need are taken away, and the others made shorter.
func TestShrink(t *testing.T) {
	e, err := newExplorer(context.Background(), tiny(t, ignoring("w0 w1; r0 r1")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	long := []exploration.Delay{{Message: 2, Units: 4}, {Message: 8, Units: 1}, {Message: 25, Units: 3}}
	r, err := e.sys.run(context.Background(), long)
	if err != nil || r.kind != "G-single" {
		t.Fatalf("%+v, %v", r, err)
	}
	if x, err := e.shrink(long, r); err != nil || x.Delays != "2:3" || x.Kind != r.kind || x.Spec.Set[delaysKnob] != "2:3" {
		t.Errorf("%+v, %v", x, err)
	}
	var stop context.CancelFunc
	e.ctx, stop = context.WithCancel(context.Background())
	stop()
	if x, err := e.shrink(long, r); !errors.Is(err, context.Canceled) || x.Delays != "2:4,8:1,25:3" {
		t.Errorf("interrupted: %+v, %v", x, err)
	}
}

// Without pruning there are more runs and no less to see.
func TestPruning(t *testing.T) {
	spec := tiny(t, experiment.Knobs{"workload.script": "w0; r0"})
	pruned := explored(t, spec, Options{Steps: 1})
	all := explored(t, spec, Options{Steps: 1, All: true})
	if pruned.Pruned == 0 || all.Pruned != 0 || all.Runs <= pruned.Runs || all.Orders < pruned.Orders {
		t.Errorf("pruned:\n%s\nall:\n%s", pruned, all)
	}
	t.Logf("%d of %d orders in %d of %d runs", pruned.Orders, all.Orders, pruned.Runs, all.Runs)
}

// Runs of one order have one history and one verdict, be the protocol right or wrong: so nothing is lost where one stands
// for the others.
func TestOneOrderIsOneHistory(t *testing.T) {
	for _, set := range []experiment.Knobs{
		{}, {"preset": "fasst"}, {"preset": "farm", "workload.script": "r0; w0; w0"}, {"cc": "nowait", "nowait.mode": "E/S"}, {"workload.script": "r8 i9; r9 i8; r8 r9"},
		ignoring(sameRecord), ignoring(crossWrites), ignoring("w0 w1; r0 r1"),
	} {
		sys, err := newSystem(tiny(t, set))
		if err != nil {
			t.Fatal(err)
		}
		type seen struct{ history, kind string }
		orders, shared := map[uint64]seen{}, 0
		for m := range 60 {
			for units := 1; units <= 3; units++ {
				list := []exploration.Delay{{Message: m, Units: units}}
				s, err := engine.OpenExplored(sys.with(list))
				if err != nil {
					t.Fatal(err)
				}
				var history bytes.Buffer
				if err := errors.Join(s.RecordHistory("h.jsonl", &history), s.Advance(sys.span), s.Drain()); err != nil {
					t.Fatal(err)
				}
				s.EndHistory()
				var o outcome
				o.judge(s.Checks())
				now, order := seen{timeless(history.String()), o.kind}, s.Explored().Order()
				if was, had := orders[order]; had {
					if shared++; was != now {
						t.Errorf("%v, %v: order %x with %v, and before with %v", set, list, order, now, was)
					}
				}
				orders[order] = now
				s.Close()
			}
		}
		if shared < 20 || len(orders) < 5 {
			t.Errorf("%v: %d orders, %d runs of one that was there", set, len(orders), shared)
		}
	}
}

// timeless is a history without times, and without the order of attempts.
func timeless(history string) string {
	lines := strings.Split(times.ReplaceAllString(history, ""), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

var times = regexp.MustCompile(`"(id|begin_ns|end_ns)":\d+,`)

func TestRefusals(t *testing.T) {
	cursor := explored(t, many(t), Options{Budget: 1}).Cursor
	for _, c := range []struct {
		says string
		set  experiment.Knobs
		opt  Options
	}{
		{"bound", nil, Options{Bound: -1}},
		{"steps", nil, Options{Steps: -2}},
		{"check", experiment.Knobs{"check": "off"}, Options{}},
		{"duration_ns", experiment.Knobs{"duration_ns": 0}, Options{}},
		{"is no cursor", nil, Options{Resume: "2.x"}},
		{"another spec", nil, Options{Resume: cursor}},
		{"another spec", ignoring(crossWrites), Options{Resume: cursor, Steps: 1}},
	} {
		r, err := Run(context.Background(), tiny(t, c.set), c.opt)
		if err == nil || !experiment.IsSpecError(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v %+v: %v, %v; want an error with %q", c.set, c.opt, r, err, c.says)
		}
	}
}

// BenchmarkSchedule is one run of the default spec, from its opening to the verdict.
func BenchmarkSchedule(b *testing.B) {
	sys, err := newSystem(tiny(b, nil))
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if o, err := sys.run(context.Background(), []exploration.Delay{{Message: i % 100, Units: 1}}); err != nil || o.kind != "" {
			b.Fatal(o, err)
		}
	}
}
