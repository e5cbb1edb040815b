// Package batch has what is made of many runs: sweeps over knobs, seeds, and the causes of what limits a system.
//
// Runs go in parallel, one system to a goroutine, and their results do not depend on it. A Cache keeps results by the
// resolved spec and the version of the code, so that a sweep which is repeated computes what is missing.
//
// RunSystems runs the systems that a spec lists and compares them with the first.
//
// MeasureCauses runs a system with one part of what takes time a tenth faster: what that is worth is a cause.
package batch
