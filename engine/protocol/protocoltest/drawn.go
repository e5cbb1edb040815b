package protocoltest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

// around is what no protocol may depend on, whatever else a system is. Transactions meet less under some of it, so the other parts of the suite
// leave it out.
func around() (list []choice) {
	for _, values := range [][]experiment.Knobs{
		{{"torn_reads": true}, {"torn_reads": false}},
		{{"warm": true}, {"warm": false}},
		{{"ddio": true}, {"ddio": false}},
		{{"clients.arrival": "closed"}, {"clients.arrival": "open:200k"}},
		{{"fault.nic_slowdown": 1.0}, {"fault.nic_slowdown": 4.0}},
	} {
		name := experiment.SortedNames(values[0])[0]
		list = append(list, choice{name, knob.Find(name), values})
	}
	return list
}

// drawn runs systems of which all is drawn at random, while knobs change: a few, and in make soak as many as DRTMX_SOAK says, or for so long, of
// which each protocol of the list has its part. A failure names the seed, which DRTMX_SOAK_SEED begins with.
func (s *suite) drawn(t *testing.T) {
	first, rounds, until := 1, 3, time.Now().Add(1<<62)
	if workloadtest.Soak {
		first, rounds, until = seeds(t)
	}
	all := append(s.choices(s.loads()), around()...)
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
