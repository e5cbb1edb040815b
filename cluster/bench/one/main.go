// Command one measures one system for cluster/bench: requests per second of CPU time, after a warm-up, of a spec in which
// every knob has its value written down. It is built from this version of the code and from an older one, whose defaults may be
// others: what is measured stays the same. A knob that the older version does not have is left out, and printed.
package main

import (
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/sim/cputime"

	"gopkg.in/yaml.v3"
)

//go:embed specs/*.yaml
var specs embed.FS

// one is what is measured.
type one struct {
	name, set  string
	warm, span time.Duration // virtual
	cpuprofile string
}

func main() {
	var o one
	flag.StringVar(&o.name, "spec", "read", "the `NAME` of a frozen spec: read, smallbank, new-order")
	flag.StringVar(&o.set, "set", "{}", "knobs that differ, as `JSON`")
	flag.DurationVar(&o.warm, "warm", time.Millisecond, "virtual time before the measured one")
	flag.DurationVar(&o.span, "span", time.Millisecond, "virtual time that is measured")
	flag.StringVar(&o.cpuprofile, "cpuprofile", "", "write a profile of the measured time to `FILE`")
	flag.Parse()
	if err := o.print(); err != nil {
		fmt.Fprintln(os.Stderr, "one:", err)
		os.Exit(1)
	}
}

// Measured is what is printed.
type Measured struct {
	Rate   float64  `json:"rate"`   // requests per second of CPU time
	Allocs float64  `json:"allocs"` // per verb
	Digest string   `json:"digest"`
	Left   []string `json:"left,omitempty"` // knobs that this version does not have
}

func (o one) print() error {
	spec, left, err := o.spec()
	if err != nil {
		return err
	}
	m, err := o.measure(spec)
	if err != nil {
		return err
	}
	m.Left = left
	return json.NewEncoder(os.Stdout).Encode(m)
}

// spec is the frozen one with what differs.
func (o one) spec() (s experiment.Spec, left []string, err error) {
	text, err := specs.ReadFile("specs/" + o.name + ".yaml")
	if err != nil {
		return s, nil, fmt.Errorf("no spec %q: %w", o.name, err)
	}
	if err := yaml.Unmarshal(text, &s.Set); err != nil {
		return s, nil, err
	}
	var differs experiment.Knobs
	if err := json.Unmarshal([]byte(o.set), &differs); err != nil {
		return s, nil, fmt.Errorf("-set %q: %w", o.set, err)
	}
	maps.Copy(s.Set, differs)
	for name := range s.Set { // order-free: what is left out is sorted
		if knob.Find(name) == nil {
			left = append(left, name)
			delete(s.Set, name)
		}
	}
	slices.Sort(left)
	return s, left, nil
}

// parts are of the measured time: a burst of a neighbour on the machine hits some of them only.
const parts = 20

func (o one) measure(spec experiment.Spec) (m Measured, err error) {
	s, err := engine.Open(spec)
	if err != nil {
		return m, err
	}
	defer s.Close()
	if err := s.Advance(o.warm.Nanoseconds()); err != nil {
		return m, err
	}
	if o.cpuprofile != "" {
		f, err := os.Create(o.cpuprofile)
		if err != nil {
			return m, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return m, err
		}
		defer pprof.StopCPUProfile()
	}
	s.Mark()
	var rates []float64
	var mallocs uint64
	for range parts {
		spent, took, done := time.Duration(0), uint64(0), s.Result().Commits
		if spent, took, err = spend(func() error { return s.Advance(o.span.Nanoseconds() / parts) }); err != nil {
			return m, err
		}
		if mallocs += took; spent > 0 {
			rates = append(rates, float64(s.Result().Commits-done)/spent.Seconds())
		}
	}
	r := s.Result()
	if len(rates) == 0 || r.Commits == 0 {
		return m, errors.New("no CPU time is counted, or no request ended")
	}
	verbs := 0.0
	for _, n := range r.Verbs {
		verbs += float64(n)
	}
	slices.Sort(rates)
	return Measured{Rate: rates[len(rates)/2], Allocs: float64(mallocs) / verbs, Digest: r.Digest}, nil
}

// spend is the CPU time that f takes, and how often it allocates.
func spend(f func() error) (spent time.Duration, mallocs uint64, err error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	mallocs -= m.Mallocs
	from := cputime.Now()
	err = f()
	spent = cputime.Now() - from
	runtime.ReadMemStats(&m)
	return spent, mallocs + m.Mallocs, err
}
