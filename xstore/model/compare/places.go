package compare

import (
	"fmt"
	"math"

	"drtmx/xstore/dataset"
)

// PlacesOptions are those of Places.
type PlacesOptions struct {
	Set  dataset.Options // of OSM-like places; its seed is that of the first set
	Sets int             // sets of so many keys, each with a seed of its own
	Sub  SubOptions
}

// PlacesData is Figure 3-12: a single set of a hundred keys is a matter of chance, so errors are means over several.
type PlacesData struct {
	Keys   []Vector   // of the first set
	First  []SubModel // on these
	Models []Spread   // in the same order, on all sets
}

// Spread is how an alternative does on several sets.
type Spread struct {
	Name                string
	MaxError, MaxCI95   float64 // mean of the largest errors, and half of its 95 % interval
	MeanError, MeanCI95 float64 // of the mean errors
	Bytes               float64 // mean
	Work                int64   // largest
	largest, mean       []float64
}

// Places computes Figure 3-12.
func Places(o PlacesOptions) (*PlacesData, error) {
	if o.Sets < 1 {
		return nil, fmt.Errorf("%d sets of places: at least 1", o.Sets)
	}
	d := &PlacesData{}
	for i := range o.Sets {
		set := o.Set
		set.Seed += uint64(i)
		points, err := dataset.NewOSMPoints(set)
		if err != nil {
			return nil, err
		}
		keys := make([]Vector, points.Len())
		f := points.Fields()
		for j := range keys {
			k := points.Key(uint64(j))
			keys[j] = Vector{float32(f[0].Of(k)), float32(f[1].Of(k))}
		}
		list, err := SubModels(keys, o.Sub)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			d.Keys, d.First, d.Models = keys, list, make([]Spread, len(list))
		}
		for j := range list {
			d.Models[j].add(&list[j])
		}
	}
	for i := range d.Models {
		d.Models[i].close(float64(o.Sets))
	}
	return d, nil
}

func (s *Spread) add(m *SubModel) {
	s.Name = m.Name
	s.largest, s.mean = append(s.largest, m.MaxError), append(s.mean, m.MeanError)
	s.Bytes += float64(m.Bytes)
	s.Work = max(s.Work, m.Work)
}

func (s *Spread) close(n float64) {
	s.MaxError, s.MaxCI95 = meanOf(s.largest)
	s.MeanError, s.MeanCI95 = meanOf(s.mean)
	s.Bytes /= n
}

// meanOf is the mean with half of its 95 % interval, by the normal distribution; of one number the interval is unknown and 0.
func meanOf(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	squares := 0.0
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return mean, 1.96 * math.Sqrt(squares/(n-1)/n)
}
