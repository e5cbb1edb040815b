package experiment

import (
	"cmp"
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Validate holds every rule that involves more than one knob, those of the parts included. It reports the first
// broken rule.
func Validate(v Knobs) error {
	w := Workloads.Of(v)
	for _, rule := range append(testbed.Rules(), func(v Knobs) error { return Protocols.Valid(v, &w.Load) }, w.Valid, validLog, validTimestamps, func(v Knobs) error { return Ordered.Valid(v, &w.Load) }, workload.ValidHints, validFaults, validMTU, validDrain) {
		if err := rule(v); err != nil {
			return err
		}
	}
	return nil
}

// validMTU refuses packets into which the messages of the system do not fit: each is one datagram.
func validMTU(v Knobs) error {
	const mtu = testbed.NumberPrefix + "wire.mtu"
	if v[mtu] == nil || Workloads.Of(v).RequestsOf(v).Silent || !testbed.HasRDMA(v) {
		return nil
	}
	if most := cmp.Or(R2Config(v).MaxMessage, recvBytes); v.Int(mtu) < most {
		return knob.Invalid(mtu, knob.Format(mtu, v[mtu]), fmt.Sprintf("use at least %d, or a workload of one-sided requests", most),
			"messages of workload %s have up to %d bytes, and each is one datagram", v.Text("workload"), most)
	}
	return nil
}
