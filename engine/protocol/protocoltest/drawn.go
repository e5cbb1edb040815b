package protocoltest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// aside is a knob of any system.
type aside struct {
	name   string
	values []any
}

// around is what no protocol may depend on, whatever else a system is.
var around = []aside{
	{"torn_reads", []any{true, false}}, {"warm", []any{true, false}}, {"ddio", []any{true, false}},
	{"clients.arrival", []any{"closed", "open:200k"}}, {"fault.nic_slowdown", []any{1.0, 4.0}},
}

// drawn runs systems of which all is drawn at random, while knobs change, as many as DRTMX_SOAK says, or for so long; each protocol of the list
// has its part of that. Make test has the rows of live instead. A failure names the seed, which DRTMX_SOAK_SEED begins with.
func (s *suite) drawn(t *testing.T) {
	if !workloadtest.Soak {
		t.Skip("only in make soak")
	}
	first, rounds, until := seeds(t)
	all := s.choices(s.loads())
	rows := s.pairs(all)
	for seed := first; seed < first+rounds && time.Now().Before(until); seed++ {
		rand := sim.New(sim.Options{Seed: uint64(seed)}).Stream("drawn", 0)
		row := s.fill(all, none(all), rand)
		for row[0] < 0 {
			row = s.fill(all, none(all), rand)
		}
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			s.change(t, all, rows, merged(chosen(all, row), experiment.Knobs{"seed": seed}))
		})
	}
}

// seeds are the first one, how many there are, and when they end.
func seeds(t *testing.T) (first, rounds int, until time.Time) {
	t.Helper()
	first, until = 1, time.Now().Add(1<<62)
	number := func(name string) int {
		n, err := strconv.Atoi(os.Getenv(name))
		if err != nil {
			t.Fatalf("%s %q: a number, or for DRTMX_SOAK a time such as 10m", name, os.Getenv(name))
		}
		return n
	}
	parts := len(experiment.Protocols)
	if d, err := time.ParseDuration(os.Getenv("DRTMX_SOAK")); err == nil {
		rounds, until = 1<<30, time.Now().Add(d/time.Duration(parts))
	} else {
		rounds = max(1, number("DRTMX_SOAK")/parts)
	}
	if os.Getenv("DRTMX_SOAK_SEED") != "" {
		first = number("DRTMX_SOAK_SEED")
	}
	return first, rounds, until
}
