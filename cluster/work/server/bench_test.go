package server

import (
	"context"
	"sync"
	"testing"

	"drtmx/cluster/work"
	"drtmx/cluster/work/worktest"
)

// BenchmarkPoint is what a point costs besides its computation, here nothing: a sender with 64 points under way, a worker and the
// server, all on this machine. A result has 60 KB that compress well, as a run's JSON.
func BenchmarkPoint(b *testing.B) {
	body := make([]byte, 60<<10)
	for i := range body {
		body[i] = byte(i * i >> 7 & 15)
	}
	compute := func(context.Context, work.Point, func()) ([]byte, error) { return body, nil }
	for _, x := range []struct {
		name string
		open func() work.Queue
	}{
		{"local", func() work.Queue { return work.NewLocal() }},
		{"jetstream", func() work.Queue { return dial(b, work.Options{URL: start(b, Options{}).URL()}) }},
	} {
		b.Run(x.name, func(b *testing.B) {
			q := x.open()
			stop := worktest.Start(b, q, work.Worker{Compute: compute})
			const atOnce = 64
			next := make(chan work.Point)
			var wg sync.WaitGroup
			for range atOnce {
				wg.Go(func() {
					for p := range next {
						if _, err := q.Do(context.Background(), p); err != nil {
							b.Error(err)
						}
					}
				})
			}
			n := 0
			for b.Loop() {
				next <- worktest.Point(b, n)
				n++
			}
			close(next)
			wg.Wait()
			stop()
		})
	}
}

// BenchmarkAlone is how long one point takes that nothing waits beside: the way there and back.
func BenchmarkAlone(b *testing.B) {
	q := dial(b, work.Options{URL: start(b, Options{}).URL()})
	stop := worktest.Start(b, q, work.Worker{Compute: worktest.Compute(worktest.Echo)})
	n := 0
	for b.Loop() {
		if _, err := q.Do(context.Background(), worktest.Point(b, n)); err != nil {
			b.Fatal(err)
		}
		n++
	}
	stop()
}
