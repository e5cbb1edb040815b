package dataset

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"drtmx/engine/store"
)

// Names of the sets, as the knob workload.dataset has them. A file is FilePrefix and its path.
const (
	LinearName    = "linear"
	NoisedName    = "noised"
	LognormalName = "lognormal"
	OSMName       = "osm"
	OrderLineName = "orderline"
	FilePrefix    = "sosd:"
)

// Names lists the sets that are computed.
var Names = []string{LinearName, NoisedName, LognormalName, OSMName, OrderLineName}

const (
	// Stride is how far linear keys lie apart, and others on average. Assumed: the chapter's clients insert keys that are
	// uniformly random and new among 100 million (YCSB D and E, 150 million of them in 60 s), so that there must be room
	// for several times as many between the initial ones.
	Stride = 64

	// Noise is the window of noised linear keys: each so many of them are uniformly random in the range that as many
	// linear keys have, so that a key is off its line by half the window's square root. Assumed: the keys of YCSB D and E
	// are "close to noised linear" (§3.7.2, footnote) and get theirs by uniformly random inserts; 256 is the next power of
	// two to the keys of one sub-model, beyond which a model sees no noise. NoiseMin moves keys within their own stride
	// alone; at NoiseMax it is that of ten sub-models.
	NoiseMin, Noise, NoiseMax = 1, 256, 4096

	// Sigma is that of the logarithm of lognormal keys. Assumed: 2 in the paper that proposed learned indexes (Kraska et
	// al., 2018, reference 98 of the thesis), which later ones took over. The band has the usual 1 and what float64
	// resolves.
	SigmaMin, Sigma, SigmaMax = 0.5, 2.0, 2.5

	// Rough is how unequally a range of OSM-like keys falls to its halves: the lower one has a share of 1/2 +- Rough/2.
	// Assumed, for there are no such data here: at 0.7 half of the keys are in an eighth of the degrees, which is about
	// how people live. At RoughMin they are in three tenths, at RoughMax in a twelfth.
	RoughMin, Rough, RoughMax = 0.3, 0.7, 0.8
)

// Options say which set it is. Zero values mean their defaults.
type Options struct {
	Name  string  // one of Names, or FilePrefix and a path
	Keys  uint64  // how many; of a file 0: all of them
	Seed  uint64  // sets with other seeds have other keys
	Noise int     // NoiseMin to NoiseMax: the window in which keys are uniformly random, for all but linear and OSM-like ones
	Sigma float64 // SigmaMin to SigmaMax
	Rough float64 // RoughMin to RoughMax
}

// Make makes a set.
func Make(o Options) (store.Keys, error) {
	if path, ok := strings.CutPrefix(o.Name, FilePrefix); ok {
		return Open(path, o.Keys)
	}
	if o.Noise == 0 {
		o.Noise = Noise
	}
	switch {
	case o.Keys < 1 || o.Keys > MostKeys:
		return nil, fmt.Errorf("data set %s of %d keys: from 1 to %d", o.Name, o.Keys, uint64(MostKeys))
	case o.Noise < NoiseMin || o.Noise > NoiseMax:
		return nil, fmt.Errorf("data set %s with a window of %d keys: from %d to %d", o.Name, o.Noise, NoiseMin, NoiseMax)
	}
	switch o.Name {
	case LinearName:
		return Linear(o.Keys), nil
	case NoisedName:
		return Noised(o.Keys, o.Noise, o.Seed), nil
	case LognormalName:
		return NewLognormal(o)
	case OSMName:
		return NewOSM(o)
	case OrderLineName:
		return NewOrderLine(o)
	}
	return nil, fmt.Errorf("data set %q: must be one of %s, or %sFILE", o.Name, strings.Join(Names, ", "), FilePrefix)
}

// MostKeys bounds a set that is computed.
const MostKeys = 1_000_000_000

// appender is a set that computes neighbours together.
type appender interface {
	append(dst []uint64, from, n uint64) []uint64
}

// Append appends n keys, from the from-th on: of a set of this package several times as fast as one by one.
func Append(dst []uint64, k store.Keys, from, n uint64) []uint64 {
	dst = slices.Grow(dst, int(n))
	if a, ok := k.(appender); ok {
		return a.append(dst, from, n)
	}
	for i := range n {
		dst = append(dst, k.Key(from+i))
	}
	return dst
}

// rankOf is Rank by binary search.
func rankOf(k store.Keys, key uint64) (uint64, bool) {
	n := k.Len()
	i := uint64(sort.Search(int(n), func(i int) bool { return k.Key(uint64(i)) >= key }))
	return i, i < n && k.Key(i) == key
}

// Linear are the first n multiples of Stride, without 0.
func Linear(n uint64) store.Keys { return linear{n} }

type linear struct{ n uint64 }

func (l linear) Len() uint64         { return l.n }
func (l linear) Key(i uint64) uint64 { return (i + 1) * Stride }

func (l linear) Rank(key uint64) (uint64, bool) {
	i := (key + Stride - 1) / Stride
	switch {
	case key > l.n*Stride:
		return l.n, false
	case i == 0:
		return 0, false
	}
	return i - 1, key%Stride == 0
}

// Noised are n keys in the range of as many linear ones, uniformly random within windows of so many.
func Noised(n uint64, window int, seed uint64) store.Keys {
	return &noised{newSample(n, n*Stride, uint64(window), seed)}
}

type noised struct{ s sample }

func (x *noised) Len() uint64         { return x.s.n }
func (x *noised) Key(i uint64) uint64 { return Stride + x.s.key(i) }

func (x *noised) Rank(key uint64) (uint64, bool) {
	if key < Stride {
		return 0, false
	}
	return x.s.rank(key - Stride)
}

func (x *noised) append(dst []uint64, from, n uint64) []uint64 {
	first := len(dst)
	dst = x.s.append(dst, from, n)
	for i := first; i < len(dst); i++ {
		dst[i] += Stride
	}
	return dst
}

// Lognormal are keys whose logarithms are normally distributed: a sample of the distribution, stretched so that the
// largest is about 2^62.
type Lognormal struct {
	s            sample
	sigma, scale float64
}

// lognormalGrain is the least distance of two keys of the sample, in their mean distance: it keeps them apart behind
// the distribution too.
const lognormalGrain = 256

// NewLognormal makes a set of lognormal keys.
func NewLognormal(o Options) (*Lognormal, error) {
	if o.Sigma == 0 {
		o.Sigma = Sigma
	}
	if !(o.Sigma >= SigmaMin && o.Sigma <= SigmaMax) {
		return nil, fmt.Errorf("data set %s with sigma %g: from %g to %g", LognormalName, o.Sigma, SigmaMin, SigmaMax)
	}
	x := &Lognormal{s: newSample(o.Keys, o.Keys*lognormalGrain, uint64(max(o.Noise, 1)), o.Seed), sigma: o.Sigma}
	x.scale = float64(1<<62) / x.value(x.s.size-1)
	// Keys are closest where the density is highest, which is exp(sigma^2/2) / (sigma sqrt(2 pi)).
	density := expOf(float64(o.Sigma*o.Sigma)/2) / float64(o.Sigma*2.5066282746310002)
	if x.scale/float64(density*float64(x.s.size)) < 1.5 {
		return nil, fmt.Errorf("data set %s with sigma %g: %d keys are too many to differ in 64 bits", LognormalName, o.Sigma, o.Keys)
	}
	return x, nil
}

// value is that of a place of the sample, not stretched.
func (x *Lognormal) value(u uint64) float64 {
	return expOf(float64(x.sigma * quantile((float64(u)+0.5)/float64(x.s.size))))
}

func (x *Lognormal) of(u uint64) uint64 { return uint64(math.Floor(float64(x.value(u) * x.scale))) }

// Len is the number of keys.
func (x *Lognormal) Len() uint64 { return x.s.n }

// Key is the i-th.
func (x *Lognormal) Key(i uint64) uint64 { return x.of(x.s.key(i)) }

// Rank searches.
func (x *Lognormal) Rank(key uint64) (uint64, bool) { return rankOf(x, key) }

func (x *Lognormal) append(dst []uint64, from, n uint64) []uint64 {
	first := len(dst)
	dst = x.s.append(dst, from, n)
	for i := first; i < len(dst); i++ {
		dst[i] = x.of(dst[i])
	}
	return dst
}
