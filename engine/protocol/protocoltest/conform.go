package protocoltest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/engine/workload/workloadtest"
)

// suite is one protocol that is held to it.
type suite struct {
	kind    *txn.Kind
	inserts bool             // and deletes
	base    experiment.Knobs // of every system
	free    bool             // bodies may do what they like, else they are in pieces
}

// Conform holds a protocol of the list of parts, or one that is plugged in, to all that the package comment says.
func Conform(t *testing.T, kind txn.Kind) {
	s := &suite{kind: experiment.Protocols.Named(kind.Name)}
	if s.kind == nil {
		t.Fatalf("protocol %s is in no list of parts: plug it in first", kind.Name)
	}
	s.inserts = s.kind.HasFeature(txn.HasInserts)
	s.base = experiment.Knobs{"cc": kind.Name, "check": "full", "cache.bytes": "1MB", "window_ns": "50us", "drain_ns": "500ms", "ts.gc_ns": "50us"}
	if s.kind.HasFeature(txn.HasAborts) { // who reads a record and then writes it comes again and again where back-off is short
		s.base["txn.backoff_max_ns"] = "1ms"
	}
	s.waitLittle()
	_, s.free = s.legal(experiment.Knobs{"workload": "smallbank"})
	before := cpu()
	t.Run("runs", s.runs)
	t.Run("live", s.live)
	t.Run("drawn", s.drawn)
	t.Run("twice", s.twice)
	t.Run("alike", s.alike)
	t.Run("explored", s.explored)
	t.Run("alone", s.alone)
	t.Logf("%.1f s of CPU", (cpu() - before).Seconds())
}

// cpu is what the process has taken of it.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// waitLittle has deadlocks end soon, where attempts wait in them: so there are many.
func (s *suite) waitLittle() {
	v, ok := s.legal(nil)
	if !ok || s.kind.LongestWait == nil || s.kind.LongestWait(v) == 0 {
		return
	}
	for _, r := range s.kind.Rows(experiment.Workloads.Load) {
		if r.Kind != knob.Duration {
			continue
		}
		set := experiment.Knobs{r.Name: "200us"}
		if less, ok := s.legal(set); ok && s.kind.LongestWait(less) < s.kind.LongestWait(v) {
			s.base, v = merged(s.base, set), less
		}
	}
}

// lossy is what runs under contention have beside.
var lossy = experiment.Knobs{"fault.drop": 0.01}

// runs has each two values of choices meet, and published designs as they are. In make soak, all combinations of primitives.
func (s *suite) runs(t *testing.T) {
	loads := s.loads()
	if len(loads) == 0 {
		t.Fatal("it runs no workload of transactions")
	}
	all := s.choices(loads)
	rows := s.pairs(all)
	if workloadtest.Soak {
		rows = append(rows, s.product(all)...)
	}
	commits, aborts := uint64(0), uint64(0)
	for i, l := range loads {
		t.Run(l.name, func(t *testing.T) {
			n := 0
			for seed, row := range rows {
				if row[0] != i || testing.Short() && n == max(2, 30/len(loads)) {
					continue
				}
				n++
				r := s.stress(t, merged(chosen(all, row), experiment.Knobs{"seed": seed + 1}), workloadtest.Effort(uint64(400), 60))
				commits, aborts = commits+r.Commits, aborts+r.Aborts
			}
		})
	}
	for i, p := range s.kind.Presets {
		t.Run(p, func(t *testing.T) {
			for k := range workloadtest.Effort(len(loads), 4) {
				l := loads[(i+3*k)%len(loads)]
				s.stress(t, merged(l.set, merged(deployments.values[(i+k)%len(deployments.values)], experiment.Knobs{"preset": p, "seed": k + 1})), workloadtest.Effort(uint64(2_000), 250))
			}
		})
	}
	t.Logf("%d systems of %d choices, %d transactions committed, %d attempts aborted", len(rows), len(all), commits, aborts)
	if s.kind.HasFeature(txn.HasAborts) && aborts == 0 && !t.Failed() {
		t.Error("no attempt aborted: transactions did not meet")
	}
}

// product are all combinations of primitives and of what else the protocol's own choices are, with everything else at random.
func (s *suite) product(all []choice) (rows [][]int) {
	rand := sim.New(sim.Options{Seed: 1}).Stream("product", 0)
	var main []int // the choices that are combined
	for i, c := range all {
		if primitive(c) {
			main = append(main, i)
		}
	}
	row := none(all)
	var each func(k int)
	each = func(k int) {
		if k < len(main) {
			for row[main[k]] = range all[main[k]].values {
				if s.allowed(all, row) {
					each(k + 1)
				}
			}
			row[main[k]] = -1
			return
		}
		if full := s.fill(all, row, rand); full[0] >= 0 {
			rows = append(rows, full)
		}
	}
	each(0)
	return rows
}

// none is the row in which nothing is chosen.
func none(all []choice) []int { return slices.Repeat([]int{-1}, len(all)) }

// fill is a row with what it leaves open at random, as far as that can be.
func (s *suite) fill(all []choice, row []int, rand *sim.Rand) []int {
	full := slices.Clone(row)
	for c := range full {
		for tries := 0; full[c] < 0 && tries < 3; tries++ {
			if full[c] = rand.Intn(len(all[c].values)); !s.allowed(all, full) {
				full[c] = -1
			}
		}
	}
	return full
}

// primitive says that a choice is one of primitives or policies.
func primitive(c choice) bool {
	return c.knob != nil && c.knob.Kind == knob.Choice && c.knob.Group == knob.Phases
}

// Virtual time of a run: until it has committed enough, but not for ever where transactions wait or abort all the time.
const (
	sliceNS = 100_000
	mostNS  = 6_000_000
)

// stress runs a system until so many transactions have committed, and judges it at rest.
func (s *suite) stress(t *testing.T, set experiment.Knobs, commits uint64) *result.Result {
	t.Helper()
	sys, spec := s.open(t, merged(lossy, set))
	defer sys.Close()
	var err error
	for err == nil && sys.Result().Commits < commits && sys.NowNS() < mostNS {
		err = sys.Advance(sliceNS)
	}
	return judged(t, sys, spec, err)
}

// open opens a system.
func (s *suite) open(t *testing.T, set experiment.Knobs) (*engine.System, experiment.Spec) {
	t.Helper()
	spec, err := s.spec(set)
	if err != nil {
		t.Fatal(err)
	}
	sys, err := engine.Open(spec)
	if err != nil {
		t.Fatalf("%v\n%s", err, spec.YAML())
	}
	return sys, spec
}

// judged drains a system and fails the test with all that is wrong, and the spec that shows it.
func judged(t *testing.T, sys *engine.System, spec experiment.Spec, err error) *result.Result {
	t.Helper()
	if err == nil {
		err = sys.Drain()
	}
	r := sys.Result()
	if err == nil {
		err = wrong(r)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, spec.YAML())
	}
	return r
}

// wrong is what the checks of a run have found.
func wrong(r *result.Result) error {
	c := r.Checks
	said := c.Findings()
	for _, a := range c.Anomalies {
		if a.Breaks {
			said = append(said, a.Kind+": "+a.Text)
		}
	}
	switch {
	case len(said) > 0:
		return errors.New(strings.Join(said, "\n"))
	case !c.Judged():
		return errors.New(c.Why())
	case r.Commits == 0:
		return errors.New("nothing committed")
	}
	return nil
}

// live changes knobs at random while systems run, and has them come to rest.
func (s *suite) live(t *testing.T) {
	loads := s.loads()
	all := s.choices(loads)
	rows := s.pairs(all)
	rounds, changes, pending := workloadtest.Effort(3*len(rows), 12), 0, 0
	if testing.Short() {
		rounds = 8
	}
	for seed := range rounds {
		row := rows[seed*len(rows)/rounds%len(rows)]
		c, p := s.change(t, all, rows, merged(chosen(all, row), experiment.Knobs{"seed": seed + 1}))
		changes, pending = changes+c, pending+p
	}
	t.Logf("%d systems, %d changes, %d of them behind a drain barrier", rounds, changes, pending)
	if changes == 0 {
		t.Error("no knob was changed")
	}
}

// change runs a system whose knobs change, and says how often they did, and how often that waited for a drain.
func (s *suite) change(t *testing.T, all []choice, rows [][]int, set experiment.Knobs) (changes, pending int) {
	t.Helper()
	sys, spec := s.open(t, merged(lossy, set))
	defer sys.Close()
	rand := sim.New(sim.Options{Seed: uint64(set["seed"].(int))}).Stream("live", 0)
	var err error
	for n := range 40 {
		if err = sys.Advance(int64(5_000 + rand.Intn(60_000))); err != nil {
			break
		}
		for range 60 { // many are refused, or mean nothing
			to := experiment.Knobs{}
			if n%2 == 0 { // all primitives at once, for some go only together
				row := rows[rand.Intn(len(rows))]
				for i, v := range row {
					if v >= 0 && primitive(all[i]) && all[i].knob.Live {
						maps.Copy(to, all[i].values[v])
					}
				}
			} else if mix := s.mixOf(spec); len(mix) > 0 && rand.Intn(8) == 0 {
				to = experiment.Knobs{"workload.mix." + mix[rand.Intn(len(mix))].Name: rand.Intn(100)}
			} else if c := all[rand.Intn(len(all))]; c.name == "timestamps" || c.knob != nil && c.knob.Live {
				to = c.values[rand.Intn(len(c.values))]
			}
			done, err := sys.Set(to, "conform")
			if err != nil || len(to) == 0 {
				continue
			}
			if changes++; done.Pending {
				pending++
			}
			break
		}
	}
	for err == nil && sys.Result().Commits == 0 && sys.NowNS() < mostNS {
		err = sys.Advance(sliceNS)
	}
	if err == nil {
		_, err = sys.Set(experiment.Knobs{"fault.drop": 0.0}, "conform")
	}
	r := judged(t, sys, spec, err)
	if r.Checks.Transactions == 0 {
		t.Errorf("no transaction was checked\n%s", spec.YAML())
	}
	return changes, pending
}

// mixOf are the types of transactions of a system, whose shares may change.
func (s *suite) mixOf(spec experiment.Spec) []workload.MixType {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return nil
	}
	return experiment.Workloads.Of(v).Mix
}

// twice runs a system at a stretch, and again in pieces while others look at it.
func (s *suite) twice(t *testing.T) {
	loads := s.loads()
	all := s.choices(loads)
	rows := s.pairs(all)
	for n := range workloadtest.Effort(len(rows), 3) {
		row := rows[(n*7+3)%len(rows)]
		set := merged(merged(lossy, chosen(all, row)), experiment.Knobs{"seed": n + 1})
		run := func(pieces, until int64) (string, int64) {
			sys, spec := s.open(t, set)
			defer sys.Close()
			var err error
			for err == nil && sys.NowNS() < until && (until < mostNS || sys.Result().Commits < 60) {
				if err = sys.Advance(min(pieces, until-sys.NowNS())); until < mostNS {
					sys.Windows(0)
					sys.Result()
					sys.Knobs()
				}
			}
			now := sys.NowNS()
			return fmt.Sprintf("%+v", judged(t, sys, spec, err).Digests), now
		}
		once, until := run(sliceNS, mostNS)
		if again, _ := run(until/23+1, until); once != again {
			spec, _ := s.spec(set)
			t.Errorf("at a stretch\n%s\nin pieces\n%s\n%s", once, again, spec.YAML())
		}
	}
}
