package sim_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"drtmx/engine/sim"
)

// goroutines is the number of goroutines, after waiting a little for those that
// are about to end, until there are at most so many.
func goroutines(most int) int {
	for range 100 {
		if runtime.NumGoroutine() <= most {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return runtime.NumGoroutine()
}

func TestSleepAndWake(t *testing.T) {
	s := sim.New(sim.Options{})
	defer s.Close()
	var log []string
	note := func(format string, a ...any) {
		log = append(log, fmt.Sprintf("%d ", s.Now())+fmt.Sprintf(format, a...))
	}
	b := s.Go("b", func(p *sim.Proc) {
		note("b starts")
		p.Park()
		note("b woken")
	})
	a := s.Go("a", func(p *sim.Proc) {
		note("a starts")
		p.Sleep(100)
		note("a wakes b")
		b.WakeAt(150)
		p.Sleep(100)
		note("a ends")
	})
	a.WakeAt(10)
	b.WakeAt(20)
	b.WakeAt(1000) // finds b ended
	if err := s.Run(sim.Forever); err != nil {
		t.Fatal(err)
	}
	want := []string{"10 a starts", "20 b starts", "110 a wakes b", "150 b woken", "210 a ends"}
	if !slices.Equal(log, want) {
		t.Errorf("log %q, want %q", log, want)
	}
	if !a.Done() || !b.Done() || a.Name() != "a" {
		t.Errorf("a done %v, b done %v, name %q", a.Done(), b.Done(), a.Name())
	}
}

func explode(what []int) { what[len(what)]++ }

func TestPanicInProcess(t *testing.T) {
	base := goroutines(2) // those of the testing package
	s := sim.New(sim.Options{})
	after := 0
	for i := range 4 {
		s.Go(fmt.Sprintf("worker %d", i), func(p *sim.Proc) {
			p.Sleep(sim.Time(i+1) * sim.Microsecond)
			if i == 2 {
				explode([]int{1, 2})
			}
			if i > 2 {
				after++
			}
		}).WakeAt(0)
	}
	err := s.Run(sim.Second)
	var pe *sim.PanicError
	if !errors.As(err, &pe) {
		t.Fatalf("error %v", err)
	}
	if got, want := pe.Line(), "process worker 2 panicked at 3000000 ps: runtime error: index out of range [2] with length 2"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	if !strings.Contains(err.Error(), "sim_test.explode") {
		t.Errorf("the stack does not show the culprit:\n%v", err)
	}
	var re runtime.Error
	if !errors.As(err, &re) {
		t.Error("the panic value is not unwrapped")
	}
	if s.Now() != 3*sim.Microsecond || after != 0 {
		t.Errorf("stopped at %d ps, %d processes ran after the failure", s.Now(), after)
	}
	if again := s.Run(sim.Second); again != err || s.Err() != err {
		t.Errorf("the failed simulation answers %v, then %v", again, s.Err())
	}
	s.Close()
	if n := goroutines(base); n > base {
		t.Errorf("%d goroutines are left", n-base)
	}
}

func TestPanicInHandler(t *testing.T) {
	s := sim.New(sim.Options{})
	k := s.Register("nic tx", func(arg uint32) { explode(make([]int, arg)) })
	s.At(42, k, 3)
	err := s.Run(100)
	if err == nil || !strings.HasPrefix(err.Error(), "handler nic tx panicked at 42 ps: ") || !strings.Contains(err.Error(), "sim_test.explode") {
		t.Errorf("error %v", err)
	}
	s.Close()
}

func TestFail(t *testing.T) {
	s := sim.New(sim.Options{})
	defer s.Close()
	first := errors.New("first")
	k := s.Register("event", func(arg uint32) {
		if arg == 1 {
			s.Fail(first)
			s.Fail(errors.New("second"))
		}
	})
	for i := range uint32(3) {
		s.At(sim.Time(i), k, i)
	}
	if err := s.Run(10); err != first || s.Events() != 2 || s.Now() != 1 {
		t.Errorf("error %v after %d events at %d ps", err, s.Events(), s.Now())
	}
}

func TestCloseUnwindsInOrder(t *testing.T) {
	base := goroutines(2) // those of the testing package
	s := sim.New(sim.Options{})
	var order []int
	ran := false
	k := s.Register("event", func(uint32) { ran = true })
	for i := range 100 {
		p := s.Go(fmt.Sprint("p", i), func(p *sim.Proc) {
			defer func() { order = append(order, i) }()
			defer p.Park()                                      // unwinds further
			defer s.At(s.Now(), k, 0)                           // dropped
			defer s.Go("child", func(*sim.Proc) { ran = true }) // never starts
			func() { p.Park() }()                               // deep
			t.Errorf("process %d goes on after Close", i)
		})
		if i%10 != 0 {
			p.WakeAt(sim.Time(1000 - i))
		}
	}
	if err := s.Run(sim.Microsecond); err != nil {
		t.Fatal(err)
	}
	if n := goroutines(base); n < base+100 {
		t.Fatalf("%d processes are parked", n-base)
	}
	s.Close()
	s.Close()
	if len(order) != 90 || !slices.IsSorted(order) || ran {
		t.Errorf("unwound %v; something ran after: %v", order, ran)
	}
	if n := goroutines(base); n > base {
		t.Errorf("%d goroutines are left", n-base)
	}
	if s.Err() != nil {
		t.Errorf("error %v", s.Err())
	}
	if err := s.Run(sim.Second); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed simulation runs: %v", err)
	}
}

func TestPanicWhileClosing(t *testing.T) {
	s := sim.New(sim.Options{})
	ended := false
	s.Go("bad", func(p *sim.Proc) {
		defer explode(nil)
		p.Park()
	}).WakeAt(1)
	s.Go("good", func(p *sim.Proc) {
		defer func() { ended = true }()
		p.Park()
	}).WakeAt(1)
	if err := s.Run(10); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := s.Err(); err == nil || !strings.HasPrefix(err.Error(), "process bad panicked at 10 ps") || !ended {
		t.Errorf("error %v, the other process ended: %v", err, ended)
	}
}

func TestMisuseIsReported(t *testing.T) {
	tests := []struct {
		name string
		want string
		do   func(s *sim.Sim)
	}{
		{"past", `event "event" scheduled for 4 ps, which is 6 ps before now`, func(s *sim.Sim) { s.At(4, 1, 0) }},
		{"unregistered", "handler unregistered kind 77 panicked at 10 ps", func(s *sim.Sim) { s.At(10, 77, 0) }},
		{"run in run", "Run called from inside a run", func(s *sim.Sim) { _ = s.Run(20) }},
		{"close in run", "Close called from inside a run", func(s *sim.Sim) { s.Close() }},
		{"resume ended", "process p resumed after its end", func(s *sim.Sim) {
			p := s.Go("p", func(*sim.Proc) {})
			p.Resume()
			p.Resume()
		}},
		{"resume nested", "process a resumed from inside process b", func(s *sim.Sim) {
			a := s.Go("a", func(*sim.Proc) {})
			s.Go("b", func(*sim.Proc) { a.Resume() }).Resume()
		}},
		{"park outside", "process p parked from outside", func(s *sim.Sim) {
			p := s.Go("p", func(p *sim.Proc) { p.Park() })
			p.Resume()
			p.Park()
		}},
		{"nil handler", `handler "x" is nil`, func(s *sim.Sim) { s.Register("x", nil) }},
		{"nil panic", "process p panicked at 10 ps: panic called with nil argument", func(s *sim.Sim) {
			s.Go("p", func(*sim.Proc) { panic(nil) }).Resume()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sim.New(sim.Options{})
			k := s.Register("event", func(uint32) { tt.do(s) })
			s.At(10, k, 0)
			if err := s.Run(100); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			s.Close()
		})
	}
}

// runtime.Goexit ends the caller of Run as well, which nothing can prevent, but
// the simulation remembers why.
func TestGoexitInProcess(t *testing.T) {
	s := sim.New(sim.Options{})
	s.Go("p", func(*sim.Proc) { runtime.Goexit() }).WakeAt(5)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		_ = s.Run(10)
	}()
	<-ended
	if err := s.Err(); err == nil || !strings.HasPrefix(err.Error(), "process p panicked at 5 ps: runtime.Goexit called") {
		t.Errorf("error %v", err)
	}
	s.Close()
}

// A process that is stopped unwinds at once and is never resumed; the others go on.
func TestStop(t *testing.T) {
	s := sim.New(sim.Options{})
	defer s.Close()
	var log []string
	body := func(p *sim.Proc) {
		defer func() { log = append(log, p.Name()+" unwinds") }()
		for {
			p.Sleep(sim.Microsecond)
			log = append(log, p.Name())
		}
	}
	a, b, never := s.Go("a", body), s.Go("b", body), s.Go("never", body)
	a.WakeAt(0)
	b.WakeAt(0)
	if err := s.Run(3 * sim.Microsecond / 2); err != nil {
		t.Fatal(err)
	}
	a.Stop()
	a.Stop()
	never.Stop()
	never.WakeAt(2 * sim.Microsecond)
	if err := s.Run(5 * sim.Microsecond / 2); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, ", "); got != "a, b, a unwinds, b" || !a.Done() || !never.Done() || b.Done() {
		t.Errorf("%s", got)
	}
	s.Go("stopper", func(*sim.Proc) { b.Stop() }).WakeAt(s.Now())
	if err := s.Run(s.Now() + sim.Nanosecond); err == nil || !strings.Contains(err.Error(), "stopped from inside") {
		t.Errorf("a process stops another one: %v", err)
	}
}
