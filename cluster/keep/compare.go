package keep

import (
	"math"
	"slices"

	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/result"
)

// Compare compares two kept runs, or runs in them. A row of several seeds is compared by its means.
func Compare(s *runs.Store, a, b string) (*result.Comparison, error) {
	var sides [2]side
	for i, ref := range []string{a, b} {
		k, err := Load(s, ref)
		if err != nil {
			return nil, err
		}
		if sides[i], err = k.side(); err != nil {
			return nil, err
		}
	}
	c := result.Compare(sides[0].first, sides[1].first)
	if sides[0].means == nil && sides[1].means == nil {
		return c, nil
	}
	c.Spec = slices.DeleteFunc(c.Spec, func(d result.SpecDiff) bool { return d.Knob == "seed" }) // that of the first of them
	c.Metrics = slices.DeleteFunc(c.Metrics, func(d result.Diff) bool { return !sides[0].has(d.Metric) || !sides[1].has(d.Metric) })
	for i := range c.Metrics {
		c.Metrics[i] = meansDiff(c.Metrics[i], sides)
	}
	return c, nil
}

// side is one side of a comparison: a run, or the means over seeds and the first of their runs.
type side struct {
	first *result.Result
	means map[string]batch.Mean // nil: one run
}

// IsSeeds says whether it is a row of several seeds, all of which are there.
func (k *Kept) IsSeeds() bool { return k.Form == formSeeds && len(k.Results) > 0 && k.Missing() == 0 }

func (k *Kept) side() (side, error) {
	if !k.IsSeeds() {
		r, err := k.Result()
		return side{r, nil}, err
	}
	v, err := k.Value()
	if err != nil {
		return side{}, err
	}
	return side{k.Results[0], v.(*batch.SeedsResult).Means}, nil
}

func (s *side) has(metric string) bool {
	_, ok := s.means[metric]
	return ok || s.means == nil
}

// number is a metric of a side with its interval.
func (s *side) number(metric string, ofRun float64) (float64, result.Interval) {
	if s.means == nil {
		return ofRun, result.IntervalOf(s.first, metric)
	}
	m := s.means[metric]
	switch {
	case m.N < 2:
		return m.Mean, result.Interval{Why: "there is one seed"}
	case m.Mean == 0:
		return 0, result.Interval{Known: true}
	}
	return m.Mean, result.Interval{Share: m.Half95 / math.Abs(m.Mean), Known: true}
}

// meansDiff is the difference of two sides in a metric.
func meansDiff(d result.Diff, sides [2]side) result.Diff {
	out := result.Diff{Metric: d.Metric}
	var of [2]result.Interval
	out.A, of[0] = sides[0].number(d.Metric, d.A)
	out.B, of[1] = sides[1].number(d.Metric, d.B)
	out.Relate(of[0], of[1])
	return out
}
