// The tandem model on akita's serial engine: a station is a handler, the end of
// a service is an event.
package main

import (
	"fmt"
	"os"

	"github.com/sarchlab/akita/v4/sim"

	"drtmx/engine/sim/peers/go/tandem"
)

type doneEvent struct{ *sim.EventBase }

type station struct {
	*network
	tandem.Station
	next *station
}

type network struct {
	engine   *sim.SerialEngine
	services *tandem.Services
	jobs     []uint32 // job behind this one
	visits   uint64
	wanted   uint64
}

func (s *station) serve() {
	if s.visits < s.wanted {
		at := s.engine.CurrentTime() + sim.VTimeInSec(s.services.Draw())
		s.engine.Schedule(doneEvent{sim.NewEventBase(at, s)})
	}
}

// Handle is the end of a service.
func (s *station) Handle(sim.Event) error {
	s.visits++
	job := s.Pop(s.jobs)
	if s.First != tandem.None {
		s.serve()
	}
	if s.next.Push(s.jobs, job) {
		s.next.serve()
	}
	return nil
}

func main() {
	a := tandem.Parse("events")
	sim.UseSequentialIDGenerator()
	n := &network{
		engine:   sim.NewSerialEngine(),
		services: tandem.NewServices(),
		jobs:     make([]uint32, a.N),
		wanted:   a.Visits,
	}
	stations := make([]station, a.K)
	for i := range stations {
		stations[i] = station{n, tandem.Station{First: tandem.None}, &stations[(i+1)%a.K]}
	}
	for j := range a.N {
		if s := &stations[j%a.K]; s.Push(n.jobs, uint32(j)) {
			s.serve()
		}
	}
	begin := tandem.CPU()
	if err := n.engine.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	tandem.Report(n.visits, tandem.CPU()-begin, float64(n.engine.CurrentTime()))
}
