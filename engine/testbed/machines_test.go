package testbed

import (
	"slices"
	"strings"
	"testing"

	"drtmx/engine/knob"
	"drtmx/engine/membership"
)

// values are resolved ones of a cluster of four machines of two threads, with some others.
func values(set knob.Values) knob.Values {
	v := knob.Values{
		"nodes": 4, "servers": 0, "clients": 0, "oracle": false, "threads": 2, "server.threads": 0, "client.threads": 0, "oracle.threads": 0,
		"emulated_nodes": 0, "coroutines": 3, "opt.co": true, "seed": 7,
	}
	for name, x := range set { // order-free: each sets a value of its own
		v[name] = x
	}
	return v
}

// Machines with data come first, then those that only run requests, and the oracle's last.
func TestMachines(t *testing.T) {
	asymmetric := knob.Values{"servers": 2, "clients": 3, "server.threads": 5, "client.threads": 4}
	withOracle := knob.Values{"servers": 2, "clients": 3, "server.threads": 5, "oracle": true, "oracle.threads": 6}
	for _, x := range []struct {
		name                  string
		set                   knob.Values
		all, servers          int
		from, to              int // those that run requests
		oracle                int // -1: there is none
		threads               []int
		sum, running, holding int
	}{
		{"symmetric", nil, 4, 4, 0, 4, -1, []int{2, 2, 2, 2}, 8, 8, 8},
		{"symmetric with an oracle", knob.Values{"oracle": true}, 5, 4, 0, 4, 4, []int{2, 2, 2, 2, 2}, 10, 8, 8},
		{"servers and clients", asymmetric, 5, 2, 2, 5, -1, []int{5, 5, 4, 4, 4}, 22, 12, 10},
		{"servers, clients and an oracle", withOracle, 6, 2, 2, 5, 5, []int{5, 5, 2, 2, 2, 6}, 22, 6, 10},
	} {
		v := values(x.set)
		all, servers := Machines(v)
		clients := Members(v).Of(membership.Client)
		from, to := clients[0], clients[len(clients)-1]+1
		oracle, ok := Members(v).First(membership.Oracle)
		if !ok {
			oracle = -1
		}
		if all != x.all || servers != x.servers || from != x.from || to != x.to || oracle != x.oracle {
			t.Errorf("%s: %d machines, %d with data, %d to %d run requests, oracle %d", x.name, all, servers, from, to, oracle)
		}
		var threads []int
		for m := range all {
			threads = append(threads, ThreadsOf(v, m))
		}
		sum, running, holding := ThreadCounts(v)
		if !slices.Equal(threads, x.threads) || sum != x.sum || running != x.running || holding != x.holding {
			t.Errorf("%s: threads %v, together %d, %d run requests, %d are with data", x.name, threads, sum, running, holding)
		}
	}
}

func TestValidMachines(t *testing.T) {
	for _, x := range []struct {
		set  knob.Values
		want string // part of the error, "" for none
	}{
		{nil, ""}, {knob.Values{"servers": 1, "clients": 1}, ""}, {knob.Values{"emulated_nodes": 4}, ""}, {knob.Values{"nodes": MaxMachines}, ""},
		{knob.Values{"servers": 2}, "servers = 2 need clients"}, {knob.Values{"clients": 2}, "clients = 2 need servers"},
		{knob.Values{"servers": 40, "clients": 25}, "65 machines are more than 64"}, {knob.Values{"nodes": MaxMachines, "oracle": true}, "65 machines"},
		{knob.Values{"emulated_nodes": 3}, "fewer than the 4 machines"}, {knob.Values{"emulated_nodes": 4, "oracle": true}, "fewer than the 5 machines"},
	} {
		err := validMachines(values(x.set))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v: %v, want %q", x.set, err, x.want)
		}
	}
}

// Without coroutines one request runs per thread, whatever their number is set to.
func TestCoroutines(t *testing.T) {
	if n := Coroutines(values(nil)); n != 3 {
		t.Errorf("%d coroutines, want 3", n)
	}
	if n := Coroutines(values(knob.Values{"opt.co": false})); n != 1 {
		t.Errorf("%d coroutines where they are off, want 1", n)
	}
	if s := Seed(values(nil)); s != 7 {
		t.Errorf("seed %d, want 7", s)
	}
}

// A workload says what its requests are, or leaves out what none of them has.
func TestLoad(t *testing.T) {
	words, strings := Load{Name: "micro"}, Load{Name: "ycsb", Transactions: true, KeyBytes: func(v knob.Values) int { return v.Int("nodes") }}
	if words.LongestKey(values(nil)) != 0 || strings.LongestKey(values(nil)) != 4 {
		t.Errorf("longest keys %d and %d", words.LongestKey(values(nil)), strings.LongestKey(values(nil)))
	}
	if words.NoTransactions() == "" || strings.NoTransactions() != "" {
		t.Errorf("no transactions: %q and %q", words.NoTransactions(), strings.NoTransactions())
	}
}
