// The tandem model with simgo, as processes (one per job: acquire, time out,
// release) and as event handlers.
package main

import (
	"github.com/fschuetz04/simgo"

	"drtmx/engine/sim/peers/go/tandem"
)

// mutex is a station that one process holds; the others wait in order.
type mutex struct {
	held    bool
	waiting []*simgo.Event
}

func (m *mutex) acquire(p simgo.Process) {
	if m.held {
		ev := p.Event()
		m.waiting = append(m.waiting, ev)
		p.Wait(ev) // release hands the station over
	}
	m.held = true
}

func (m *mutex) release() {
	if len(m.waiting) == 0 {
		m.held = false
		return
	}
	m.waiting[0].Trigger()
	m.waiting = m.waiting[1:]
}

func processes(s *simgo.Simulation, a tandem.Args, visits *uint64) {
	services := tandem.NewServices()
	stations := make([]mutex, a.K)
	for j := range a.N {
		s.Process(func(p simgo.Process) {
			for at := j % a.K; ; at = (at + 1) % a.K {
				stations[at].acquire(p)
				p.Wait(p.Timeout(services.Draw()))
				stations[at].release()
				*visits++
			}
		})
	}
}

func handlers(s *simgo.Simulation, a tandem.Args, visits *uint64) {
	services := tandem.NewServices()
	jobs := make([]uint32, a.N)
	stations := make([]tandem.Station, a.K)
	var serve func(at int)
	serve = func(at int) {
		s.Timeout(services.Draw()).AddHandler(func(*simgo.Event) {
			*visits++
			job := stations[at].Pop(jobs)
			if stations[at].First != tandem.None {
				serve(at)
			}
			if to := (at + 1) % a.K; stations[to].Push(jobs, job) {
				serve(to)
			}
		})
	}
	for i := range stations {
		stations[i].First = tandem.None
	}
	for j := range a.N {
		if stations[j%a.K].Push(jobs, uint32(j)) {
			serve(j % a.K)
		}
	}
}

func main() {
	a := tandem.Parse("process", "events")
	s := simgo.NewSimulation()
	var visits uint64
	if a.Style == "process" {
		processes(s, a, &visits)
	} else {
		handlers(s, a, &visits)
	}
	begin := tandem.CPU()
	for visits < a.Visits && s.Step() {
	}
	tandem.Report(visits, tandem.CPU()-begin, s.Now())
	s.Shutdown()
}
