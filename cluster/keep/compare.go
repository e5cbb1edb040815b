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

// number is a metric of a side with the half of its interval, as a share; why says why that is not known.
func (s *side) number(d result.Diff, ofRun float64) (x, share float64, why string, known bool) {
	if s.means == nil {
		share, why, known = s.first.Interval(d.Metric)
		return ofRun, share, why, known
	}
	m := s.means[d.Metric]
	switch {
	case m.N < 2:
		return m.Mean, 0, "there is one seed", false
	case m.Mean == 0:
		return 0, 0, "", true
	}
	return m.Mean, m.Half95 / math.Abs(m.Mean), "", true
}

// meansDiff is the difference of two sides in a metric. Their intervals are independent: the share of that of the quotient is that
// of both together.
func meansDiff(d result.Diff, sides [2]side) result.Diff {
	a, shareA, whyA, knownA := sides[0].number(d, d.A)
	b, shareB, whyB, knownB := sides[1].number(d, d.B)
	out := result.Diff{Metric: d.Metric, A: a, B: b}
	change := (b - a) / a
	if math.IsInf(change, 0) || math.IsNaN(change) {
		return out
	}
	out.Change = &change
	switch half := math.Abs(b/a) * math.Hypot(shareA, shareB); {
	case knownA && knownB:
		out.Half95 = half
	case !knownA && whyA != "":
		out.Why = "of the first, " + whyA
	case whyB != "":
		out.Why = "of the second, " + whyB
	}
	return out
}
