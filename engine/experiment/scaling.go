package experiment

import (
	"math"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// A scaling makes some of what takes time in a system faster and leaves everything else as the
// spec says: numbers of the hardware profile, costs in code, and waits. Counts and sizes it
// leaves alone. nil scales nothing.
type Scaling struct {
	Factor  float64         // of durations and cycles; bandwidths are divided by it
	Numbers map[string]bool // of the profile, by name
	Costs   map[string]bool // in code: those that the protocol lists, and costReceipts
}

// CostReceipts is r2's timer for receipts and repetitions.
const CostReceipts = "wait.receipts"

// Profile is the spec's hardware: the numbers of its knobs, or hardware of its own.
func (s *Spec) Profile(v Knobs) *profile.Profile {
	if s.Hardware != nil {
		return s.Hardware
	}
	return testbed.Profile(v)
}

// Profile is p with the scaled numbers.
func (x *Scaling) Profile(p *profile.Profile) *profile.Profile {
	if x == nil || len(x.Numbers) == 0 {
		return p
	}
	p = p.Clone()
	p.Each(func(name string, n *profile.Number) {
		switch {
		case !x.Numbers[name]:
		case n.Unit == "ns":
			n.Value *= x.Factor
		case n.Unit == "GB/s":
			n.Value /= x.Factor
		}
	})
	return p
}

// CostsInCode is what transactions are told of it, and of the knobs that scale costs.
func (x *Scaling) CostsInCode(v Knobs) txn.Scale {
	knobs := txn.CoordinatorScale(v)
	if x == nil || len(x.Costs) == 0 {
		return knobs
	}
	return func(cost string, amount int) int {
		amount = knobs.Of(cost, amount)
		if !x.Costs[cost] || amount == 0 {
			return amount
		}
		return max(1, int(math.Round(float64(amount)*x.Factor)))
	}
}

// ResendAfter is r2.Config.ResendAfter.
func (x *Scaling) ResendAfter(tcp *profile.TCPCosts) r2.Time {
	if x == nil || !x.Costs[CostReceipts] {
		return 0
	}
	return r2.Time(math.Round(float64(r2.ResendAfter(tcp)) * x.Factor))
}
