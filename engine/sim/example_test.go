package sim_test

import (
	"fmt"

	"drtmx/engine/sim"
)

// Two clients share a disk that serves one request in 10 us. Code that waits is
// a process; the disk is a station; the end of a request is an event.
func Example() {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	var disk sim.FIFO
	for _, name := range []string{"alice", "bob"} {
		s.Go(name, func(p *sim.Proc) {
			for i := range 2 {
				p.WakeAt(disk.Serve(s.Now(), 10*sim.Microsecond))
				p.Park()
				fmt.Printf("%2d µs: request %d of %s\n", s.Now()/sim.Microsecond, i, name)
			}
		}).WakeAt(0)
	}
	if err := s.Run(sim.Second); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("the disk was busy for %d µs\n", disk.Busy/sim.Microsecond)
	// Output:
	// 10 µs: request 0 of alice
	// 20 µs: request 0 of bob
	// 30 µs: request 1 of alice
	// 40 µs: request 1 of bob
	// the disk was busy for 40 µs
}

// A component registers a handler per kind of event and keeps its state in a
// pool that the argument indexes.
func ExampleSim_At() {
	s := sim.New(sim.Options{})
	packets := []string{"ping", "pong"}
	var arrive sim.Kind
	arrive = s.Register("arrive", func(i uint32) {
		fmt.Printf("%4d ns: %s\n", s.Now()/sim.Nanosecond, packets[i])
		if i == 0 {
			s.At(s.Now()+600*sim.Nanosecond, arrive, 1)
		}
	})
	s.At(600*sim.Nanosecond, arrive, 0)
	if err := s.Run(sim.Forever); err != nil {
		fmt.Println(err)
	}
	// Output:
	//  600 ns: ping
	// 1200 ns: pong
}
