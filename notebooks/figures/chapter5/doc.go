// Package chapter5 has the figures of chapter 5: snapshots and timestamps on three clusters. Figures lists them. clusters.go has
// the clusters, the schemes and the loads that they share.
package chapter5
