package engine

import (
	"math"

	"drtmx/engine/fabric"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// A scaling makes some of what takes time in a system faster and leaves everything else as the
// spec says: numbers of the hardware profile, costs in code, and waits. Counts and sizes it
// leaves alone. nil scales nothing.
type scaling struct {
	factor  float64         // of durations and cycles; bandwidths are divided by it
	numbers map[string]bool // of the profile, by name
	costs   map[string]bool // in code: those that the protocol lists, and costReceipts
}

// costReceipts is r2's timer for receipts and repetitions.
const costReceipts = "wait.receipts"

// profile is the spec's hardware: the numbers of its knobs, or hardware of its own.
func (s *Spec) profile(v Knobs) *fabric.Profile {
	if s.hardware != nil {
		return s.hardware
	}
	return testbed.Profile(v)
}

// profile is p with the scaled numbers.
func (x *scaling) profile(p *fabric.Profile) *fabric.Profile {
	if x == nil || len(x.numbers) == 0 {
		return p
	}
	p = p.Clone()
	p.Each(func(name string, n *fabric.Number) {
		switch {
		case !x.numbers[name]:
		case n.Unit == "ns":
			n.Value *= x.factor
		case n.Unit == "GB/s":
			n.Value /= x.factor
		}
	})
	return p
}

// costsInCode is what transactions are told of it.
func (x *scaling) costsInCode() txn.Scale {
	if x == nil || len(x.costs) == 0 {
		return nil
	}
	return func(cost string, amount int) int {
		if !x.costs[cost] || amount == 0 {
			return amount
		}
		return max(1, int(math.Round(float64(amount)*x.factor)))
	}
}

// resendAfter is r2.Config.ResendAfter.
func (x *scaling) resendAfter(tcp *fabric.TCPCosts) r2.Time {
	if x == nil || !x.costs[costReceipts] {
		return 0
	}
	return r2.Time(math.Round(float64(r2.ResendAfter(tcp)) * x.factor))
}
