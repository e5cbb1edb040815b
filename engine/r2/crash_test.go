package r2

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"drtmx/engine/fabric"
	"drtmx/engine/sim"
)

// Golden interaction scripts: testdata/*.txt have commands and, indented below
// each, what has become of requests meanwhile. go test -run CrashScripts -update
// writes them anew.
//
//	cluster machines=M transport=T   one thread per machine, T is ud, write or hybrid; with memory=N the last N have none
//	read R FROM TO                   request R, a READ of 4 KB by a coroutine of its own
//	write, pwrite, call, tell        a WRITE, a passive one, an RPC, a passive one (a SEND without a reply)
//	atomic, list                     a fetch-and-add, a list of a WRITE and a READ
//	overlap R FROM A B               reads from A in one completion group and B in another, and waits for A, then B
//	run N                            lets N nanoseconds pass
//	crash M                          restart M
//	served                           requests that the handlers have served, by machine
var update = flag.Bool("update", false, "write the expected output of the scripts anew")

func TestCrashScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := (&crashScript{t: t}).run(string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("it is now\n%s", got)
			}
		})
	}
}

type crashScript struct {
	t      *testing.T
	b      *bed
	served []int
	log    []string
}

// run repeats a script with the answers of now.
func (s *crashScript) run(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line[0] == ' ' { // an answer of then
			continue
		}
		out.WriteString(line)
		if line[0] == '\n' || line[0] == '#' {
			continue
		}
		s.log = nil
		s.command(strings.Fields(line))
		for _, answer := range s.log {
			fmt.Fprintf(&out, "  %s\n", answer)
		}
	}
	return out.String()
}

func (s *crashScript) say(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *crashScript) command(w []string) {
	n := 0
	if len(w) == 2 {
		fmt.Sscan(w[1], &n)
	}
	switch w[0] {
	case "cluster":
		var transport string
		if _, err := fmt.Sscanf(w[1]+" "+w[2], "machines=%d transport=%s", &n, &transport); err != nil {
			s.t.Fatal(err)
		}
		tr := map[string]Transport{"ud": Datagrams, "write": Writes, "hybrid": Hybrid}[transport]
		threads := slices.Repeat([]int{1}, n)
		if len(w) > 3 {
			memory := 0
			fmt.Sscanf(w[3], "memory=%d", &memory)
			clear(threads[n-memory:])
		}
		s.b = newBed(s.t, n, Config{PerMachine: threads, Coroutines: 16, Transport: tr, MaxMessage: 256}, fabric.Config{})
		s.served = make([]int, n)
		s.b.cl.handle(1, func(c *Co, _ Peer, req, rep []byte) int {
			s.served[c.Machine()]++
			c.Compute(2200)
			return copy(rep, req)
		})
	case "run":
		s.b.run(Time(n) * sim.Nanosecond)
	case "crash":
		if err := s.b.cl.Crash(n); err != nil {
			s.say("%v", err)
		}
	case "restart":
		if _, err := s.b.cl.Restart(n); err != nil {
			s.say("%v", err)
		}
	case "served":
		s.say("%v, passive requests lost: %d", s.served, s.b.cl.Lost())
	case "overlap":
		var from, a, b int
		fmt.Sscan(strings.Join(w[2:], " "), &from, &a, &b)
		s.b.cl.Spawn(from, 0, func(c *Co) { s.overlap(c, w[1], a, b) })
	default:
		var from, to int
		fmt.Sscan(w[2], &from)
		fmt.Sscan(w[3], &to)
		s.b.cl.Spawn(from, 0, func(c *Co) {
			if err := s.b.request(c, w[0], to); err != nil {
				s.say("%s: %v", w[1], err)
				return
			}
			s.say("%s: done", w[1])
		})
	}
}

// overlap waits for two groups, one after the other.
func (s *crashScript) overlap(c *Co, name string, a, b int) {
	c.Phase(all(phaseExecution))
	var groups [2]*Group
	for i, to := range []int{a, b} {
		groups[i] = c.Group()
		groups[i].Read(s.b.loc(to, 0), 4096)
		groups[i].Call(to, 1, make([]byte, 16))
	}
	for i, to := range []int{a, b} {
		if err := groups[i].Wait(); err != nil {
			s.say("%s: of machine %d: %v", name, to, err)
		} else {
			s.say("%s: machine %d is back", name, to)
		}
	}
}

// request posts one request and waits for it.
func (b *bed) request(c *Co, kind string, to int) error {
	c.Reset()
	c.Phase(phaseExecution, Mode{Outstanding: true, Doorbell: true, Passive: kind == "pwrite" || kind == "tell"})
	switch kind {
	case "read":
		c.Read(b.loc(to, 0), 4096)
	case "write", "pwrite":
		c.Write(b.loc(to, 64), make([]byte, 64))
	case "call", "tell":
		c.Call(to, 1, make([]byte, 16))
	case "groups":
		return b.groups(c, to)
	case "atomic":
		c.FAA(b.loc(to, Addr(8*(b.f.Machine(to).Mem.Home(b.base[to])+1))), 1)
	case "list":
		l := c.List(b.loc(to, 0), false)
		l.Write(b.loc(to, 128), make([]byte, 16))
		l.Read(b.loc(to, 128), 16)
		l.Post()
	}
	if c.Mode().Passive {
		c.Room()
	}
	return c.Wait()
}

// groups posts requests to two machines in groups of their own, waits for the later group before the earlier, and returns
// all errors.
func (b *bed) groups(c *Co, to int) error {
	other := (to + 1) % b.cl.Machines()
	first, second := c.Group(), c.Group()
	first.Read(b.loc(to, 0), 4096)
	c.Call(to, 1, make([]byte, 16))
	l := second.List(b.loc(other, 0), false)
	l.Write(b.loc(other, 128), make([]byte, 16))
	l.Read(b.loc(other, 128), 16)
	l.Post()
	second.Call(other, 1, make([]byte, 16))
	err := second.Wait()
	first.Write(b.loc(to, 64), make([]byte, 64))
	return errors.Join(err, first.Wait(), c.Wait())
}

// chaos runs requests of all kinds on machines that crash and start again at
// random, and returns what it looked like.
type chaos struct {
	*bed
	wrong                []string
	begun, ended, failed []int // by machine and its life
	life                 []int
	kinds                []string
}

func newChaos(b *bed, machines int) *chaos {
	return &chaos{bed: b, begun: make([]int, machines), ended: make([]int, machines), failed: make([]int, machines), life: make([]int, machines),
		kinds: []string{"read", "write", "pwrite", "call", "tell", "atomic", "list", "groups"}}
}

// Errorf keeps what is wrong: rapid wants to hear it.
func (x *chaos) Errorf(format string, args ...any) {
	x.wrong = append(x.wrong, fmt.Sprintf(format, args...))
}

func (x *chaos) client(c *Co) {
	m := c.Machine()
	life := x.life[m]
	for {
		c.Gate()
		to := c.Rand().Intn(x.cl.Machines())
		x.begun[m]++
		err := x.request(c, x.kinds[c.Rand().Intn(len(x.kinds))], to)
		if x.life[m] != life {
			x.Errorf("a coroutine of machine %d runs on behind its crash", m)
		}
		if err != nil {
			if !errors.Is(err, ErrUnreachable) && !errors.Is(err, ErrNoThreads) {
				x.Errorf("machine %d to %d: %v", m, to, err)
			}
			x.failed[m]++
			c.Sleep(Time(1+c.Rand().Intn(5)) * sim.Microsecond)
		}
		x.ended[m]++
	}
}

// Whatever crashes when, each request of a machine that runs ends, once; what is
// up at the end works; and everything comes to rest.
func TestCrashesAtRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(r, name) }
		machines, threads, coroutines := draw("machines", 2, 4), draw("threads", 1, 3), draw("coroutines", 1, 4)
		c := Config{Threads: threads, Coroutines: coroutines, MaxMessage: 256, SendDepth: draw("depth", 4, 32),
			EmulatedNodes: machines * draw("emulated", 1, 2), Transport: Transport(draw("transport", 0, 2)),
			SharedContext: rapid.Bool().Draw(r, "shared"), ConnectTime: 2 * sim.Microsecond, ResendAfter: 20 * sim.Microsecond}
		if rapid.Bool().Draw(r, "uneven") {
			for m := range machines {
				c.PerMachine = append(c.PerMachine, 1+m%threads)
			}
		}
		fc := fabric.Config{LossPPM: uint32(draw("loss", 0, 1) * 10_000), TornReads: true}
		if rapid.Bool().Draw(r, "memory") {
			if c.PerMachine == nil {
				c.PerMachine = slices.Repeat([]int{threads}, machines)
			}
			c.PerMachine[machines-1] = 0
		} else if rapid.Bool().Draw(r, "tcp") {
			fc = vale(t)
			c.Transport, c.SharedContext, c.ResendAfter = Datagrams, false, 100*sim.Microsecond
		}
		steps := draw("steps", 1, 8)
		var at, who []int
		for range steps {
			at, who = append(at, draw("after", 1, 60_000)), append(who, draw("who", 0, machines-1))
		}
		hashes := [2]uint64{}
		for k := range hashes {
			var wrong []string
			if hashes[k], wrong = runChaos(t, c, machines, coroutines, fc, at, who); len(wrong) > 0 {
				r.Fatalf("%v", wrong)
			}
		}
		if hashes[0] != hashes[1] {
			r.Errorf("two runs differ")
		}
	})
}

func runChaos(t *testing.T, c Config, machines, coroutines int, fc fabric.Config, at, who []int) (hash uint64, wrong []string) {
	t.Helper()
	b := newBed(t, machines, c, fc)
	defer b.f.Close()
	defer b.s.Close()
	x := newChaos(b, machines)
	if fc.Profile != nil { // without RDMA
		x.kinds = []string{"call", "tell"}
	}
	b.cl.handle(1, func(c *Co, _ Peer, req, rep []byte) int {
		if !b.cl.Up(c.Machine()) {
			x.Errorf("machine %d serves a request while it is down", c.Machine())
		}
		b := c.Load(x.base[c.Machine()]+256, 8)
		c.Store(x.base[c.Machine()]+256, []byte{b[0] + 1})
		return copy(rep, req)
	})
	for m := range machines {
		for th := range b.cl.Threads(m) {
			for range coroutines {
				b.cl.Spawn(m, th, x.client)
			}
		}
	}
	for i, m := range who {
		b.run(Time(at[i]) * sim.Nanosecond)
		if b.cl.Up(m) {
			x.crash(m)
		} else if !b.cl.Starting(m) {
			x.restart(m)
		}
	}
	b.run(400 * sim.Microsecond)
	for m := range machines {
		if !b.cl.Up(m) && m%2 == 0 {
			x.restart(m)
		}
	}
	b.run(400 * sim.Microsecond)
	x.rest()
	return b.s.TraceHash(), x.wrong
}

func (x *chaos) crash(m int) {
	x.bed.crash(m)
	x.life[m]++
	x.begun[m], x.ended[m] = 0, 0
}

// rest shuts the gate: what runs ends, and nothing is left.
func (x *chaos) rest() {
	before := append([]int(nil), x.ended...)
	x.run(200 * sim.Microsecond)
	for m := range x.life {
		if x.cl.Up(m) && x.cl.Threads(m) > 0 && x.ended[m] == before[m] {
			x.Errorf("machine %d does not get on: %v", m, x.cl.Waiting(3))
		}
	}
	x.cl.ShutGate()
	for range 50 {
		if x.run(100 * sim.Microsecond); x.cl.Quiet() {
			break
		}
	}
	if !x.cl.Quiet() {
		x.Errorf("it does not come to rest, %d verbs are under way: %v", x.f.InFlight(), x.cl.Waiting(5))
	}
	for m := range x.life {
		if x.cl.Up(m) && x.begun[m] != x.ended[m] {
			x.Errorf("machine %d: %d requests have begun and %d ended", m, x.begun[m], x.ended[m])
		}
		for _, w := range x.cl.machines[m].workers {
			if n := w.buffers.InUse(); x.cl.Up(m) && n > w.unsettled() {
				x.Errorf("machine %d thread %d: %d send buffers are lost", m, w.thread, n)
			}
		}
	}
}

// unsettled counts what no completion has confirmed yet; at rest only queue pairs
// that are in use have any.
func (w *Worker) unsettled() (n int) {
	n = int(w.ud.Tail - w.ud.Head)
	w.pairs.Each(func(q *queuePair) { n += int(q.Tail - q.Head) })
	return n
}

// A timer of before the crash does not end a sleep of after it.
func TestTimerOfBeforeACrash(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, ConnectTime: 2 * sim.Microsecond}, fabric.Config{})
	var slept []Time
	b.cl.Spawn(1, 0, func(c *Co) {
		from := c.Now()
		c.Sleep(50 * sim.Microsecond)
		slept = append(slept, c.Now()-from)
	})
	b.run(20 * sim.Microsecond)
	b.crash(1)
	b.restart(1)
	b.run(200 * sim.Microsecond)
	if len(slept) != 1 || slept[0] < 50*sim.Microsecond {
		t.Errorf("slept for %d ps", slept)
	}
}

// A stopped machine leaves no goroutine, and Close none at all.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	b := newBed(t, 3, Config{Threads: 2, Coroutines: 4, ConnectTime: sim.Microsecond}, fabric.Config{})
	x := newChaos(b, 3)
	b.cl.handle(1, func(c *Co, _ Peer, req, rep []byte) int { return copy(rep, req) })
	for m := range 3 {
		for range 4 {
			b.cl.Spawn(m, 1, x.client)
		}
	}
	b.run(10 * sim.Microsecond)
	all := runtime.NumGoroutine()
	for range 5 {
		x.crash(1)
		b.run(10 * sim.Microsecond)
		if n := runtime.NumGoroutine(); n > all-4 {
			t.Errorf("%d goroutines with a machine down, %d before", n, all)
		}
		x.restart(1)
		b.run(30 * sim.Microsecond)
	}
	x.crash(2)
	b.s.Close()
	for end := time.Now().Add(time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines are left", n-before)
	}
}

// A request to a machine whose RNIC is cut off ends with an error too, after a
// bounded number of repetitions, and the conversation goes on behind it.
func TestSilentMachine(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, ResendAfter: 20 * sim.Microsecond}, fabric.Config{})
	served := map[uint64]int{}
	b.echo(served)
	var errs []error
	cut := func(down bool) {
		for _, n := range b.f.Machine(1).NICs {
			n.SetDown(down)
		}
	}
	b.cl.Spawn(0, 0, func(c *Co) {
		for i := range 3 * RequestWindow {
			c.Reset()
			c.Phase(all(phaseExecution))
			c.Call(1, 3, make([]byte, 8))
			errs = append(errs, c.Wait())
			cut(i == 0)
		}
	})
	b.run(100 * sim.Millisecond)
	if len(errs) != 3*RequestWindow || !errors.Is(errs[1], ErrUnreachable) {
		t.Fatalf("%d requests ended: %v", len(errs), b.cl.Waiting(2))
	}
	for i, err := range errs {
		if i != 1 && err != nil {
			t.Fatal(i, err)
		}
	}
	if served[0] != 3*RequestWindow-1 {
		t.Errorf("%d requests are served", served[0])
	}
}
