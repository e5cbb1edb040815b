// Package tandem is the model by which this simulator is compared with others: n
// jobs circulate through k FIFO stations with exponential service. It exists
// once per simulator, here for ours, beside it for the peers.
//
// The throughput is known: X = k n / (n + k - 1) visits per mean service time.
// Service times come from one table walked by one linear congruential generator,
// the same in every language, so that drawing them costs every simulator the
// same. The table fits the first-level cache: what is measured is the simulator.
package tandem

import (
	"fmt"
	"math"

	"drtmx/engine/sim"
)

// Mean is the mean service time, of the order of what a NIC does per message.
const Mean = 100 * sim.Nanosecond

// Result is what a run of one style measured.
type Result struct {
	Visits uint64   // completed services
	Until  sim.Time // virtual time at the end
	Err    error
}

// Throughput is the number of visits per mean service time.
func (r Result) Throughput() float64 { return float64(r.Visits) * float64(Mean) / float64(r.Until) }

// Theory is the throughput of n jobs and k stations.
func Theory(n, k int) float64 { return float64(k) * float64(n) / float64(n+k-1) }

// Styles are the ways in which the model is written, by name.
var Styles = []struct {
	Name string
	What string
	Make func(n, k int) *Model
}{
	{"events", "explicit queue, one event per visit", newEvents},
	{"station", "next-free station, one event per visit", newStation},
	{"process", "coroutine per job, next-free station", newProcess},
	{"acquire", "coroutine per job: acquire, sleep, release", newAcquire},
}

// New makes the model in the style of that name.
func New(style string, n, k int) (*Model, error) {
	for _, s := range Styles {
		if s.Name == style {
			return s.Make(n, k), nil
		}
	}
	return nil, fmt.Errorf("tandem: no style %q", style)
}

// Model is a network that is ready to run.
type Model struct {
	s      *sim.Sim
	k      uint32
	visits uint64
	lcg    uint64
	table  []sim.Time
}

// Run lets the network run until at least so many more visits are complete.
func (m *Model) Run(visits uint64) Result {
	v0, t0 := m.visits, m.s.Now()
	for m.visits-v0 < visits {
		if err := m.s.Run(m.s.Now() + 1000*Mean); err != nil {
			return Result{Err: err}
		}
	}
	return Result{Visits: m.visits - v0, Until: m.s.Now() - t0}
}

// Close ends the processes.
func (m *Model) Close() { m.s.Close() }

func newModel(k int) *Model {
	m := &Model{s: sim.New(sim.Options{}), k: uint32(k), lcg: 1, table: make([]sim.Time, 4096)}
	for i := range m.table {
		m.table[i] = sim.Time(-math.Log((float64(i)+0.5)/4096) * float64(Mean))
	}
	return m
}

func (m *Model) service() sim.Time {
	m.lcg = m.lcg*6364136223846793005 + 1442695040888963407
	return m.table[m.lcg>>52]
}

func (m *Model) after(station uint32) uint32 {
	if station++; station == m.k {
		return 0
	}
	return station
}

// newEvents: a station is a list of jobs of which the first is served. The
// argument of the completion event is the station.
func newEvents(n, k int) *Model {
	m := newModel(k)
	const none = ^uint32(0)
	next := make([]uint32, n) // job behind this one
	first, last := make([]uint32, k), make([]uint32, k)
	for i := range first {
		first[i] = none
	}
	var done sim.Kind
	arrive := func(job, at uint32) {
		next[job] = none
		if first[at] == none {
			first[at], last[at] = job, job
			m.s.At(m.s.Now()+m.service(), done, at)
			return
		}
		next[last[at]] = job
		last[at] = job
	}
	done = m.s.Register("done", func(at uint32) {
		m.visits++
		job := first[at]
		if first[at] = next[job]; first[at] != none {
			m.s.At(m.s.Now()+m.service(), done, at)
		}
		arrive(job, m.after(at))
	})
	for j := range n {
		arrive(uint32(j), uint32(j%k))
	}
	return m
}

// newStation: a job's event is its arrival at the next station.
func newStation(n, k int) *Model {
	m := newModel(k)
	stations := make([]sim.FIFO, k)
	where := make([]uint32, n)
	var arrive sim.Kind
	arrive = m.s.Register("arrive", func(job uint32) {
		at := where[job]
		where[job] = m.after(at)
		m.visits++
		m.s.At(stations[at].Serve(m.s.Now(), m.service()), arrive, job)
	})
	for j := range n {
		where[j] = uint32(j % k)
		m.s.At(0, arrive, uint32(j))
	}
	return m
}

func newProcess(n, k int) *Model {
	m := newModel(k)
	stations := make([]sim.FIFO, k)
	for j := range n {
		m.s.Go("job", func(p *sim.Proc) {
			for at := uint32(j % k); ; at = m.after(at) {
				p.WakeAt(stations[at].Serve(m.s.Now(), m.service()))
				p.Park()
				m.visits++
			}
		}).WakeAt(0)
	}
	return m
}

// mutex is a station held by one process; the others wait in order.
type mutex struct {
	held    bool
	waiting []*sim.Proc
	first   int
}

func (x *mutex) acquire(p *sim.Proc) {
	if x.held {
		if x.first == len(x.waiting) {
			x.waiting, x.first = x.waiting[:0], 0
		} else if len(x.waiting) == cap(x.waiting) && x.first > 0 {
			x.waiting, x.first = x.waiting[:copy(x.waiting, x.waiting[x.first:])], 0
		}
		x.waiting = append(x.waiting, p)
		p.Park() // release hands the station over
	}
	x.held = true
}

func (x *mutex) release(now sim.Time) {
	if x.first == len(x.waiting) {
		x.held = false
		return
	}
	x.waiting[x.first].WakeAt(now)
	x.first++
}

// newAcquire waits twice per visit, as processes of other simulators do.
func newAcquire(n, k int) *Model {
	m := newModel(k)
	stations := make([]mutex, k)
	for j := range n {
		m.s.Go("job", func(p *sim.Proc) {
			for at := uint32(j % k); ; at = m.after(at) {
				stations[at].acquire(p)
				p.Sleep(m.service())
				stations[at].release(m.s.Now())
				m.visits++
			}
		}).WakeAt(0)
	}
	return m
}
