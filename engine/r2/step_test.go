package r2

import (
	"errors"
	"slices"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// A loop in steps does at the same times what it does in a coroutine, through a crash of the machine that it reads from and
// one of its own; the gate holds it when it asks whether it passes.
func TestStepsTakeTheTimeOfACoroutine(t *testing.T) {
	run := func(steps bool) (times []Time, failed int) {
		b := newBed(t, 3, Config{Threads: 1, Coroutines: 2}, fabric.Config{})
		b.cl.Spawn(0, 0, func(c *Co) {
			post := func() { c.Read(b.loc(1, Addr(64*c.Index())), 8) }
			done := func() { times = append(times, c.Now()) }
			for {
				c.Gate()
				sent := false
				if steps {
					c.Steps(func() bool {
						if sent {
							sent = false
							if done(); !c.Passes() {
								return false
							}
						}
						sent = true
						post()
						return c.StepWait()
					})
					if !sent {
						continue
					}
				} else {
					post()
				}
				switch err := c.Wait(); {
				case err == nil:
					done()
				case errors.Is(err, ErrUnreachable):
					failed++
					c.Sleep(20 * sim.Microsecond)
				default:
					t.Fatal(err)
				}
			}
		})
		again := func(m int) {
			b.run(50 * sim.Microsecond)
			if err := b.cl.Crash(m); err != nil {
				t.Fatal(err)
			}
			b.run(200 * sim.Microsecond)
			if _, err := b.cl.Restart(m); err != nil {
				t.Fatal(err)
			}
			b.run(100 * sim.Millisecond)
		}
		again(1)
		again(0)
		b.cl.ShutGate()
		b.run(50 * sim.Microsecond)
		if n := len(times); n > 0 {
			if b.run(50 * sim.Microsecond); len(times) != n {
				t.Error("the gate does not hold it")
			}
		}
		return times, failed
	}
	times, failed := run(true)
	want, lost := run(false)
	if len(want) < 1000 || lost == 0 {
		t.Fatalf("%d requests, %d errors", len(want), lost)
	}
	if !slices.Equal(times, want) || failed != lost {
		t.Errorf("%d requests and %d errors in steps, %d and %d in a coroutine, or at other times", len(times), failed, len(want), lost)
	}
}
