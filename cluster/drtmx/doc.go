// Command drtmx starts live clusters, runs specs, sweeps and figures, verifies
// the calibration and replays sessions.
//
// JSON goes to standard output alone; progress and everything else that is said
// on the way goes to standard error. The exit status is 0 on success, 1 for a
// run or check that failed, 2 for bad usage or a bad spec, with one line that
// names field, value, rule and next step. Ctrl-C ends a run after the slice of
// virtual time that it is in.
//
// commands.go is the table of the commands; what makes each is in the file or room of its name.
package main
