package engine

import (
	"fmt"
	"strconv"

	"drtmx/engine/knob"

	"drtmx/engine/occ"
	"drtmx/engine/workload/micro"
	"drtmx/engine/workload/octopus"
)

// validate holds every rule that involves more than one knob. It reports the first broken rule.
func validate(v Knobs) error {
	for _, rule := range []func(Knobs) error{validHardware, validMachines, validThreads, validReplicas, validNetwork, validAtomics, validOpts, validMix, validPlaces, validTPCC, validTPCE, validRegisters, validHints, validFaults, validMTU} {
		if err := rule(v); err != nil {
			return err
		}
	}
	return nil
}

// machines is the number of machines, servers that of those that hold data.
func machines(v Knobs) (all, servers int) {
	if asymmetric(v) {
		return v.Int("servers") + v.Int("clients"), v.Int("servers")
	}
	return v.Int("nodes"), v.Int("nodes")
}

func validMachines(v Knobs) error {
	s, c := v.Int("servers"), v.Int("clients")
	if asymmetric(v) {
		if s == 0 {
			return knob.Invalid("servers", s, "set servers=1 or more, or clients=0", "clients = %d need servers", c)
		}
		if c == 0 {
			return knob.Invalid("clients", c, "set clients=1 or more, or servers=0", "servers = %d need clients", s)
		}
	}
	all, _ := machines(v)
	if all > maxMachines {
		return knob.Invalid("servers", s, "use fewer", "%d machines are more than %d", all, maxMachines)
	}
	if e := v.Int("emulated_nodes"); e != 0 && e < all {
		return knob.Invalid("emulated_nodes", e, "set 0 or "+strconv.Itoa(all)+" or more", "fewer than the %d machines of the cluster", all)
	}
	return nil
}

// threadsOf is the number of worker threads of machine m.
func threadsOf(v Knobs, m int) int {
	if asymmetric(v) {
		name := "client.threads"
		if m < v.Int("servers") {
			name = "server.threads"
		}
		if n := v.Int(name); n > 0 {
			return n
		}
	}
	return v.Int("threads")
}

func validThreads(v Knobs) error {
	last, _ := machines(v)
	p := profileOf(v)
	type check struct {
		name    string
		machine int // that has as many
	}
	checks := []check{{"threads", 0}, {"server.threads", 0}, {"client.threads", last - 1}}
	if v.Int("client.threads") == 0 {
		checks = append(checks, check{"threads", last - 1})
	}
	for _, x := range checks {
		name, cores := x.name, nodeType(p, v, x.machine).Cores()
		if n := v.Int(name); n > cores {
			return knob.Invalid(name, n, "use at most "+strconv.Itoa(cores), "profile %s has %d cores per machine", with(v.Text("profile"), v), cores)
		}
	}
	return nil
}

func validReplicas(v Knobs) error {
	_, servers := machines(v)
	if r := v.Int("replicas"); r > servers && workloadOf(v).transactions {
		return knob.Invalid("replicas", r, fmt.Sprintf("set replicas=%d, or more nodes", servers), "more than the %d machines that hold data", servers)
	}
	return nil
}

// validNetwork refuses one-sided verbs where the NICs have none.
func validNetwork(v Knobs) error {
	if hasRDMA(v) {
		return nil
	}
	why, w := noRDMA(v), workloadOf(v)
	if w.transactions {
		c := txnConfig(v).Resolved()
		for _, p := range phases {
			if *p.Field(&c) != occ.TwoSided {
				return knob.Invalid(p.Knob(), v.Text(p.Knob()), "set preset=fasst, or "+p.Knob()+"=two-sided or auto", "%s", why)
			}
		}
		return nil
	}
	if w.reads("workload.primitive") && v.Text("workload.primitive") != "two-sided" {
		return knob.Invalid("workload.primitive", v.Text("workload.primitive"), "set workload.primitive=two-sided", "%s", why)
	}
	if w.reads("workload.transport") && v.Text("workload.transport") != "ud" {
		return knob.Invalid("workload.transport", v.Text("workload.transport"), "set workload.transport=ud, which is TCP here", "%s", why)
	}
	if !w.reads("workload.primitive") && !w.reads("workload.transport") {
		return knob.Invalid("workload", w.name, "use a workload with a two-sided form, such as smallbank with preset=fasst", "%s", why)
	}
	return nil
}

func validAtomics(v Knobs) error {
	c := txnConfig(v)
	if r := c.Resolved(); r.Lock == occ.OneSided && r.Commit == occ.TwoSided {
		return knob.Invalid("phase.commit", v.Text("phase.commit"), "set phase.lock=two-sided or auto",
			"a CPU may not unlock what an RNIC locked, and phase.lock is %s: they are not atomic with each other (section 4.3.2)", v.Text("phase.lock"))
	}
	if err := c.Validate(); err != nil {
		return &SpecError{Rule: firstLine(err), Next: "see `drtmx knobs`"}
	}
	return nil
}

func validOpts(v Knobs) error {
	c := txnConfig(v).Resolved()
	for _, p := range phases {
		for _, o := range opts {
			name, why := o.Knob(p), o.Barred(p, *p.Field(&c))
			if v.Bool(name) && why != "" {
				next := "leave it off"
				if o.Ever(p) {
					next += ", or set " + p.Knob() + "=two-sided"
				}
				return knob.Invalid(name, true, next, "%s", why)
			}
		}
	}
	return nil
}

func validMix(v Knobs) error {
	w := workloadOf(v)
	if len(w.mix) == 0 {
		return nil
	}
	sum := 0
	for _, t := range w.mix {
		sum += v.Int("workload.mix." + t)
	}
	if sum == 0 {
		return knob.Invalid("workload.mix."+w.mix[0], 0, "give at least one type a weight", "all weights are 0")
	}
	return nil
}

// validPlaces holds the rules of where requests go and how large they are.
func validPlaces(v Knobs) error {
	w := workloadOf(v)
	for _, name := range []string{"workload.align", "workload.pad"} {
		if n := v.Int(name); w.reads(name) && n&(n-1) != 0 {
			return knob.Invalid(name, n, "use 1, 2, 4, ... 64", "must be a power of 2")
		}
	}
	if n := v.Int("workload.value_bytes"); w.reads("workload.value_bytes") && n%8 != 0 {
		return knob.Invalid("workload.value_bytes", n, fmt.Sprintf("use %d or %d", n&^7, n&^7+8), "must be a multiple of 8")
	}
	if n := v.Int("workload.align"); w.name == octopus.Name && n < octopus.MinAlign {
		return knob.Invalid("workload.align", n, "use 8 or more", "the library below Octopus takes offsets in words of %d bytes", octopus.MinAlign)
	}
	verb, err := micro.ParseVerb(w.name)
	if err != nil {
		return nil
	}
	o := micro.Options{Verb: verb, TwoSided: twoSided(v), Objects: objects(v)}
	if n, limit := v.Int("workload.payload"), o.Limit(); n > limit {
		return knob.Invalid("workload.payload", n, fmt.Sprintf("use at most %d", limit), "more than such a request carries")
	}
	if n := v.Int("workload.dimm"); n > 0 && onNVM(v) {
		if most := profileOf(v).NVM.DIMMs.Int(); n > most {
			return knob.Invalid("workload.dimm", n, fmt.Sprintf("use at most %d, or 0 for all", most), "the NVM of a socket has %d DIMMs", most)
		}
	}
	if most := v.Int("workload.payload_max"); most < messageRoom && (twoSided(v) || verb == micro.RPC || verb == micro.Write) && v.Int("workload.payload") > most {
		return knob.Invalid("workload.payload", v.Int("workload.payload"), fmt.Sprintf("reset with workload.payload_max=%d", v.Int("workload.payload")), "workload.payload_max is %d", most)
	}
	return nil
}
