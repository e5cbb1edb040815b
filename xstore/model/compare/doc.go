// Package compare sets models beside each other on given keys: the data of Figures 3-12 (sub-models), 3-13 and 3-14 (top
// models), and 3-22a (memory). It computes, it measures nothing: what training costs is told in products, not in time.
//
// # Left out
//
// Throughput and latency of the alternatives (Figures 3-13c and 3-14c) are the simulator's.
package compare
