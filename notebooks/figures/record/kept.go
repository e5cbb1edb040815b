package record

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"drtmx/cluster/job"
	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/notebooks/figures/figure"
)

// Known is what there is of a figure with the thesis's knobs before anything is computed, false for nothing: what the user's run
// store has or the record, whichever this program would compute again as it is; of two such that at paper scale, then the later one.
func Known(r *figure.Recipe) (job.KnownFigure, bool) {
	var best *job.KnownFigure
	if h, err := headOf(r.ID()); h != nil && err == nil { // a test reads all of them
		if len(h.Systems) == 0 && r.Definition.Compute == nil { // a table takes no run: it is of this program whenever it is asked for
			return job.KnownFigure{Scale: h.Scale, WallMS: h.WallMS, Claims: h.Claims, Load: func() (job.Figure, error) {
				return r.RunWith(context.Background(), h.Scale, nil, nil, nil)
			}}, true
		}
		best = &job.KnownFigure{Scale: h.Scale, WallMS: h.WallMS, Claims: h.Claims, Made: h.made(r), Load: func() (job.Figure, error) { return Find(r) }}
	}
	for _, scale := range []string{figure.Quick, figure.Paper} {
		row, ok := keptFigures()[keptAs(r.ID(), scale)]
		if !ok {
			continue
		}
		made := &job.Made{At: row.At(), Code: row.Code, Kept: true, Differs: row.Code != r.Code(scale)}
		if best != nil && !better(scale, made, best) {
			continue
		}
		f, err := load(r, row.ID)
		if err != nil { // it has been deleted since
			continue
		}
		f.Made = made
		best = &job.KnownFigure{Scale: scale, WallMS: f.WallMS, Claims: f.Verdicts(), Made: made, Load: func() (job.Figure, error) { return f, nil }}
	}
	if best == nil {
		return job.KnownFigure{}, false
	}
	return *best, true
}

// better says that a kept figure is to be shown in place of another one.
func better(scale string, made *job.Made, than *job.KnownFigure) bool {
	if made.Differs != than.Made.Differs {
		return !made.Differs
	}
	rank := map[string]int{figure.Quick: 0, figure.Paper: 1}
	return cmp.Or(cmp.Compare(rank[scale], rank[than.Scale]), made.At.Compare(than.Made.At)) > 0
}

// keptAs is how a kept figure with the thesis's knobs is told apart; what became of its claims follows a colon.
func keptAs(id, scale string) string { return id + " " + scale }

// keptFigures are those that the run store had when the program began to ask, the latest of each.
var keptFigures = sync.OnceValue(func() map[string]runs.Kept {
	out := map[string]runs.Kept{}
	s, err := runs.Default()
	if err != nil {
		return out // the store says so where it is asked to keep something
	}
	list, err := s.List(runs.Filter{Kind: runs.KindFigure, Until: time.Now()})
	if err != nil {
		return out
	}
	for _, k := range list {
		name, _, _ := strings.Cut(k.About, ":")
		if _, later := out[name]; !later {
			out[name] = k
		}
	}
	return out
})

// load is a kept figure with its runs, as far as the store has them still.
func load(r *figure.Recipe, id runs.ID) (*figure.Figure, error) {
	s, err := runs.Default()
	if err != nil {
		return nil, err
	}
	k, err := keep.Load(s, id.String())
	if err != nil {
		return nil, err
	}
	v, err := k.Value()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return r.Read(text)
}
