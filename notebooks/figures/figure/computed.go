package figure

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"drtmx/cluster/keep"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/notebooks/figures/prediction"
)

// Some figures are about models alone: they are computed, and no system runs. What is computed is kept beside the results of
// runs.

// ComparePackage is what computes, by its path in the module.
const ComparePackage = "xstore/model/compare"

// Computing is a figure that is being computed.
type Computing struct {
	Ctx    context.Context
	Scale  string
	store  keep.Computing // nil: nothing is kept
	report func(done, total int)

	done, Total int // steps
}

// computed is the figure without runs.
func (r *Recipe) computed(ctx context.Context, scale string, cache batch.Cache, report func(done, total int, soFar func() *Figure)) (*Figure, error) {
	began := time.Now()
	f := r.points(scale, nil)
	c := &Computing{Ctx: ctx, Scale: scale, report: func(done, total int) {
		report(done, total, func() *Figure {
			f := r.points(scale, nil)
			f.Partial = &Partial{done, total}
			return f
		})
	}}
	c.store, _ = cache.(keep.Computing)
	if err := r.Definition.Compute(c, f); err != nil {
		return nil, err
	}
	r.judge(f)
	f.References = f.references()
	f.WallMS = time.Since(began).Milliseconds()
	return f, nil
}

// Step is what a function of a package gives for its options, from the store where it is known. A step that was begun is
// finished and kept, also when the context ends: only no client waits for it then.
func Step[O, D any](c *Computing, name string, o O, of func(O) (*D, error)) (*D, error) {
	if err := c.Ctx.Err(); err != nil {
		return nil, err
	}
	work := func() ([]byte, error) {
		d, err := of(o)
		if err != nil {
			return nil, err
		}
		return json.Marshal(d)
	}
	type outcome struct {
		body []byte
		err  error
	}
	ended := make(chan outcome, 1)
	go func() {
		var out outcome
		if c.store == nil {
			out.body, out.err = work()
		} else {
			out.body, out.err = c.store.Compute(ComparePackage, name, o, work)
		}
		ended <- out
	}()
	select {
	case <-c.Ctx.Done():
		return nil, c.Ctx.Err()
	case out := <-ended:
		if out.err != nil {
			return nil, out.err
		}
		c.done++
		c.report(c.done, max(c.done, c.Total))
		d := new(D)
		return d, json.Unmarshal(out.body, d)
	}
}

// NumberOf is one of the numbers beside the picture.
func (f *Figure) NumberOf(series, name string) (Number, bool) {
	if f.Computed == nil {
		return Number{}, false
	}
	for _, n := range f.Computed.Numbers {
		if n.Series == series && n.Name == name {
			return n, true
		}
	}
	return Number{}, false
}

// numbers are those beside the picture as text: a row for each of the things compared.
func (f *Figure) numbers() string {
	rows := f.numberCells()
	if rows == nil {
		return ""
	}
	return "\n" + prediction.Aligned(rows)
}

// numberTable is numbers for a page.
func (f *Figure) numberTable() string {
	rows := f.numberCells()
	if rows == nil {
		return ""
	}
	return charts.Table("", rows).HTML()
}

// numberCells are the numbers as rows, the head first: a column for each name, which has its unit.
func (f *Figure) numberCells() [][]string {
	if f.Computed == nil || len(f.Computed.Numbers) == 0 {
		return nil
	}
	var series, names []string
	units := map[string]string{}
	for _, n := range f.Computed.Numbers {
		if !slices.Contains(series, n.Series) {
			series = append(series, n.Series)
		}
		if !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
		units[n.Name] = n.Unit
	}
	rows := [][]string{{""}}
	for _, name := range names {
		if unit := units[name]; unit != "" {
			name += " (" + unit + ")"
		}
		rows[0] = append(rows[0], name)
	}
	for _, s := range series {
		row := []string{s}
		for _, name := range names {
			text := ""
			if n, ok := f.NumberOf(s, name); ok {
				text = charts.Digits(n.Value, 4)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}
