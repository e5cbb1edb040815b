package dataset

import "fmt"

// OSM are OSM-like longitudes: a stand-in for the places of OpenStreetMap, not its data. The degrees from -180 to 180
// are 2^50 places, and each range of them falls to its halves unequally, by a share that is random for each: a
// multiplicative cascade. So keys cluster in parts of the world, in countries, towns and streets alike, the
// distribution has no smooth part at any scale, and most sub-models see another slope.
//
// The OSM of figure 3-12 has vectors of two floats: NewOSMPoints.
type OSM struct {
	halves halving
	all    part
}

const osmBits = 50

// NewOSM makes a set of longitudes.
func NewOSM(o Options) (*OSM, error) {
	h, err := roughHalves(o)
	return &OSM{h, part{seeded(o.Seed, osmBits), 0, 1 << osmBits, o.Keys}}, err
}

func roughHalves(o Options) (halving, error) {
	if o.Rough == 0 {
		o.Rough = Rough
	}
	if !(o.Rough >= RoughMin && o.Rough <= RoughMax) {
		return halving{}, fmt.Errorf("data set %s with a roughness of %g: from %g to %g", OSMName, o.Rough, RoughMin, RoughMax)
	}
	return halving{rough: uint64(float64(o.Rough * (1 << 32)))}, nil
}

// Len is the number of keys.
func (x *OSM) Len() uint64 { return x.all.m }

// Key is the i-th.
func (x *OSM) Key(i uint64) uint64 { return x.halves.key(x.all, i) }

// Rank goes down the halves.
func (x *OSM) Rank(key uint64) (uint64, bool) {
	if key >= x.all.hi {
		return x.all.m, false
	}
	return x.halves.rank(x.all, key)
}

func (x *OSM) append(dst []uint64, from, n uint64) []uint64 {
	return x.halves.append(dst, x.all, from, n)
}

// OSMPoints are OSM-like places, each a longitude and a latitude of four bytes, which cluster alike. The longitude
// is the upper half of a key.
type OSMPoints struct{ lon OSM }

const (
	lonBits = 24 // whatever is finer, floats near 180 do not tell apart
	latBits = 20
	// cellBits of a longitude decide how its latitudes are spread: 360/64 degrees have a map of their own.
	cellBits = 6
)

// MostPoints bounds their number, with room for clusters.
const MostPoints = 1 << 20

// NewOSMPoints makes a set of places.
func NewOSMPoints(o Options) (*OSMPoints, error) {
	if o.Keys < 1 || o.Keys > MostPoints {
		return nil, fmt.Errorf("data set %s of %d places in floats: from 1 to %d", OSMName, o.Keys, MostPoints)
	}
	h, err := roughHalves(o)
	return &OSMPoints{OSM{h, part{seeded(o.Seed, lonBits), 0, 1 << lonBits, o.Keys}}}, err
}

// Len is the number of places.
func (x *OSMPoints) Len() uint64 { return x.lon.Len() }

// Key is the i-th by longitude. No two have the same one.
func (x *OSMPoints) Key(i uint64) uint64 {
	at := x.lon.Key(i)
	lon := float64(float64(at)*(360.0/(1<<lonBits))) - 180
	lat := float64(float64(x.latitude(at))*(180.0/(1<<latBits))) - 90
	return uint64(ordered(float32(lon)))<<32 | uint64(ordered(float32(lat)))
}

// Rank searches.
func (x *OSMPoints) Rank(key uint64) (uint64, bool) { return rankOf(x, key) }

// Fields are the two floats.
func (x *OSMPoints) Fields() []Field {
	return []Field{{Name: "longitude", Shift: 32, Bits: 32, Float: true}, {Name: "latitude", Bits: 32, Float: true}}
}

// latitude draws one by the map of the longitude's cell.
func (x *OSMPoints) latitude(lon uint64) uint64 {
	hash, lat := seeded(x.lon.all.hash, lon>>(lonBits-cellBits)), uint64(0)
	draw := seeded(x.lon.all.hash, 1<<lonBits+lon)
	for range latBits {
		draw = mix(draw + golden)
		if lat *= 2; draw>>32 < x.lon.halves.share(mix(hash)) {
			hash = mix(hash ^ lowSeed)
		} else {
			hash = mix(hash ^ highSeed)
			lat++
		}
	}
	return lat
}
