package testbed

import (
	"strconv"

	"drtmx/engine/knob"
)

// MaxMachines bounds the machines of a cluster.
const MaxMachines = 64

// Asymmetric says whether some machines only hold data and the others only run requests.
func Asymmetric(v knob.Values) bool { return v.Int("servers") > 0 || v.Int("clients") > 0 }

// Machines is the number of machines, servers that of those that hold data. Those with data come first, and the
// oracle's machine, if there is one, last.
func Machines(v knob.Values) (all, servers int) {
	all, servers = v.Int("nodes"), v.Int("nodes")
	if Asymmetric(v) {
		all, servers = v.Int("servers")+v.Int("clients"), v.Int("servers")
	}
	if v.Bool("oracle") {
		all++
	}
	return all, servers
}

// Oracle is the machine that holds no data and runs no requests: it answers the others. ok is false where there is none.
func Oracle(v knob.Values) (machine int, ok bool) {
	all, _ := Machines(v)
	return all - 1, v.Bool("oracle")
}

// Clients are the machines that run requests, the first and the one behind the last.
func Clients(v knob.Values) (from, to int) {
	to, servers := Machines(v)
	if Asymmetric(v) {
		from = servers
	}
	if v.Bool("oracle") {
		to--
	}
	return from, to
}

// ThreadsOf is the number of worker threads of machine m.
func ThreadsOf(v knob.Values, m int) int {
	name := "threads"
	if oracle, ok := Oracle(v); ok && m == oracle {
		name = "oracle.threads"
	} else if Asymmetric(v) {
		name = "client.threads"
		if m < v.Int("servers") {
			name = "server.threads"
		}
	}
	if n := v.Int(name); n > 0 {
		return n
	}
	return v.Int("threads")
}

// ThreadCounts are all threads of a cluster, those that run transactions, and those with data.
func ThreadCounts(v knob.Values) (threads, clients, data int) {
	all, servers := Machines(v)
	from, to := Clients(v)
	for m := range all {
		n := ThreadsOf(v, m)
		threads += n
		if m < servers {
			data += n
		}
		if from <= m && m < to {
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
	_, clients := Clients(v)
	p := Profile(v)
	type check struct {
		name    string
		machine int // that has as many
	}
	checks := []check{{"threads", 0}, {"server.threads", 0}, {"client.threads", clients - 1}}
	if v.Int("client.threads") == 0 {
		checks = append(checks, check{"threads", clients - 1})
	}
	if oracle, ok := Oracle(v); ok {
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
