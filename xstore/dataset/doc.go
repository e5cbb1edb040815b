// Package dataset has the keys that the experiments of chapter 3 load: linear, noised linear, lognormal,
// OSM-like longitudes (Table 3-2, §3.5.2), the keys of TPC-C's order lines, and files in the format of SOSD.
//
// Each is a store.Keys: the i-th key is computed from i and a seed, so that 500 million keys take no memory
// and are there at once. Append computes a run of neighbours several times as fast as one by one.
//
// # How a random set can be computed from the number of a key
//
// A range of key space with m keys is halved again and again. How many of the m keys are in the lower half is
// drawn from a hash of the halving alone, so a search for the i-th key takes the way to it without
// drawing the others. Drawn with equal chance for both halves, the keys are uniformly random (noised linear,
// lognormal, order lines: in strata of a few hundred keys); drawn with a share that is random too, they are
// clustered at every scale (OSM).
//
// # What is assumed
//
// The chapter states neither the spacing of the linear keys, nor the noise, nor the parameters of the
// lognormal distribution, nor how order lines are packed and sampled. What we take stands with its reason and
// with a band beside the constants: Stride, NoiseMin to NoiseMax, SigmaMin to SigmaMax, RoughMin to RoughMax,
// WarehousesMin.
//
// # Left out
//
//   - OpenStreetMap's own data: the set osm is a stand-in, like it in being irregular at all scales and
//     unlike it in everything else. A SOSD file of OSM's cells can be loaded instead.
//   - Files with duplicate keys: they are refused.
package dataset
