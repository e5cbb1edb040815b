// Package experiment says what is to run: a Spec, and how it becomes the value of every knob.
//
// A Spec is a preset, a workload and a set of knobs; everything else has a default in the one registry (Registry), from
// which the command line, spec files, notebooks and the page's controls are generated. Resolve validates it; With puts
// further settings onto it, which mean what they mean live; SpecOf is the shortest spec of given values.
//
// A Spec may list up to four systems to run side by side (systems.go): Each has a Spec for every one of them. Callers
// that need one system get an error from Resolve.
//
// parts.go is the only list of protocols and workloads. Each brings its knobs, rules and footprint; what a change of
// some knobs means for others is engine/knob's. Estimate tells beforehand what a spec will take.
//
// The numbers of the hardware profile are knobs beside the registry, hardware.NUMBER. Only those that are set, to
// something else than the profile says, are part of resolved values and results; systems are built with them, so that
// they do not change live.
package experiment
