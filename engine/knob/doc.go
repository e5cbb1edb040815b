// Package knob says what can be set in a system: names, kinds, ranges, units and defaults, how typed text
// becomes a value, and the error of one that cannot be.
//
// The part that acts on a knob owns it: a protocol, a store, a workload or the engine makes its rows, with their
// documentation and the reasons why they may have no effect. Register puts them on the list from which
// the command line, spec files, notebooks and the page take theirs.
//
// Where things are: value.go parses what a person typed (Knob.Parse), row.go is a knob of the list, change.go is
// what a change means for other knobs, error.go what is said of a value that cannot be. Whole specs and KNOB=VALUE are read in
// engine/experiment.
//
// Values are what knobs are set to. What a change of some means for the others, such as of a preset for those that it
// governs, is not known here.
package knob
