package experiment

import (
	"drtmx/engine/history"
	"drtmx/engine/timestamp"
)

// ClaimsOf is what a system promises of all transactions together, and of its read-write transactions among one another:
// the latter is the protocol's claim, the former no more than what snapshots under its scheme of timestamps claim.
func ClaimsOf(v Knobs) (all, writers history.Claim) {
	p := Protocols.Of(v)
	if writers = p.Claim; p.ClaimOf != nil {
		writers = p.ClaimOf(v)
	}
	k := Schemes.Of(v)
	if k == nil {
		return writers, writers
	}
	o := timestamp.OptionsOf(v)
	return history.Weaker(writers, k.ClaimUnder(&o)), writers
}
