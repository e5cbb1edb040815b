package calibration

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/figure"
)

// work is the experiments of some rows: the runs of all of them together, so that
// those which rows and figures share are done once.
type work struct {
	list    []measure
	specs   []experiment.Spec
	runs    [][2]int // of each row, where its runs are among specs
	figures []*figure.Recipe
	spans   [][2]int // and of each figure
}

func plan(list []measure) (*work, error) {
	w := &work{list: list}
	add := func(specs []experiment.Spec) [2]int {
		w.specs = append(w.specs, specs...)
		return [2]int{len(w.specs) - len(specs), len(w.specs)}
	}
	seen := map[string]bool{}
	for _, m := range list {
		w.runs = append(w.runs, add(m.runs))
		if m.figure == "" || seen[m.figure] {
			continue
		}
		seen[m.figure] = true
		r, err := figures.Find(m.figure)
		if err != nil {
			return nil, err
		}
		specs, err := r.Specs(figure.Quick)
		if err != nil {
			return nil, err
		}
		w.figures, w.spans = append(w.figures, r), append(w.spans, add(specs))
	}
	return w, nil
}

// steps is how often run reports progress.
func (w *work) steps() int {
	n := len(w.specs)
	for _, m := range w.list {
		if m.profile != "" {
			n++
		}
	}
	return n
}

// outcome is what rows are read from.
type outcome struct {
	numbers []float64 // by row, unless a figure claims it
	claims  map[string]figure.Claim
}

// run does the experiments, on hardware of its own or, with none, on that of the
// shipped profiles. step counts them and may be called from several goroutines.
func (w *work) run(ctx context.Context, on *profile.Profile, cache batch.Cache, step func()) (*outcome, error) {
	specs := w.specs
	if on != nil {
		specs = make([]experiment.Spec, len(w.specs))
		for i, s := range w.specs {
			specs[i] = s.On(on)
		}
	}
	again := figure.MeasureAgain
	if on != nil { // what is fitted to moves with the numbers only
		again = nil
	}
	counted := 0
	results, err := batch.RunAll(ctx, specs, batch.SweepOptions{Cache: cache, Repeat: again, Progress: func(done, total int) {
		for want := len(specs) * done / total; counted < want; counted++ { // equal runs are done once
			step()
		}
	}})
	if err != nil {
		return nil, err
	}
	out := &outcome{claims: map[string]figure.Claim{}}
	for i, r := range w.figures {
		for _, c := range r.From(figure.Quick, results[w.spans[i][0]:w.spans[i][1]]).Claims {
			out.claims[c.ID] = c
		}
	}
	if out.numbers, err = w.probes(ctx, on, step); err != nil {
		return nil, err
	}
	for i, m := range w.list {
		if m.read != nil {
			out.numbers[i] = m.read(results[w.runs[i][0]:w.runs[i][1]])
		}
		if _, ok := out.claims[m.id]; m.figure != "" && !ok {
			return nil, fmt.Errorf("%s: figure %s has no such claim", m.id, m.figure)
		}
	}
	return out, nil
}

// probes asks the hardware model.
func (w *work) probes(ctx context.Context, on *profile.Profile, step func()) ([]float64, error) {
	out, errs := make([]float64, len(w.list)), make([]error, len(w.list))
	var next atomic.Int64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(w.list) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if m := &w.list[i]; m.profile != "" {
					out[i], errs[i] = m.asked(on)
					step()
				}
			}
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.list[i].id, err)
		}
	}
	return out, ctx.Err()
}

// asked is the number of the given hardware, or of the shipped one.
func (m *measure) asked(on *profile.Profile) (float64, error) {
	if on != nil {
		return m.ask(on)
	}
	p, err := profile.Load(m.profile)
	if err != nil {
		return 0, err
	}
	return m.ask(p)
}
