package metrics

import (
	"math"
	"slices"
	"strings"
)

// Gauge is a number that a part of the system shows of itself: it is in windows and results, and page and notebook draw
// it without knowing more of it than this.
type Gauge struct {
	Part  string // "cache", "log": results group gauges by it
	Name  string // within the part
	Label string // for people, short: it stands beside a chart
	Unit  string // "%", "/s", "": of a share it is percent
	Kind  GaugeKind
	id    int
}

// GaugeKind says what a gauge makes of its readings.
type GaugeKind uint8

const (
	// Level is the reading as it is now.
	Level GaugeKind = iota
	// Rate is how much the reading grew in a second of virtual time.
	Rate
	// Share is by how much the reading grew of what its whole grew by, in percent.
	Share
	// Mean is by how much the reading grew for each one by which its number grew.
	Mean
	// Busiest is the largest Share of several parts, such as the cores of a machine: each Add is one of them, in an order that stays.
	Busiest
)

var gauges []*Gauge // program: a list

// NewGauge makes a gauge known. It is called while the program starts, by the part that reads it, and in a cell of a notebook, which may
// be run again: then it is the one that is known.
func NewGauge(g Gauge) *Gauge {
	for _, o := range gauges {
		g.id = o.id
		if *o == g {
			return o
		}
		if o.Key() == g.Key() {
			panic("metrics: another gauge is called " + g.Key() + " already: choose another name")
		}
	}
	g.id = len(gauges)
	gauges = append(gauges, &g)
	return &g
}

// Place is where the gauge is among all, in the order in which they were made known: further ones come behind.
func (g *Gauge) Place() int { return g.id }

// Named is a gauge by its part.name, nil if there is none.
func Named(key string) *Gauge {
	for _, g := range gauges {
		if part, name, _ := strings.Cut(key, "."); g.Part == part && g.Name == name {
			return g
		}
	}
	return nil
}

// Gauges are all that are known, those of a part beside each other.
func Gauges() []*Gauge {
	out := slices.Clone(gauges)
	slices.SortStableFunc(out, func(a, b *Gauge) int {
		if a.Part < b.Part {
			return -1
		}
		if a.Part > b.Part {
			return 1
		}
		return 0
	})
	return out
}

// Key is its name in windows: part.name.
func (g *Gauge) Key() string { return g.Part + "." + g.Name }

// Reading is what a gauge reads at one moment: n, and of a share the whole that it is of, or of a mean the number. Both are
// cumulative, but for a level.
type Reading struct{ N, Of float64 }

// Readings are those of all gauges at one moment; a gauge that was not read has none.
type Readings struct {
	of    []Reading
	read  []bool
	parts [][]Reading // of those that are of the busiest part
}

// NewReadings is empty.
func NewReadings() *Readings {
	return &Readings{make([]Reading, len(gauges)), make([]bool, len(gauges)), make([][]Reading, len(gauges))}
}

// Add adds to what a gauge reads: several machines may have the same part.
func (r *Readings) Add(g *Gauge, n, of float64) {
	if g.Kind == Busiest {
		r.parts[g.id], r.read[g.id] = append(r.parts[g.id], Reading{n, of}), true
		return
	}
	x := &r.of[g.id]
	x.N, x.Of, r.read[g.id] = x.N+n, x.Of+of, true
}

// Gauged is a part that reads gauges.
type Gauged interface{ Gauges(r *Readings) }

// Between is what the gauges show of the time between two moments, ps apart, in the order in which they were made known.
// NaN is nothing: it was not read, or there was nothing to take a share of.
func Between(from, to *Readings, ps int64) []float32 {
	out := make([]float32, len(to.of))
	for i := range out {
		out[i] = float32(math.NaN())
		if !to.read[i] {
			continue
		}
		a, b := Reading{}, to.of[i]
		if from != nil && i < len(from.of) {
			a = from.of[i]
		}
		switch n, of := b.N-a.N, b.Of-a.Of; {
		case gauges[i].Kind == Level:
			out[i] = float32(b.N)
		case gauges[i].Kind == Rate && ps > 0:
			out[i] = float32(n / (float64(ps) / 1e12))
		case gauges[i].Kind == Share && of > 0:
			out[i] = float32(100 * n / of)
		case gauges[i].Kind == Mean && of > 0:
			out[i] = float32(n / of)
		case gauges[i].Kind == Busiest:
			out[i] = busiest(from, to, i)
		}
	}
	return out
}

// busiest is the largest share of a gauge's parts, in percent.
func busiest(from, to *Readings, gauge int) float32 {
	most := float32(math.NaN())
	for k, b := range to.parts[gauge] {
		a := Reading{}
		switch {
		case from == nil:
		case gauge < len(from.parts) && k < len(from.parts[gauge]):
			a = from.parts[gauge][k]
		default: // it was not read then
			continue
		}
		if of := b.Of - a.Of; of > 0 {
			if x := float32(100 * (b.N - a.N) / of); !(most >= x) {
				most = x
			}
		}
	}
	return most
}

// Shown names what gauges show, by their keys; nil where they show nothing.
func Shown(values []float32) map[string]float64 {
	var out map[string]float64
	for i, x := range values {
		if x != x {
			continue
		}
		if out == nil {
			out = map[string]float64{}
		}
		out[gauges[i].Key()] = float64(x)
	}
	return out
}
