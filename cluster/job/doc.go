// Package job is the long work that an agent does beside its systems: figures, sweeps, and the causes of a system's
// throughput. All of it is one kind of job: it waits for its turn, since each takes every core, works with progress in the
// frames, can be cancelled by its name, and keeps its outcome for later requests.
//
// What computes figures is above this package and registers itself (SetFigures).
package job
