package testbed

import (
	"strconv"

	"drtmx/engine/knob"
	"drtmx/engine/membership"
)

// MaxMachines bounds the machines of a cluster.
const MaxMachines = 64

// Asymmetric says whether some machines only hold data and the others only run requests.
func Asymmetric(v knob.Values) bool { return v.Int("servers") > 0 || v.Int("clients") > 0 }

// Members are the machines and their roles: those with data first, and the oracle's, if there is one, last.
func Members(v knob.Values) *membership.Table {
	t := new(membership.Table)
	if Asymmetric(v) {
		t.Add(v.Int("servers"), membership.Server).Add(v.Int("clients"), membership.Client)
	} else {
		t.Add(v.Int("nodes"), membership.Symmetric)
	}
	if v.Bool("oracle") {
		t.Add(1, membership.Oracle)
	}
	return t
}

// Machines is the number of machines, servers that of those that hold data.
func Machines(v knob.Values) (all, servers int) {
	t := Members(v)
	return t.Machines(), t.Servers()
}

// ThreadsOf is the number of worker threads of machine m.
func ThreadsOf(v knob.Values, m int) int { return threadsOf(v, Members(v).Roles(m)) }

// threadsOf is the number of those of a machine with some roles.
func threadsOf(v knob.Values, r membership.Role) int {
	if n := v.Int(threadsKnob(r)); n > 0 {
		return n
	}
	return v.Int("threads")
}

// threadsKnob is the knob that says it, unless it is 0.
func threadsKnob(r membership.Role) string {
	switch r {
	case membership.Server:
		return "server.threads"
	case membership.Client:
		return "client.threads"
	case membership.Oracle:
		return "oracle.threads"
	}
	return "threads"
}

// ThreadCounts are all threads of a cluster, those that run transactions, and those with data.
func ThreadCounts(v knob.Values) (threads, clients, data int) {
	t := Members(v)
	for m := range t.Machines() {
		r := t.Roles(m)
		n := threadsOf(v, r)
		threads += n
		if r.Has(membership.Primary) {
			data += n
		}
		if r.Has(membership.Client) {
			clients += n
		}
	}
	return threads, clients, data
}

// Rules are what may not be set together, the first rule that is broken first.
func Rules() []func(v knob.Values) error {
	return []func(v knob.Values) error{validHardware, validMachines, validThreads}
}

func validMachines(v knob.Values) error {
	s, c := v.Int("servers"), v.Int("clients")
	if Asymmetric(v) {
		if s == 0 {
			return knob.Invalid("servers", s, "set servers=1 or more, or clients=0", "clients = %d need servers", c)
		}
		if c == 0 {
			return knob.Invalid("clients", c, "set clients=1 or more, or servers=0", "servers = %d need clients", s)
		}
	}
	all, _ := Machines(v)
	if all > MaxMachines {
		return knob.Invalid("servers", s, "use fewer", "%d machines are more than %d", all, MaxMachines)
	}
	if e := v.Int("emulated_nodes"); e != 0 && e < all {
		return knob.Invalid("emulated_nodes", e, "set 0 or "+strconv.Itoa(all)+" or more", "fewer than the %d machines of the cluster", all)
	}
	return nil
}

func validThreads(v knob.Values) error {
	members, p := Members(v), Profile(v)
	clients := members.Of(membership.Client)
	last := clients[len(clients)-1]
	type check struct {
		name    string
		machine int // that has as many
	}
	checks := []check{{"threads", 0}, {"server.threads", 0}, {"client.threads", last}}
	if v.Int("client.threads") == 0 {
		checks = append(checks, check{"threads", last})
	}
	if oracle, ok := members.First(membership.Oracle); ok {
		name := "oracle.threads"
		if v.Int(name) == 0 {
			name = "threads"
		}
		checks = append(checks, check{name, oracle})
	}
	for _, x := range checks {
		name, cores := x.name, NodeType(p, v, x.machine).Cores()
		if n := v.Int(name); n > cores {
			return knob.Invalid(name, n, "use at most "+strconv.Itoa(cores), "profile %s has %d cores per machine", WithNumbers(v.Text("profile"), v), cores)
		}
	}
	return nil
}

// Seed is the seed of a run, of what its tables hold too: other seeds are other populations.
func Seed(v knob.Values) uint64 { return uint64(v.Int("seed")) }

// Coroutines is how many run per thread.
func Coroutines(v knob.Values) int {
	if !v.Bool("opt.co") {
		return 1
	}
	return v.Int("coroutines")
}
