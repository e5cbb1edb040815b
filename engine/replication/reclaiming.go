package replication

import "drtmx/engine/knob"

// Reclaiming is how logs are told that an entry has done its work.
type Reclaiming uint8

// The ways.
const (
	Background Reclaiming = iota // by a message that no transaction waits for (§4.3.4)
	Resent                       // which carries the write set once more, as the released code's
	Awaited                      // likewise, and the transaction waits for the answers before it writes back: the released code without passive ACK
)

var reclaimings = []string{"background", "resent", "awaited"}

func (r Reclaiming) String() string { return reclaimings[r] }

// KnobReclaim says which.
const KnobReclaim = "log.reclaim"

// HasLog is what a protocol has for which the knobs of logs have an effect, see knob.Row.Needs.
const HasLog = "a log"

// ReclaimRow is that knob. log is the scheme that resolved values name.
func ReclaimRow(log func(v knob.Values) Kind) knob.Row {
	return knob.Row{Knob: knob.Knob{Name: KnobReclaim, Kind: knob.Choice, Default: reclaimings[Background], Choices: reclaimings, Label: "Log reclaim", Section: "4.3.4", Group: knob.Phases, Live: true,
		Doc: "How backups are told to apply a log entry and free its space. background: by a message that no transaction waits for, as in the thesis. resent: the message carries the write set once more, as in the released code. awaited: as resent, and the coordinator waits for the replies before it writes back, as in the released code without passive ACK."},
		Needs: HasLog, Inactive: func(v knob.Values) string {
			if v.Int("replicas") == 1 {
				return "replicas is 1: there are no logs"
			}
			if k := log(v); !k.Applies {
				return k.Name + " logs have no entries that backups apply"
			}
			return ""
		}}
}

// ReclaimingOf is what a value of the knob says.
func ReclaimingOf(text string) Reclaiming {
	for i, s := range reclaimings {
		if s == text {
			return Reclaiming(i)
		}
	}
	return Background
}
