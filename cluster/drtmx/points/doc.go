// Package points has the commands of a lab: worker computes the points of sweeps and figures, serve-work is the server between workers
// and those who send points.
package points
