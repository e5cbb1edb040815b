// Package compare sets models beside each other on given keys: the data of Figures 3-12 (sub-models), 3-13 and 3-14 (top
// models), and 3-22a (memory), and of data sets of any size. It computes, it measures nothing: what training costs is told in
// products, not in time. Equal options give equal data, on every machine.
//
// # Memory
//
// Tops holds the keys, 8 bytes each, and what it needs for each sub-model: 0.8 GB for 100 million keys.
//
// # Left out
//
// Throughput and latency of the alternatives (Figures 3-13c and 3-14c) are the simulator's.
package compare
