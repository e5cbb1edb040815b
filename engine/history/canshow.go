package history

import "strings"

// WriteSkew is G2 between two transactions that each read what the other one writes, and
// write nothing in common. It is reported as G2.
const WriteSkew = "write-skew"

// Showable are the kinds that depend on which records transactions read and write: a workload
// may be unable to show them, however wrong the protocol is. What only comes with a lost update
// or with the read of an aborted version does not count as shown: these bring cycles of other
// kinds with them.
var Showable = []string{G0, G1a, G1b, G1c, LostUpdate, GSingle, G2, WriteSkew}

// Shows is a sentence on what the workload can show, "" where it is not stated.
func (r *Report) Shows() string {
	switch {
	case r == nil || r.CanShow == nil:
		return ""
	case len(r.CanShow) == 0:
		return "this workload can show no anomaly: nothing is written"
	}
	return "this workload can show " + strings.Join(r.CanShow, ", ") + "; other kinds at most as a consequence of these"
}
