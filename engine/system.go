package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/exploration"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/measure"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	records "drtmx/engine/record"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
	"drtmx/rdpma/nvm"
)

// System states.
const (
	StateRunning  = "running"
	StateDraining = "draining" // a change of the lock's primitive or of stamps waits until no transaction is in flight
	StateDrained  = "drained"  // Drain was called: no transaction runs any more
	StateFailed   = "failed"
)

const (
	// barrierPoll is how often a drain looks whether everything has come to rest.
	barrierPoll = sim.Microsecond
	// maxChanges bounds the list of changes that a system remembers.
	maxChanges = 1000
	maxBy      = 64
)

// System is one simulated cluster at one moment of its virtual time. It belongs to one goroutine at
// a time. After a failure it can still be looked at.
type System struct {
	name   string
	values experiment.Knobs // as accepted
	code   string           // version of what it can execute; that of the build once a change has chosen other parts
	active experiment.Knobs // as in effect: behind values during a drain

	scaling *experiment.Scaling // nil: everything takes what the spec says

	sim    *sim.Sim
	fab    *fabric.Fabric
	cl     *r2.Cluster
	rec    *history.Recorder
	load   *driver
	room   int  // coroutines per thread that there are buffers for
	rings  bool // messages are written into rings
	kDrain sim.Kind

	barrierFrom, barrierBudget sim.Time // of the change that waits for a drain

	down    []int // machines, the last to crash at the end
	state   string
	err     error
	version int
	changes []result.Change
	auto    auto

	meter     *measure.Meter
	conflicts measure.Contention
	windows   measure.Ring
	res       measure.Resources
	latencies measure.Latencies
	merging   measure.Merging
	staleness measure.Staleness // of what snapshots read
	recent    []measure.Load    // at the end of the latest windows, for Inside
	start     measure.Cut       // of the open window
	marked    measure.Cut
	end       *measure.Cut // of the measured interval, once drained
	folded    folded       // what digests know of the windows
	dog       watchdog     // looks at every window's end
	final     *result.Checks
	contents  contents // once drained
	drained   *result.DrainStat
	wall      stopwatch
	plugged   plugged
	userTypes []string // that AddTransaction has added
	culprit   string   // the user's transaction that panicked
	tracer    *tracer  // nil: no trace

	recording *recording // nil: no history was asked for
}

// Open validates the spec, checks that it fits into memory and assembles the system at virtual
// time 0. Nothing is started on error.
func Open(spec experiment.Spec) (*System, error) { return OpenWith(context.Background(), spec, nil) }

// OpenWith is Open that ends with ctx and tells its progress, unless nil: a large system takes seconds.
// It looks at ctx between machines, before and behind the tables, and between steps of what starts warm.
func OpenWith(ctx context.Context, spec experiment.Spec, progress Progress) (*System, error) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return nil, err
	}
	if err := experiment.RefuseTooBig(v); err != nil {
		return nil, err
	}
	return assemble(&spec, v, &opening{ctx: ctx, progress: progress})
}

// OpenExplored is Open of a system of which Explored tells something.
func OpenExplored(spec experiment.Spec) (*System, error) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return nil, err
	}
	return assemble(&spec, v, &opening{ctx: context.Background(), explore: true})
}

// Explored is what holds messages back and notes in which order memory was accessed. nil: not asked for.
func (s *System) Explored() *exploration.Exploration { return s.fab.Exploration() }

// Checks are the verdict so far, after Drain the final one.
func (s *System) Checks() *result.Checks { return s.verdict() }

// assemble builds from the clock upwards.
func assemble(spec *experiment.Spec, v experiment.Knobs, o *opening) (s *System, err error) {
	s = &System{name: spec.Name, values: v, code: code.Of(v), scaling: spec.Scaling, active: v, state: StateRunning, version: 1}
	s.plugged.edition = knob.Edition()
	_, s.plugged.parts = experiment.PluggedAt(v)
	defer func() {
		if err != nil {
			s.Close()
			s = nil
		}
	}()
	sim.LargePages(experiment.HeapBytes(v))
	s.sim = sim.New(sim.Options{Seed: testbed.Seed(v), Trace: true})
	s.kDrain = s.sim.Register("engine.drain", func(uint32) { s.barrier() })
	if s.fab, err = newFabric(s.sim, v, spec.Scaling.Profile(spec.Profile(v)), o.explore); err != nil {
		return s, err
	}
	slowNICs(s.fab, v)
	cfg := experiment.R2Config(v)
	cfg.Between = o.machine
	cfg.ResendAfter = spec.Scaling.ResendAfter(s.fab.TCP())
	s.room, s.rings = cfg.Coroutines, cfg.Transport != r2.Datagrams
	if s.cl, err = r2.New(s.sim, s.fab, cfg); err != nil {
		return s, err
	}
	all, writers := experiment.ClaimsOf(v)
	s.rec = history.New(history.Options{Mode: history.Mode(v.Text("check")), Claim: all, Writers: writers, Initial: records.InitialSeq, KeyName: s.recordName, TypeName: s.typeName})
	s.describeNodes()
	s.conflicts, s.staleness = measure.NewContention(s.fab.Machines()), measure.NewStaleness(s.fab.Machines())
	if s.load, err = newDriver(s, v, o); err != nil {
		return s, err
	}
	s.meter = measure.NewMeter(s.fab.Machines(), len(s.load.bench.Types()))
	s.cl.SetCoroutines(testbed.Coroutines(v))
	s.cl.Assembled()
	s.load.start()
	s.spread()
	if err = s.applyNodeFaults(experiment.NodeFaults{Crash: v.Int("fault.crash"), Restart: experiment.NoMachine}); err != nil {
		return s, err
	}
	s.start = s.cut()
	s.keepLoad(s.start.Load)
	s.marked = s.start
	s.meter.Mark(0, measure.SpanFor(v))
	return s, nil
}

func newFabric(clock *sim.Sim, v experiment.Knobs, p *profile.Profile, explore bool) (*fabric.Fabric, error) {
	all, _ := testbed.Machines(v)
	var x *exploration.Exploration
	if explore || len(experiment.Delays(v)) > 0 {
		x = experiment.Exploration(v)
	}
	return fabric.New(clock, fabric.Config{
		Profile: p, Machines: all, NodeTypes: testbed.NodeTypes(p, v), NVM: testbed.NVMDevices(p), TornReads: v.Bool("torn_reads"), LossPPM: lossPPM(v), NoDDIO: !v.Bool("ddio"), NICs: v.Int("nics"),
		Durability:  v.Bool("nvm.durability") && testbed.HasNVM(v),
		Exploration: x,
		CacheNum:    uint32(math.Round(v.Float("workload.scale") * scaleUnit)), CacheDen: scaleUnit,
	})
}

// scaleUnit is the denominator of workload.scale.
const scaleUnit = 1_000_000

func lossPPM(v experiment.Knobs) uint32 { return uint32(math.Round(v.Float("fault.drop") * 1e6)) }

func (s *System) describeNodes() {
	s.res.Table = s.tableName
	members := testbed.Members(s.values)
	for m := range s.fab.Machines() {
		s.res.Nodes = append(s.res.Nodes, result.NodeUtil{Node: m, Type: s.fab.Machine(m).Type.Name, Role: members.Roles(m).String()})
	}
	s.eachDevice(func(m, socket int, d *nvm.Device) {
		for i := range d.Config().DIMMs {
			s.res.DIMMs = append(s.res.DIMMs, result.DIMMStat{Node: m, Socket: socket, DIMM: i + 1})
		}
	})
}

// Advance moves virtual time by dNS nanoseconds. The outcome does not depend on the slicing.
func (s *System) Advance(dNS int64) (err error) {
	s.refit()
	switch {
	case s.state == StateFailed:
		return s.err
	case s.state == StateDrained:
		return errors.New("the system is drained and does not run any further; open a new one")
	case dNS < 0 || dNS > math.MaxInt64/2000-s.NowNS():
		return &experiment.SpecError{Field: "virtual time", Value: fmt.Sprint(dNS), Rule: "cannot move by this many nanoseconds", Next: "use a positive span"}
	}
	return s.guarded(func() error { return s.run(s.sim.Now() + dNS*sim.Nanosecond) })
}

// guarded runs f, counts its wall time and turns a panic into the system's failure.
func (s *System) guarded(f func() error) (err error) {
	s.wall.start()
	defer s.wall.stop()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("simulator bug at %d ns: %v\n%s", s.NowNS(), p, debug.Stack())
		}
		if err != nil {
			err = s.blame(err)
			s.state, s.err = StateFailed, err
		}
	}()
	return f()
}

// run moves to until, cutting windows on the way.
func (s *System) run(until sim.Time) error {
	length := sim.Time(s.values.Int("window_ns")) * sim.Nanosecond
	for s.sim.Now() < until {
		edge := s.start.PS - s.start.PS%length + length
		if err := s.sim.Run(min(until, edge, s.meter.Spans.Next, s.gatherBy())); err != nil {
			return err
		}
		s.gather()
		s.meter.Tick(s.sim.Now())
		if s.sim.Now() == edge {
			s.cutWindow()
			if err := s.watch(); err != nil {
				return err
			}
			if err := s.reconsider(); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherEvery is how much virtual time passes at most until what machines write for the audits is gathered: some kilobytes of each.
const gatherEvery = 20 * sim.Microsecond

// gatherBy is when that is due.
func (s *System) gatherBy() sim.Time {
	if s.load.db == nil {
		return math.MaxInt64
	}
	return s.sim.Now() + gatherEvery
}

func (s *System) gather() {
	if s.load.db != nil {
		s.load.db.Gather()
	}
}

func (s *System) fail(err error) error {
	s.state, s.err = StateFailed, err
	return err
}

// NowNS is the virtual time.
func (s *System) NowNS() int64 { return s.sim.Now() / sim.Nanosecond }

// State is one of the State constants.
func (s *System) State() string { return s.state }

// Err is what failed the system, nil while it runs.
func (s *System) Err() error { return s.err }

// Values are all knobs as accepted; during a drain the old ones are still in effect.
func (s *System) Values() experiment.Knobs {
	s.refit()
	return s.values.Clone()
}

// Knobs is the registry as it stands in this system.
func (s *System) Knobs() []experiment.KnobState {
	s.refit()
	list, chosen := experiment.States(s.values, s.seen(s.values)), s.chosen()
	for i := range list {
		if c, ok := chosen[list[i].Name]; ok {
			list[i].Auto = &c
		}
	}
	return list
}

// KnobsVersion counts from 1; every accepted change adds one.
func (s *System) KnobsVersion() int { return s.version }

// Spec is the spec with every live change applied: a system opened from it starts with the knobs
// that this one has now.
func (s *System) Spec() experiment.Spec {
	s.refit()
	spec, err := experiment.SpecOf(s.name, s.values)
	if err != nil {
		panic("engine: accepted values do not resolve: " + err.Error())
	}
	return spec
}

// Changes lists the accepted changes, oldest first: the last thousand.
func (s *System) Changes() []result.Change { return append([]result.Change(nil), s.changes...) }

// Close ends all coroutines and frees the memory.
func (s *System) Close() {
	if s.sim != nil {
		s.sim.Close()
	}
	if s.fab != nil {
		// The address space is lost to this process if it cannot be given back; the error cannot be reported.
		_ = s.fab.Close()
		s.fab = nil
	}
}

// cut reads everything cumulative.
func (s *System) cut() measure.Cut {
	now := s.sim.Now()
	s.eachDevice(func(_, _ int, d *nvm.Device) { d.Advance(now) })
	c := measure.Cut{PS: now, Counts: s.meter.Total(), Lost: s.cl.Lost(), Open: s.load.arrivedSoFar(), Area: s.meter.Flight(now), EndedPS: s.meter.EndedPS(now), Events: s.sim.Events(), Verbs: s.verbCounts(), NVM: s.nvmStats(), DIMMs: s.dimms(), Bus: s.traffic(), Load: s.loads()}
	c.Gauges = s.gauges()
	c.Usage = s.fab.Usage(make([]metrics.Usage, 0, 128))
	c.Usage = s.nvmUsage(c.Usage)
	for m := range s.fab.Machines() {
		n := s.cl.Threads(m)
		u := metrics.Usage{Node: m, Resource: metrics.CPU, Servers: n}
		for t := range n {
			u.BusyPS += s.cl.BusyPS(m, t)
		}
		c.Usage = append(c.Usage, u)
	}
	return c
}

// gauges reads those of the transaction layer, and of its indexes and the workload if they have any.
func (s *System) gauges() *metrics.Readings {
	r := metrics.NewReadings()
	if db := s.load.db; db != nil {
		db.Gauges(r)
	}
	for _, part := range []any{s.load.indexes, s.load.bench} {
		if g, ok := part.(metrics.Gauged); ok {
			g.Gauges(r)
		}
	}
	return r
}

// verbNames are the keys of a result's verbs, in the order of fabric's opcodes.
var verbNames = [5]string{"send", "write", "read", "cas", "faa"}

func (s *System) verbCounts() (out [5]uint64) {
	posted := s.fab.Counts().Posted
	for i, op := range []fabric.Opcode{fabric.Send, fabric.Write, fabric.Read, fabric.CompareSwap, fabric.FetchAdd} {
		out[i] = posted[op]
	}
	return out
}

// stopwatch is the only wall clock of this room. It feeds wall_ms, which no digest contains.
type stopwatch struct {
	from  time.Time
	total time.Duration
}

func (w *stopwatch) start() { w.from = time.Now() } // wall-clock: for wall_ms

func (w *stopwatch) stop() { w.total += time.Since(w.from) } // wall-clock: for wall_ms

func (w *stopwatch) ms() int64 { return w.total.Milliseconds() }
