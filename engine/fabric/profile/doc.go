// Package profile is the hardware of a cluster as numbers: node types, and what everything costs. Each profile is
// a YAML file of this folder in which every number has its unit, its meaning and where it comes from. A file is
// parsed strictly and checked against the limits of the simulator; a number that is missing or unknown is an error
// that names it.
package profile
