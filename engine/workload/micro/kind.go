package micro

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds are the micro-benchmarks in the list of parts.
var Kinds = []workload.Kind{
	kind(Read, "one READ after the other", "workload.primitive", "workload.objects", "workload.copy", "workload.pattern", "workload.dimm", "workload.align"),
	kind(Write, "one WRITE after the other", "workload.primitive", "workload.objects", "workload.copy", "workload.pattern", "workload.dimm", "workload.align", "workload.pad", "opt.micro.pa"),
	kind(Atomic, "one FETCH-AND-ADD after the other"),
	kind(RPC, "one RPC after the other, its reply as long", "workload.transport"),
}

// kind is a micro-benchmark of section 2.2.4.
func kind(verb Verb, doc string, more ...string) workload.Kind {
	name := verbNames[verb]
	k := workload.Kind{
		Load:       testbed.Load{Name: name},
		Doc:        doc + " (figure 2-4)",
		Rows:       rows(),
		Knobs:      append([]string{"workload.keys", "workload.payload", "workload.payload_max", "workload.socket", "workload.scale", "opt.micro.or", "opt.micro.db"}, more...),
		Rules:      []func(knob.Values) error{func(v knob.Values) error { return validNetwork(v, verb) }, func(v knob.Values) error { return validPlaces(v, verb) }},
		Population: "workload.keys",
		Footprint: func(v knob.Values) workload.Footprint {
			_, servers := testbed.Machines(v)
			each := int64(v.Int("workload.payload"))
			return workload.RawFootprint(int64(servers)*int64(workload.Scaled(v, "workload.keys"))*(each+63), each)
		},
		Messages: func(c *r2.Config, v knob.Values) { messages(c, v, verb) },
		Requests: func(v knob.Values) workload.Requests {
			return workload.Requests{Writes: verb == Write, Atomics: verb == Atomic, TwoSided: twoSided(v, verb), Silent: verb == Atomic || moves(verb) && !twoSided(v, verb), Padded: true, Retried: true}
		},
		Build: func(v knob.Values) (workload.Bench, error) { return build(v, verb) },
		Live: func(b workload.Bench, v knob.Values) error {
			if err := b.Set("nvm", testbed.OnNVM(v)); err != nil {
				return err
			}
			return b.Set("hints", hintsOf(v))
		},
	}
	return k
}

func build(v knob.Values, verb Verb) (workload.Bench, error) {
	socket, err := ParseSocket(v.Text("workload.socket"))
	if err != nil {
		return nil, err
	}
	copied, err := ParseCopy(v.Text("workload.copy"))
	if err != nil {
		return nil, err
	}
	o := Options{
		Hints: hintsOf(v), NVM: testbed.OnNVM(v), DIMM: v.Int("workload.dimm"), Socket: socket, Copy: copied, Sequential: v.Text("workload.pattern") == "sequential",
		Verb: verb, Payload: v.Int("workload.payload"), Keys: uint64(workload.Scaled(v, "workload.keys")),
		TwoSided: twoSided(v, verb),
		Objects:  objects(v, verb),
		Mode:     r2.Mode{Outstanding: v.Bool("opt.micro.or"), Doorbell: v.Bool("opt.micro.db"), Passive: passive(v, verb)},
	}
	if moves(verb) {
		o.Align = v.Int("workload.align")
	}
	if verb == Write {
		o.Pad = v.Int("workload.pad")
	}
	return New(o)
}

// hintsOf is what the knobs say; which of the hints apply to its requests the benchmark knows.
func hintsOf(v knob.Values) Hints {
	on := func(n int) bool { return workload.HintOn(v, n) }
	return Hints{OwnSocket: on(1), DIMMPerThread: on(2), LargeNT: on(4), XLines: on(5), Words: on(6), LinesNT: on(7), AtomicsInDRAM: on(8),
		Persist: workload.Durable(v), OneRoundTrip: on(9)}
}

// moves says that requests read or write places of memory.
func moves(verb Verb) bool { return verb == Read || verb == Write }

// twoSided says that they do so by RPC.
func twoSided(v knob.Values, verb Verb) bool {
	return moves(verb) && v.Text("workload.primitive") == "two-sided"
}

// passive says that requests are not waited for.
func passive(v knob.Values, verb Verb) bool { return verb == Write && v.Bool("opt.micro.pa") }

// objects is how many verbs a request is.
func objects(v knob.Values, verb Verb) int {
	if !moves(verb) {
		return 1
	}
	return v.Int("workload.objects")
}

// transports are the values of workload.transport.
var transports = map[string]r2.Transport{"ud": r2.Datagrams, "write": r2.Writes, "hybrid": r2.Hybrid}

// messageRoom is the largest payload of a message.
const messageRoom = 4080

// messages fits r2's messages and RECVs to the benchmark. Its payload may rise to the path MTU while it runs, except
// where every message has a slot in memory or many are under way: there what it begins with is the limit.
func messages(c *r2.Config, v knob.Values, verb Verb) {
	const (
		header = 8 + 8 // of a message, and the address in front of a write's payload
		mtu    = 4096  // what is larger needs no buffer of r2's
	)
	c.RecvDepth = r2.RecvDepths(c.PerMachine, v.Int("coroutines"), v.Int("coroutines"))
	c.RandomQP = true // section 2.2.4
	if verb == RPC {
		c.Transport = transports[v.Text("workload.transport")]
	}
	n := objects(v, verb)
	if room := v.Int("workload.payload_max"); c.Transport == r2.Datagrams && n == 1 && !passive(v, verb) {
		if room < messageRoom {
			c.MaxMessage = (room + header + 63) &^ 63
		}
		return
	}
	c.MaxMessage = (min(v.Int("workload.payload"), mtu) + header + 63) &^ 63
	each := n * v.Int("coroutines")
	if passive(v, verb) {
		each = r2.RequestWindow
		// A client that never waits keeps the send queues full: short ones, so that what a
		// run counts as done is not far ahead of what is.
		c.SendDepth = 16
	}
	c.RecvDepth = r2.RecvDepths(c.PerMachine, each, each)
}

// validNetwork refuses one-sided verbs where the NICs have none.
func validNetwork(v knob.Values, verb Verb) error {
	switch why := testbed.NoRDMA(v); {
	case why == "":
		return nil
	case moves(verb) && v.Text("workload.primitive") != "two-sided":
		return knob.Invalid("workload.primitive", v.Text("workload.primitive"), "set workload.primitive=two-sided", "%s", why)
	case verb == RPC && v.Text("workload.transport") != "ud":
		return knob.Invalid("workload.transport", v.Text("workload.transport"), "set workload.transport=ud, which is TCP here", "%s", why)
	case verb == Atomic:
		return workload.ValidOneSided(verbNames[verb])(v)
	}
	return nil
}

// validPlaces holds the rules of where requests go and how large they are.
func validPlaces(v knob.Values, verb Verb) error {
	o := Options{Verb: verb, TwoSided: twoSided(v, verb), Objects: objects(v, verb)}
	if n, limit := v.Int("workload.payload"), o.Limit(); n > limit {
		return knob.Invalid("workload.payload", n, fmt.Sprintf("use at most %d", limit), "more than such a request carries")
	}
	if n := v.Int("workload.dimm"); n > 0 && testbed.OnNVM(v) {
		if most := testbed.Profile(v).NVM.DIMMs.Int(); n > most {
			return knob.Invalid("workload.dimm", n, fmt.Sprintf("use at most %d, or 0 for all", most), "the NVM of a socket has %d DIMMs", most)
		}
	}
	if most := v.Int("workload.payload_max"); most < messageRoom && (twoSided(v, verb) || verb == RPC || verb == Write) && v.Int("workload.payload") > most {
		return knob.Invalid("workload.payload", v.Int("workload.payload"), fmt.Sprintf("reset with workload.payload_max=%d", v.Int("workload.payload")), "workload.payload_max is %d", most)
	}
	return nil
}
