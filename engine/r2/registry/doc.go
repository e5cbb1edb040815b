// Package registry has the RPCs of a cluster by the ids that requests carry: their names, and how each is served.
package registry
