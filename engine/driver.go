package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/fabric/host"
	"drtmx/engine/knob"
	"drtmx/engine/measure"
	"drtmx/engine/membership"
	"drtmx/engine/metrics"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/result"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// driver runs a workload on the client machines of a system: closed loops, or open arrivals.
type driver struct {
	s     *System
	bench workload.Bench
	db    *txn.DB // nil: raw verbs

	indexes store.Indexes // nil: its transactions have no ordered tables

	spawned int // coroutines per thread that exist
	clients []client
	ignored []bool      // by type: requests that find nothing to do do not belong to the throughput
	queues  []*arrivals // open: one per client thread
	serving []arrival   // open: what each coroutine serves, none but its own
	ongoing owned.Each[ongoing]
	online  []workload.Invariant
}

// ongoing are the requests of a machine's clients that have begun, or if open
// arrived, and not ended.
type ongoing struct {
	n       int
	begins  sim.Time // sum
	latest  sim.Time // begin
	arrived uint64   // open: ever
}

func (o *ongoing) add(n int, begin sim.Time) {
	o.n += n
	o.begins += sim.Time(n) * begin
	o.latest = max(o.latest, begin)
}

// arrival is the open request that a coroutine serves.
type arrival struct {
	machine int
	at      sim.Time // it arrived; 0: there is none
}

// client is a worker that runs requests.
type client struct{ machine, thread int }

// tooLarge is what to do about tables that the machines have no room for.
func tooLarge(v experiment.Knobs, err error) error {
	var full *host.SpaceError
	if !errors.As(err, &full) && !errors.Is(err, store.ErrRows) {
		return err
	}
	next := "make its populations smaller, or lower workload.scale"
	if rows := experiment.Workloads.Of(v).Growth; rows != "" {
		next = "make its populations or " + rows + " smaller, or lower workload.scale, which leaves " + rows + " as it is"
	}
	if full != nil && full.Limited {
		next = "raise the limit of address space (ulimit -v), or " + next
	}
	return &experiment.SpecError{Field: "workload", Value: v.Text("workload"), Rule: fmt.Sprintf("its tables do not fit: %v", err), Next: next}
}

func newDriver(s *System, v experiment.Knobs, o *opening) (*driver, error) {
	bench, err := experiment.Workloads.Of(v).Build(v)
	if err != nil {
		return nil, err
	}
	members := testbed.Members(v)
	d := &driver{s: s, bench: bench, ongoing: owned.New[ongoing](members.Machines(), nil)}
	env := workload.Env{
		Cluster: s.cl, Members: members, Txn: experiment.TxnConfig(v, txn.Seen{}), Store: experiment.Stores.Of(v), Schemes: experiment.Schemes, Scale: s.scaling.CostsInCode(v), Recorder: s.rec, Conflicts: &s.conflicts, Log: replication.Choice{Kind: experiment.LogOf(v), Check: v.Text("check") == "full"}, Open: experiment.OpenRate(v) > 0,
		Ordered: experiment.Ordered.Of(v), Values: v,
		Indexes: func() (x store.Indexes, err error) {
			d.indexes, err = experiment.Ordered.Of(v).Indexes(s.cl, v)
			return d.indexes, err
		},
		OnBegin: d.begun, OnDone: d.done, OnAbort: d.aborted, OnSnapshotRead: func(machine int, ps r2.Time) { s.staleness.Add(machine, ps) },
	}
	if err := o.look("making the tables", builtShare); err != nil {
		return nil, err
	}
	if err := bench.Open(env); err != nil {
		return nil, tooLarge(v, err)
	}
	d.db, d.ignored = bench.DB(), uncounted(experiment.Workloads.Of(v), bench.Types())
	if err := d.set(v); err != nil {
		return nil, err
	}
	if v.Bool("warm") {
		if err := bench.Warm(o.warm); err != nil {
			return nil, err
		}
	}
	if err := o.look("starting the clients", warmedShare); err != nil {
		return nil, err
	}
	for _, m := range members.Of(membership.Client) {
		for t := range s.cl.Threads(m) {
			d.clients = append(d.clients, client{m, t})
		}
	}
	if rate := experiment.OpenRate(v); rate > 0 {
		d.openArrivals(rate)
	}
	return d, nil
}

// uncounted says of which types requests that find nothing to do do not belong to the throughput.
func uncounted(kind *workload.Kind, types []string) []bool {
	out := make([]bool, len(types))
	for i, name := range types {
		e, _ := kind.EmptyOf(name)
		out[i] = e.Uncounted
	}
	return out
}

// openArrivals gives each client thread its share of the rate.
func (d *driver) openArrivals(rate int) {
	kinds := map[int]sim.Kind{}
	mean := max(sim.Second/sim.Time(rate)*sim.Time(len(d.clients)), 1)
	for i, c := range d.clients {
		clock := d.s.sim.Machine(c.machine)
		if _, had := kinds[c.machine]; !had {
			kinds[c.machine] = clock.Register("engine.arrive", func(i uint32) { d.queues[i].event() })
		}
		d.queues = append(d.queues, &arrivals{
			mean: mean, rand: d.s.sim.Stream("engine.arrivals", uint64(i)), kind: kinds[c.machine], arg: uint32(i), clock: clock,
			arrived: func(at sim.Time) bool { return d.arrived(d.clients[i].machine, at) },
		})
	}
}

// arrived takes an open request in, or fails it because its machine is down.
func (d *driver) arrived(machine int, at sim.Time) bool {
	if !d.s.cl.Up(machine) {
		d.s.meter.Add(machine, &measure.Request{})
		return false
	}
	x := d.ongoing.Of(machine)
	x.arrived++
	x.add(1, at)
	d.s.meter.Began(machine, d.now(machine), at)
	return true
}

// crashed ends the requests of a machine's clients: they fail with it. When each of
// them began is unknown by now, so all have the mean latency.
func (d *driver) crashed(machine int) {
	now, x := d.s.sim.Now(), d.ongoing.Of(machine)
	end := max(now, x.latest) // a core ahead of its events may have begun one later than now
	total := sim.Time(x.n)*end - x.begins
	for n := x.n; n > 0; n-- {
		each := total / sim.Time(n)
		total -= each
		d.s.meter.Ended(machine, now, end, each)
		d.s.meter.Add(machine, &measure.Request{LatencyPS: each})
	}
	for i, q := range d.queues {
		if d.clients[i].machine == machine {
			q.crash()
		}
	}
	for i := range d.serving {
		if d.serving[i].machine == machine {
			d.serving[i].at = 0
		}
	}
	*x = ongoing{arrived: x.arrived}
	if d.db != nil {
		d.db.Book().Crashed(machine)
	}
	if w, ok := d.bench.(workload.Crashing); ok {
		w.Crashed(machine)
	}
}

// overloadedSince says that more requests have arrived since a cut than were served, by more than chance.
func (s *System) overloadedSince(from *measure.Cut) bool {
	o := measure.OpenOf(from, &measure.Cut{PS: s.sim.Now(), Open: s.load.arrivedSoFar()})
	return o != nil && o.Overloaded
}

// arrivedSoFar counts open requests.
func (d *driver) arrivedSoFar() (a measure.Arrived) {
	if d.queues == nil {
		return a
	}
	n := 0
	for _, x := range d.ongoing.All() {
		a.Requests += x.arrived
		n += x.n
	}
	a.InFlight = uint64(max(n, 0))
	return a
}

// oldest is when the first of the open requests that have not ended arrived, now if there is none.
func (d *driver) oldest(now sim.Time) sim.Time {
	for _, q := range d.queues {
		if len(q.backlog) > 0 {
			now = min(now, q.backlog[0])
		}
	}
	for _, c := range d.serving {
		if c.at > 0 {
			now = min(now, c.at)
		}
	}
	return now
}

// start spawns the coroutines and the arrivals.
func (d *driver) start() {
	d.spawn(testbed.Coroutines(d.s.active))
	if d.db != nil {
		d.db.Prepare()
	}
	for _, q := range d.queues {
		q.begin()
	}
}

// spawn makes coroutines up to n per thread.
func (d *driver) spawn(n int) {
	for ; d.spawned < n; d.spawned++ {
		for i, c := range d.clients {
			co := d.s.cl.Spawn(c.machine, c.thread, func(co *r2.Co) { d.loop(co, i) })
			for d.queues != nil && int(co.ID()) >= len(d.serving) {
				d.serving = append(d.serving, arrival{})
			}
		}
	}
}

// loop is a client coroutine.
func (d *driver) loop(co *r2.Co, i int) {
	r := d.bench.Runner(co)
	for {
		co.Gate()
		if d.queues != nil {
			at := d.queues[i].await(co)
			if co.Index() >= testbed.Coroutines(d.s.active) && d.queues[i].pushBack(at) {
				continue // there are fewer coroutines now, and this one will be held
			}
			d.serving[co.ID()] = arrival{co.Machine(), at}
		}
		if err := r.Next(); err != nil {
			co.Fail(fmt.Errorf("request on machine %d thread %d: %w", co.Machine(), co.Thread(), err))
			return
		}
	}
}

// now is the time of a machine's clock.
func (d *driver) now(machine int) sim.Time { return d.s.fab.Machine(machine).Now() }

// begun counts a closed client's request as in flight; an open one's counts since its arrival.
func (d *driver) begun(machine, _ int, at r2.Time) {
	if d.queues == nil {
		d.ongoing.Of(machine).add(1, at)
		d.s.meter.Began(machine, d.now(machine), at)
	}
}

// aborted counts an attempt when a conflict has ended it: its request may outlast the measured interval.
func (d *driver) aborted(machine int, typ uint8) { d.s.meter.Aborted(machine, int(typ)) }

func (d *driver) done(machine, thread int, o *txn.Outcome) {
	latency, waited := o.End-o.Begin, r2.Time(0)
	if d.queues != nil {
		latency = o.End - d.serving[o.Co].at
		waited = o.Begin - d.serving[o.Co].at
		d.serving[o.Co].at = 0
	}
	if d.s.tracer != nil {
		d.s.tracer.done(machine, thread, o, waited)
	}
	if x := d.s.fab.Exploration(); x != nil {
		x.Span(uint64(o.Co), o.Last, o.Decision)
	}
	d.ongoing.Of(machine).add(-1, o.End-latency)
	d.s.meter.Ended(machine, d.now(machine), o.End, latency)
	phases := o.Phases
	if phases == 0 {
		phases = metrics.AllPhases
	}
	if waited > 0 {
		phases |= metrics.SetOf(metrics.PhaseOther)
	}
	o.Breakdown[metrics.PhaseOther][metrics.Asleep] += waited
	d.s.meter.Add(machine, &measure.Request{
		Typ: int(o.Type), Committed: o.Committed, RolledBack: o.RolledBack, Empty: o.Empty, Uncounted: o.Empty && int(o.Type) < len(d.ignored) && d.ignored[o.Type], LatencyPS: latency,
		Phases: phases, Breakdown: o.Breakdown, Trips: o.RoundTrips,
	})
	o.Breakdown[metrics.PhaseOther][metrics.Asleep] -= waited // one Outcome serves many requests
}

// set puts live knobs into effect; they have been validated.
func (d *driver) set(v experiment.Knobs) error {
	if d.db != nil {
		if err := d.db.SetConfig(d.s.txnConfig(v)); err != nil {
			return err
		}
	}
	if d.spawned > 0 {
		d.spawn(testbed.Coroutines(v))
	}
	w := experiment.Workloads.Of(v)
	for _, positive := range []bool{true, false} { // weights must never sum to 0 on the way
		for _, t := range w.Mix {
			if n := v.Int("workload.mix." + t.Name); (n > 0) == positive {
				if err := d.bench.Set("mix."+t.Name, n); err != nil {
					return err
				}
			}
		}
	}
	if w.Live != nil {
		if err := w.Live(d.bench, v); err != nil {
			return err
		}
	}
	if on, ok := d.bench.(workload.OnKV); ok {
		if k := experiment.Ordered.Of(v); k.Set != nil {
			if err := k.Set(on.KV(), v); err != nil {
				return err
			}
		}
	}
	if x, ok := d.indexes.(store.LiveIndexes); ok {
		if err := x.Set(v); err != nil {
			return err
		}
	}
	for _, name := range w.Knobs {
		if knob.Find(name).Live && !experiment.IsGroup(name) {
			if err := d.bench.Set(strings.TrimPrefix(name, "workload."), v[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ends says whether the workload comes to an end by itself, and whether it has.
func (d *driver) ends() (finite, finished bool) {
	w, finite := d.bench.(workload.Finite)
	return finite, finite && w.Finished()
}

// idle says that it is no wonder when nothing finishes: no request has arrived, all there are have ended, or no client
// is up.
func (d *driver) idle() bool {
	if _, finished := d.ends(); finished {
		return true
	}
	if d.queues != nil && d.arrivedSoFar().InFlight == 0 {
		return true
	}
	for _, c := range d.clients {
		if d.s.cl.Up(c.machine) {
			return false
		}
	}
	return true
}

// drained says that no transaction is in flight and nothing is left to apply.
func (d *driver) drained() bool {
	return (d.db == nil || d.db.InFlight() == 0) && d.counted() == 0 && d.s.cl.Quiet()
}

// counted is how many requests a workload that counts them has in flight.
func (d *driver) counted() int {
	if w, ok := d.bench.(workload.Counting); ok {
		return w.InFlight()
	}
	return 0
}

// busy is how many transactions, or requests of raw verbs, are in flight.
func (d *driver) busy() int {
	if d.db != nil {
		return d.db.InFlight()
	}
	if n := d.counted(); n > 0 {
		return n
	}
	return d.s.fab.InFlight()
}

// look asks the workload for what can be said while it runs.
func (d *driver) look() {
	if m, ok := d.bench.(workload.Merging); ok {
		m.Merge(d.s.sim.Now())
	}
	if o, ok := d.bench.(workload.Online); ok && d.s.values.Text("check") != "off" {
		d.online = o.CheckOnline()
	}
}

// addChecks adds what the latest look said.
func (d *driver) addChecks(r *result.Checks) {
	for _, inv := range d.online {
		d.s.judged(r, inv)
	}
	for _, inv := range d.stale() {
		d.s.judged(r, inv)
	}
}

// stalenessBound is how stale what snapshots read now is at most, where that is promised.
func (d *driver) stalenessBound() (ns int64, ok bool) {
	if d.db == nil {
		return 0, false
	}
	return d.db.StalenessBound()
}

// stale is the verdict on the staleness of what snapshots have read, if there is one.
func (d *driver) stale() []workload.Invariant {
	if d.db == nil {
		return nil
	}
	broken, ok := d.db.StalenessVerdict()
	if !ok {
		return nil
	}
	return []workload.Invariant{{Name: "snapshots.staleness", OK: broken == "", Rule: "what a snapshot reads was not replaced longer before its begin than the bound says", Text: broken}}
}

// unmeasured says what there was no memory to judge, "" if all was judged.
func (d *driver) unmeasured() string {
	if d.db == nil {
		return ""
	}
	return d.db.StalenessUnmeasured()
}

// judged adds a verdict to a report.
func (s *System) judged(r *result.Checks, inv workload.Invariant) {
	switch {
	case inv.Needs != "" && !s.rec.Claims(inv.Needs):
		r.Unclaim(inv.Name, inv.Needs)
	case inv.OK:
		r.Invariant(inv.Name, true)
	default:
		r.Violation(inv.Name, inv.Violation())
	}
}

// finish asks the oracles, after a drain.
func (d *driver) finish(e *drainEnd) ([]workload.Invariant, error) {
	if err := e.check(0); err != nil {
		return nil, err
	}
	list := d.bench.Check()
	for i := range list {
		for _, inv := range d.online { // what was broken on the way does not become whole by the end
			if inv.Name == list[i].Name && !inv.OK {
				list[i] = inv
			}
		}
	}
	if err := e.check(1); err != nil {
		return nil, err
	}
	if d.db != nil {
		equal := d.db.CheckReplicas()
		list = append(list, workload.Invariant{Name: "replicas.equal", OK: equal, Rule: "a record is the same on its backups as on its primary, and is not locked (the anomalies say which is not)"})
	}
	return append(list, d.stale()...), e.check(2)
}

// contents are the hashes of what the memories hold.
func (d *driver) contents(e *drainEnd) (c contents, err error) {
	for m := range d.s.fab.Machines() {
		if err := e.check(3); err != nil {
			return c, err
		}
		c.memory = d.s.fab.Machine(m).Mem.Digest(c.memory)
	}
	if d.db != nil {
		c.rows = d.db.Contents()
	}
	return c, nil
}

// arrivals is the open client model of one worker: requests arrive at random, wait in one queue, and
// the worker's coroutines take them in order. A coroutine takes the next arrival when it becomes
// free; if that lies in the future it sleeps until then. That is a queue with as many servers as
// coroutines, without a wake-up from outside.
type arrivals struct {
	mean    sim.Time // between two
	rand    *sim.Rand
	kind    sim.Kind
	arg     uint32
	clock   *sim.Sim
	drawn   sim.Time               // time of the last arrival drawn
	ahead   []sim.Time             // taken before they arrived: not yet counted as in flight
	backlog []sim.Time             // arrived and not yet taken
	known   []sim.Time             // drawn for coroutines that a crash has ended
	next    sim.Time               // the arrival whose event is scheduled
	arrived func(at sim.Time) bool // false: it was refused
}

// maxBacklog bounds the queue in front of a worker: an open system above its capacity fails with a
// message rather than filling the memory.
const maxBacklog = 1 << 16

// begin schedules the first arrival.
func (a *arrivals) begin() {
	a.next = a.draw()
	a.clock.At(a.next, a.kind, a.arg)
}

func (a *arrivals) draw() sim.Time {
	if len(a.known) > 0 {
		at := a.known[0]
		a.known = a.known[1:]
		return at
	}
	a.drawn += 1 + a.rand.Exp(a.mean)
	return a.drawn
}

// event is an arrival.
func (a *arrivals) event() {
	taken := a.arrived(a.next)
	if len(a.ahead) > 0 && a.ahead[0] == a.next {
		a.ahead = a.ahead[1:]
	} else if taken {
		a.backlog = append(a.backlog, a.next)
	}
	if len(a.backlog) > maxBacklog {
		a.clock.Fail(fmt.Errorf("clients.arrival: %d requests wait for one worker: more arrive than the system can serve; lower the rate, or use clients.arrival=closed to see what it can do", maxBacklog))
		return
	}
	if len(a.ahead) > 0 {
		a.next = a.ahead[0]
	} else {
		a.next = a.draw()
	}
	a.clock.At(a.next, a.kind, a.arg)
}

// crash forgets the waiting coroutines: the requests are gone with them, those that arrive later
// come even so.
func (a *arrivals) crash() {
	if len(a.ahead) > 0 { // the first is the next
		a.known = append(slices.Clone(a.ahead[1:]), a.known...)
	}
	a.ahead, a.backlog = nil, nil
}

// pop is when the next request arrives or has arrived.
func (a *arrivals) pop() sim.Time {
	if len(a.backlog) > 0 {
		at := a.backlog[0]
		a.backlog = a.backlog[1:]
		return at
	}
	if len(a.ahead) == 0 {
		a.ahead = append(a.ahead, a.next)
		return a.next
	}
	at := a.draw()
	a.ahead = append(a.ahead, at)
	return at
}

// pushBack gives a request back to the queue, if its turn among the arrivals has come.
func (a *arrivals) pushBack(at sim.Time) bool {
	switch i := slices.Index(a.ahead, at); {
	case i > 0:
		return false
	case i == 0: // its event is still to come
		a.ahead = a.ahead[1:]
		return true
	}
	i, _ := slices.BinarySearch(a.backlog, at)
	a.backlog = slices.Insert(a.backlog, i, at)
	return true
}

// await takes a request and waits for it on c. It returns when the request arrived.
func (a *arrivals) await(c *r2.Co) (at sim.Time) {
	at = a.pop()
	if d := at - c.Now(); d > 0 {
		c.Sleep(d)
	}
	return at
}
