// Package lab has the points of sweeps and figures computed by a queue: by workers of a server on any number of machines,
// or by a worker in this process. Package work has the queue; it knows no specs.
//
// What only this process has, such as parts that were plugged in or files of this machine, is portable to no worker and
// is refused, so that the caller computes it himself.
package lab
