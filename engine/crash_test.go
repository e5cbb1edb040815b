package engine

import (
	"bytes"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/measure"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/workload/workloadtest"
)

func change(t testing.TB, s *System, k experiment.Knobs) {
	t.Helper()
	if _, err := s.Set(k, "test"); err != nil {
		t.Fatal(err)
	}
}

// measured advances and returns the result of that time alone.
func measured(t testing.TB, s *System, ns int64) *result.Result {
	t.Helper()
	s.Mark()
	advance(t, s, ns)
	return s.Result()
}

// Clients of what crashed see errors, throughput drops, and comes back with the
// machine: on DRAM and NVM, one-sided and two-sided, of servers and of clients.
func TestCrashIsFeltAndHealed(t *testing.T) {
	for name, set := range map[string]experiment.Knobs{
		"read":           {"workload": "micro-read"},
		"write":          {"workload": "micro-write"},
		"passive":        {"workload": "micro-write", "opt.micro.pa": true},
		"two-sided":      {"workload": "micro-read", "workload.primitive": "two-sided"},
		"atomic":         {"workload": "micro-atomic"},
		"ring":           {"workload": "micro-rpc", "workload.transport": "write"},
		"tcp":            {"workload": "micro-rpc", "profile": "vale"},
		"objects":        {"workload": "micro-read", "workload.objects": 4},
		"open":           {"workload": "micro-read", "clients.arrival": "open:4M"},
		"read NVM":       {"workload": "micro-read", "profile": "r74v", "nvm.durability": true},
		"write NVM":      {"workload": "micro-write", "profile": "r74v", "nvm.durability": true},
		"persistent NVM": {"workload": "micro-write", "profile": "r74v", "nvm.durability": true, "nvm.persist": true, "ddio": false},
	} {
		t.Run(name, func(t *testing.T) {
			k := experiment.Knobs{"nodes": 3, "threads": 2, "coroutines": 4, "check": "off", "workload.keys": 1000}
			for n, x := range set {
				k[n] = x
			}
			s := open(t, experiment.Spec{Set: k})
			advance(t, s, 100_000)
			before := measured(t, s, 200_000)
			change(t, s, experiment.Knobs{"fault.crash": 1})
			if v := s.Values(); v.Int("fault.crash") != 1 || v.Int("fault.restart") != -1 {
				t.Errorf("fault.crash reads %v, fault.restart %v", v["fault.crash"], v["fault.restart"])
			}
			during := measured(t, s, 400_000)
			change(t, s, experiment.Knobs{"fault.restart": 1})
			if v := s.Values(); v.Int("fault.crash") != -1 || v.Int("fault.restart") != -1 {
				t.Errorf("fault.crash reads %v, fault.restart %v", v["fault.crash"], v["fault.restart"])
			}
			advance(t, s, 2_000_000)
			after := measured(t, s, 200_000)
			t.Logf("%.3g/s, %.3g/s with %d errors and %d lost, %.3g/s", before.Throughput, during.Throughput, during.Failed, during.Lost, after.Throughput)
			if during.Throughput > 0.7*before.Throughput || during.Commits == 0 || after.Throughput < 0.9*before.Throughput {
				t.Errorf("%.3g requests/s before, %.3g with a machine down, %.3g after", before.Throughput, during.Throughput, after.Throughput)
			}
			if before.Failed != 0 || during.Failed+during.Lost == 0 || after.Failed != 0 {
				t.Errorf("%d errors before, %d while the machine is down, %d after", before.Failed, during.Failed, after.Failed)
			}
			if err := s.Drain(); err != nil {
				t.Fatal(err)
			}
			if r := s.Result(); r.Checks.Failed() {
				t.Error(r.ChecksText())
			}
		})
	}
}

// What cannot be done is refused with a reason, and changes nothing.
func TestCrashIsRefused(t *testing.T) {
	s := open(t, experiment.Spec{Workload: "micro-read", Set: experiment.Knobs{"nodes": 3, "threads": 1, "check": "off"}})
	refused := func(k experiment.Knobs, says string) {
		t.Helper()
		if _, err := s.Set(k, ""); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", k, err)
		}
		if err := s.Check(k); err == nil {
			t.Errorf("Check accepts %v", k)
		}
	}
	refused(experiment.Knobs{"fault.restart": 1}, "machine 1 is not down")
	refused(experiment.Knobs{"fault.crash": 3}, "3 machines")
	refused(experiment.Knobs{"fault.restart": 63}, "3 machines")
	change(t, s, experiment.Knobs{"fault.crash": -1})
	change(t, s, experiment.Knobs{"fault.crash": 1})
	refused(experiment.Knobs{"fault.crash": 1}, "down already")
	refused(experiment.Knobs{"fault.crash": -1}, "fault.restart=1")
	change(t, s, experiment.Knobs{"fault.crash": 2})
	if n := s.Values().Int("fault.crash"); n != 2 {
		t.Errorf("fault.crash reads %d", n)
	}
	change(t, s, experiment.Knobs{"fault.restart": 2})
	if n := s.Values().Int("fault.crash"); n != 1 {
		t.Errorf("fault.crash reads %d", n)
	}
	refused(experiment.Knobs{"fault.restart": 2}, "starts already")
	refused(experiment.Knobs{"fault.crash": 2}, "starts")
	change(t, s, experiment.Knobs{"fault.restart": 1, "fault.crash": 0})
	if n := len(s.Changes()); n != 4 {
		t.Errorf("%d changes", n)
	}
	if again, err := experiment.Resolve(s.Spec()); err != nil || !reflect.DeepEqual(again, s.Values()) {
		t.Errorf("the spec does not lead to the values: %v", err)
	}
	for says, spec := range map[string]experiment.Spec{
		"no recovery yet":    {Workload: "smallbank", Set: experiment.Knobs{"fault.crash": 0}},
		"behind an error":    {Workload: "octopus", Set: experiment.Knobs{"fault.crash": 0, "profile": "r74v", "nvm.durability": true}},
		"before the system":  {Workload: "micro-read", Set: experiment.Knobs{"fault.restart": 0}},
		"nvm.durability":     {Workload: "micro-read", Set: experiment.Knobs{"fault.crash": 0, "profile": "r74v"}},
		"there are 4 machin": {Workload: "micro-read", Set: experiment.Knobs{"fault.crash": 4}},
	} {
		if _, err := Open(spec); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", spec, err)
		}
	}
	bank := open(t, small(nil))
	if _, err := bank.Set(experiment.Knobs{"fault.crash": 1}, ""); err == nil || !strings.Contains(err.Error(), "micro-read") {
		t.Errorf("a crash under transactions: %v", err)
	}
	if k := findKnob(t, bank.Knobs(), "fault.crash"); k.Active || !strings.Contains(k.InactiveBecause, "no recovery yet") {
		t.Errorf("%+v", k)
	}
}

// A spec may begin with a machine down. All may be down, and nothing hangs.
func TestAllMachinesDown(t *testing.T) {
	s := open(t, experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 2, "threads": 2, "check": "off", "fault.crash": 1}})
	advance(t, s, 100_000)
	if r := s.Result(); r.Commits != 0 || r.Failed == 0 {
		t.Errorf("%d commits and %d errors without a second machine", r.Commits, r.Failed)
	}
	change(t, s, experiment.Knobs{"fault.crash": 0})
	advance(t, s, 50_000_000) // longer than a watchdog's patience
	change(t, s, experiment.Knobs{"fault.restart": 1})
	change(t, s, experiment.Knobs{"fault.restart": 0})
	advance(t, s, 1_000_000)
	if r := measured(t, s, 100_000); r.Commits == 0 || r.Failed != 0 {
		t.Errorf("%d commits, %d errors with both machines back", r.Commits, r.Failed)
	}
	change(t, s, experiment.Knobs{"fault.crash": 1})
	if err := s.Drain(); err != nil {
		t.Fatal(err)
	}
}

// NVM keeps what was persistent, and of what was in flight whole lines or nothing;
// DRAM is empty; and a restart brings back just that.
func TestCrashKeepsThePersistentDomain(t *testing.T) {
	for _, ddio := range []bool{true, false} {
		s := open(t, experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"servers": 1, "clients": 2, "threads": 4, "check": "off",
			"profile": "r74v", "nvm.durability": true, "ddio": ddio, "workload.keys": 2000}})
		m := s.fab.Machine(0)
		at, n := nvmOf(t, m)
		for i, b := 0, m.Mem.Bytes(at, n); i < n; i++ { // requests write zeros
			b[i] = byte(i%255) + 1
		}
		advance(t, s, 60_000)
		places := map[host.Place]int{}
		for l := 0; l < n; l += 64 {
			places[m.Where(at+space.Addr(l))]++
		}
		sure := m.AfterCrash(at, n, nil)
		now := bytes.Clone(m.Mem.Bytes(at, n))
		inFlight := make([]bool, n/64)
		for l := range inFlight {
			inFlight[l] = m.Where(at+space.Addr(64*l)) == host.InFlight
		}
		change(t, s, experiment.Knobs{"fault.crash": 0})
		left := bytes.Clone(m.Mem.Bytes(at, n))
		for l := range inFlight {
			if !inFlight[l] && !bytes.Equal(left[64*l:64*l+64], sure[64*l:64*l+64]) {
				t.Fatalf("ddio %v: line %d is not what the persistent domain had", ddio, l)
			}
		}
		lost := 0 // with the cache
		for l := range inFlight {
			if !inFlight[l] && !bytes.Equal(left[64*l:64*l+64], now[64*l:64*l+64]) {
				lost++
			}
		}
		if lost != places[host.InCache] || ddio != (lost > 0) {
			t.Errorf("ddio %v: %d lines are lost, of %v", ddio, lost, places)
		}
		change(t, s, experiment.Knobs{"fault.restart": 0})
		for !s.cl.Up(0) {
			advance(t, s, 1_000)
		}
		if again := m.Mem.Bytes(at, n); !bytes.Equal(again, left) {
			t.Errorf("ddio %v: the restart changes the NVM", ddio)
		}
		if r := measured(t, s, 200_000); r.Commits == 0 {
			t.Error("nothing is written after the restart")
		}
	}
}

// nvmOf finds the first megabytes of a machine's NVM.
func nvmOf(t *testing.T, m *fabric.Machine) (space.Addr, int) {
	t.Helper()
	for a := space.Addr(2 << 20); a < 1<<32; a += 2 << 20 {
		if m.Mem.OnNVM(a) {
			return a, 2000 * 64
		}
	}
	t.Fatal("no NVM is used")
	return 0, 0
}

// A run with crashes and restarts replays to its digest, however it is sliced.
func TestCrashesReplay(t *testing.T) {
	spec := experiment.Spec{Workload: "micro-write", Set: experiment.Knobs{"nodes": 4, "threads": 2, "check": "off", "window_ns": "20us", "fault.drop": 0.01, "opt.micro.pa": true}}
	run := func(slice int64) (*System, string) {
		s := open(t, spec)
		for i, k := range []experiment.Knobs{{"fault.crash": 1}, {"fault.crash": 3, "coroutines": 12}, {"fault.restart": 1, "fault.crash": 0}, {"fault.restart": 3}, {"coroutines": 3}, {"fault.restart": 0}} {
			for to := int64(i+1) * 137_001; s.NowNS() < to; {
				advance(t, s, min(slice, to-s.NowNS()))
			}
			change(t, s, k)
		}
		advance(t, s, 1_200_000)
		if err := s.Drain(); err != nil {
			t.Fatal(err)
		}
		return s, s.Digest()
	}
	a, x := run(1_000_000)
	b, y := run(7_003)
	if x != y || !reflect.DeepEqual(a.Windows(0), b.Windows(0)) {
		t.Errorf("digests %s and %s", x, y)
	}
	if r := a.Result(); r.Failed == 0 || r.Lost == 0 || !strings.Contains(r.String(), "with an error") {
		t.Errorf("%d errors, %d lost:\n%v", r.Failed, r.Lost, r)
	}
}

// Whatever crashes when: every request that begins ends once, as success or error;
// what is up works at the end; a drain comes to an end; and two runs are the same.
func TestRequestsEndOnce(t *testing.T) {
	drawSome(t)
	rapid.Check(t, func(r *rapid.T) {
		pick := func(name string, list ...any) any { return rapid.SampledFrom(list).Draw(r, name) }
		n := rapid.IntRange(2, 4).Draw(r, "nodes")
		k := experiment.Knobs{"nodes": n, "threads": rapid.IntRange(1, 2).Draw(r, "threads"), "coroutines": rapid.IntRange(1, 6).Draw(r, "coroutines"),
			"workload": pick("workload", "micro-read", "micro-write", "micro-atomic", "micro-rpc"), "workload.keys": 500, "check": "off",
			"opt.micro.or": pick("or", true, false), "opt.micro.db": pick("db", true, false), "fault.drop": pick("drop", 0.0, 0.01),
			"clients.arrival": pick("arrival", "closed", "closed", "open:1M"), "window_ns": "50us", "seed": rapid.IntRange(0, 1000).Draw(r, "seed")}
		switch k["workload"] {
		case "micro-write":
			k["opt.micro.pa"] = pick("pa", true, false)
			fallthrough
		case "micro-read":
			k["workload.primitive"], k["workload.objects"] = pick("primitive", "one-sided", "two-sided"), pick("objects", 1, 3)
		case "micro-rpc":
			k["workload.transport"] = pick("transport", "ud", "write", "hybrid")
		}
		if pick("nvm", true, false, false).(bool) {
			k["profile"], k["nvm.durability"] = "r74v", true
		}
		steps := rapid.SliceOfN(rapid.IntRange(1, 100_000), 1, 5).Draw(r, "steps")
		who := rapid.SliceOfN(rapid.IntRange(0, n-1), len(steps), len(steps)).Draw(r, "who")
		digests := [2]string{}
		for i := range digests {
			s, err := Open(experiment.Spec{Set: k})
			if err != nil {
				r.Fatal(err)
			}
			err = crashes(s, steps, who)
			digests[i] = s.Digest()
			s.Close()
			if err != nil {
				r.Fatal(err)
			}
		}
		if digests[0] != digests[1] {
			r.Error("two runs differ")
		}
	})
}

// drawSome has the test draw a quarter of the cases, unless it soaks or the command line says how many.
func drawSome(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	all, err := strconv.Atoi(checks.DefValue)
	if err != nil {
		t.Fatal(err)
	}
	if !workloadtest.Soak && checks.Value.String() == checks.DefValue {
		checks.Value.Set(strconv.Itoa(all / 4))
		t.Cleanup(func() { checks.Value.Set(checks.DefValue) })
	}
}

// crashes crashes and restarts machines, heals the system and drains it.
func crashes(s *System, steps, who []int) error {
	set := func(knob string, m int) error {
		_, err := s.Set(experiment.Knobs{knob: m}, "")
		return err
	}
	for i, ns := range steps {
		if err := s.Advance(int64(ns)); err != nil {
			return err
		}
		var err error
		switch m := who[i]; {
		case s.cl.Up(m):
			err = set("fault.crash", m)
		case !s.cl.Starting(m):
			err = set("fault.restart", m)
		}
		if err == nil {
			err = s.counted()
		}
		if err != nil {
			return err
		}
	}
	for len(s.down) > 0 {
		if err := set("fault.restart", s.down[0]); err != nil {
			return err
		}
	}
	heal, live := int64(500_000), int64(600_000) // longer than any break behind an error
	if s.values["fault.drop"] != 0.0 {           // what is lost is asked for again after 200 us or more, and if that is lost after twice the time
		heal, live = 4_000_000, 4_000_000
	}
	if err := s.Advance(heal); err != nil {
		return err
	}
	before := s.meter.Total()
	if err := s.Advance(live); err != nil {
		return err
	}
	if n := s.meter.Total().Minus(before); n.Commits == 0 || n.Failed > 0 {
		return fmt.Errorf("all machines are up, and %d requests succeed and %d fail: %s", n.Commits, n.Failed, s.waiting())
	}
	if len(steps)%2 == 1 { // a drain with a machine down
		if err := set("fault.crash", who[0]); err != nil {
			return err
		}
	}
	if err := s.Drain(); err != nil {
		return err
	}
	if s.load.queues == nil && !s.final.Invariants["littles-law"] { // a backlog has no end
		return fmt.Errorf("Little's law does not hold: %+v", *measure.LittleOf(&s.marked, s.end))
	}
	return s.counted()
}

// counted holds that every request that has begun has ended or is in flight, and
// that after a drain none is.
func (s *System) counted() error {
	n := 0
	for m, o := range s.load.ongoing.All() {
		if n += o.n; o.n < 0 {
			return fmt.Errorf("machine %d: %d more requests have ended than begun", m, -o.n)
		}
	}
	// Cores ahead of their events begin and end requests later than now.
	if flying := s.meter.Flight(s.sim.Now() + 100*sim.Microsecond).Count; flying != int64(n) {
		return fmt.Errorf("%d requests are in flight, %d have begun and not ended", flying, n)
	}
	if s.state == StateDrained && s.load.queues == nil && n != 0 {
		return fmt.Errorf("%d requests have not ended behind the drain", n)
	}
	return nil
}

// A core ahead of its events has booked work, and begun requests, beyond the instant of a crash: what
// was booked is not done, and no window has fewer than no requests in flight or cores busy for less
// than no time.
func TestCrashKeepsTheBooks(t *testing.T) {
	for _, profile := range []string{"val", "vale"} {
		s := open(t, experiment.Spec{Workload: "micro-rpc", Set: experiment.Knobs{"profile": profile, "nodes": 3, "threads": 2, "coroutines": 4, "check": "off", "window_ns": "1us", "workload.keys": 500}})
		from := 0
		for i := range 20 {
			advance(t, s, 30_000+777*int64(i))
			s.load.begun(1, 0, s.sim.Now()+sim.Microsecond) // as a core that is so far ahead does
			for m := range 3 {
				change(t, s, experiment.Knobs{"fault.crash": m})
			}
			advance(t, s, 3_000)
			for m := range 3 {
				change(t, s, experiment.Knobs{"fault.restart": m})
			}
			for !s.cl.Up(0) || !s.cl.Up(1) || !s.cl.Up(2) {
				advance(t, s, 1_000)
			}
			advance(t, s, 20_000)
			for _, w := range s.Windows(from) {
				from = w.Index + 1
				if u := w.Utilization["cpu"]; u.Mean < 0 || w.InFlight < 0 {
					t.Errorf("%s, crash %d, window %d: %g requests in flight, cores busy for %+v of the time", profile, i, w.Index, w.InFlight, u)
				}
			}
		}
	}
}

// A system with a machine down is closed without anything left.
func TestCloseWithAMachineDown(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := Open(experiment.Spec{Workload: "micro-rpc", Set: experiment.Knobs{"nodes": 3, "threads": 2, "check": "off"}})
	if err != nil {
		t.Fatal(err)
	}
	advance(t, s, 50_000)
	change(t, s, experiment.Knobs{"fault.crash": 2})
	change(t, s, experiment.Knobs{"fault.crash": 1})
	change(t, s, experiment.Knobs{"fault.restart": 2})
	advance(t, s, 50_000)
	s.Close()
	for end := time.Now().Add(time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left", n-before)
	}
}

// Arrivals are the same whoever waits for them: those that coroutines had claimed
// when their machine crashed come too.
func TestArrivalsGoOnBehindACrash(t *testing.T) {
	times := func(claims int) (all []sim.Time) {
		clock := sim.New(sim.Options{})
		defer clock.Close()
		a := &arrivals{mean: sim.Microsecond, rand: clock.Stream("arrivals", 0), clock: clock, arrived: func(at sim.Time) bool {
			all = append(all, at)
			return true
		}}
		a.kind = clock.Register("arrive", func(uint32) { a.event() })
		a.begin()
		for range 3 {
			for range claims {
				a.pop()
			}
			if err := clock.Run(clock.Now() + 2*sim.Microsecond); err != nil {
				t.Fatal(err)
			}
			if claims > 0 {
				a.crash()
			}
		}
		if err := clock.Run(30 * sim.Microsecond); err != nil {
			t.Fatal(err)
		}
		return all
	}
	if a, b := times(0), times(7); !reflect.DeepEqual(a, b) || len(a) < 10 {
		t.Errorf("they arrive at\n%v and\n%v", a, b)
	}
}
