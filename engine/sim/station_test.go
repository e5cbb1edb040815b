package sim_test

import (
	"math"
	"slices"
	"testing"

	"drtmx/engine/sim"
)

// queue is the reference for stations: an explicit queue before c servers, with
// an event for every completion.
type queue struct {
	s       *sim.Sim
	idle    int
	waiting []job
	left    []sim.Time // departure of each job
	done    sim.Kind
	next    func(job uint32) // called at each departure
}

type job struct {
	id  uint32
	svc sim.Time
}

func newQueue(s *sim.Sim, servers, jobs int, next func(uint32)) *queue {
	q := &queue{s: s, idle: servers, left: make([]sim.Time, jobs), next: next}
	q.done = s.Register("done", func(id uint32) {
		q.left[id] = s.Now()
		q.idle++
		q.start()
		q.next(id)
	})
	return q
}

func (q *queue) arrive(id uint32, svc sim.Time) {
	q.waiting = append(q.waiting, job{id, svc})
	q.start()
}

func (q *queue) start() {
	for q.idle > 0 && len(q.waiting) > 0 {
		j := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.idle--
		q.s.At(q.s.Now()+j.svc, q.done, j.id)
	}
}

const (
	tandemJobs    = 20_000
	tandemHops    = 4
	tandemLatency = 70_007 // ps between stations
)

// work is what the jobs of a tandem bring: arrivals and services.
type work struct {
	servers  int
	arrivals []sim.Time
	services [][tandemHops]sim.Time
}

func newWork(servers int, loadPercent sim.Time) *work {
	w := &work{servers, make([]sim.Time, tandemJobs), make([][tandemHops]sim.Time, tandemJobs)}
	r := sim.New(sim.Options{Seed: 7}).Stream("tandem", uint64(servers))
	const mean = 100 * sim.Nanosecond
	var at sim.Time
	for i := range tandemJobs {
		at += r.Exp(mean * 100 / sim.Time(servers) / loadPercent)
		w.arrivals[i] = at
		for h := range tandemHops {
			w.services[i][h] = r.Exp(mean)
		}
	}
	return w
}

// explicit gives the departures of every job from every station by explicit
// queues.
func (w *work) explicit(t *testing.T) (departures [tandemHops][]sim.Time) {
	s := sim.New(sim.Options{})
	var stations [tandemHops]*queue
	var arrive [tandemHops]sim.Kind
	for h := range tandemHops {
		arrive[h] = s.Register("arrive", func(id uint32) { stations[h].arrive(id, w.services[id][h]) })
		stations[h] = newQueue(s, w.servers, tandemJobs, func(id uint32) {
			if h+1 < tandemHops {
				s.At(s.Now()+tandemLatency, arrive[h+1], id)
			}
		})
		departures[h] = stations[h].left
	}
	for i, at := range w.arrivals {
		s.At(at, arrive[0], uint32(i))
	}
	if err := s.Run(sim.Forever); err != nil {
		t.Fatal(err)
	}
	return departures
}

// nextFree gives them by stations with a next-free time, one event per hop.
func (w *work) nextFree(t *testing.T) (departures [tandemHops][]sim.Time) {
	s := sim.New(sim.Options{})
	var stations [tandemHops]sim.Multi
	var single [tandemHops]sim.FIFO
	for h := range tandemHops {
		stations[h] = *sim.NewMulti(w.servers)
		departures[h] = make([]sim.Time, tandemJobs)
	}
	hop := make([]int, tandemJobs)
	var arrive sim.Kind
	arrive = s.Register("arrive", func(id uint32) {
		h := hop[id]
		svc := w.services[id][h]
		end := stations[h].Serve(s.Now(), svc)
		if w.servers == 1 && single[h].Serve(s.Now(), svc) != end {
			t.Fatalf("FIFO and Multi with one server differ at %d ps", s.Now())
		}
		departures[h][id] = end
		if hop[id]++; hop[id] < tandemHops {
			s.At(end+tandemLatency, arrive, id)
		}
	})
	for i, at := range w.arrivals {
		s.At(at, arrive, uint32(i))
	}
	if err := s.Run(sim.Forever); err != nil {
		t.Fatal(err)
	}
	for h := range tandemHops {
		if m := &stations[h]; m.OOO+single[h].OOO != 0 || m.N != tandemJobs || m.Servers() != w.servers {
			t.Errorf("station %d of %d servers: %d calls out of order, %d jobs", h, m.Servers(), m.OOO, m.N)
		}
	}
	return departures
}

// TestStationsAreExact: every departure from a station with a next-free time
// must be that of an explicit queue, to the picosecond.
func TestStationsAreExact(t *testing.T) {
	for _, servers := range []int{1, 2, 4} {
		for _, load := range []sim.Time{50, 90} {
			w := newWork(servers, load)
			want, got := w.explicit(t), w.nextFree(t)
			for h := range tandemHops {
				if !slices.Equal(got[h], want[h]) {
					t.Errorf("%d servers, load %d %%: departures from station %d differ", servers, load, h)
				}
			}
		}
	}
}

func TestStationCounts(t *testing.T) {
	var f sim.FIFO
	m := sim.NewMulti(2)
	var ends, multi []sim.Time
	for _, x := range []struct{ at, svc sim.Time }{{10, 5}, {11, 5}, {30, 1}, {28, 2}, {29, 1}, {40, 10}} {
		ends = append(ends, f.Serve(x.at, x.svc))
		multi = append(multi, m.Serve(x.at, x.svc))
	}
	if want := []sim.Time{15, 20, 31, 33, 34, 50}; !slices.Equal(ends, want) {
		t.Errorf("departures %v, want %v", ends, want)
	}
	if want := []sim.Time{15, 16, 31, 30, 31, 50}; !slices.Equal(multi, want) {
		t.Errorf("departures of two servers %v, want %v", multi, want)
	}
	if f.OOO != 2 || f.OOOMax != 2 || f.Busy != 24 || f.N != 6 || f.Free != 50 {
		t.Errorf("station %+v", f)
	}
	if m.OOO != 2 || m.OOOMax != 2 || m.Busy != 24 || m.N != 6 {
		t.Errorf("station with two servers %+v", m)
	}
	if n := sim.NewMulti(0).Servers(); n != 1 {
		t.Errorf("a station asked to have no server has %d", n)
	}
}

// What is booked for later is not over: neither behind now nor behind a gap.
func TestBusyUntil(t *testing.T) {
	var f sim.FIFO
	f.Serve(10, 5)
	f.Serve(12, 5) // 10 to 20
	f.Serve(30, 4) // a gap, then 30 to 34
	for _, x := range []struct{ now, want sim.Time }{{30, 10}, {32, 12}, {34, 14}, {90, 14}} {
		if got := f.BusyUntil(x.now); got != x.want {
			t.Errorf("until %d: %d, want %d", x.now, got, x.want)
		}
	}
	// A station that is booked ahead without end is busy all the time, not more.
	var full sim.FIFO
	for now := sim.Time(0); now < 1000; now++ {
		full.Serve(now+50, 2)
		if busy := full.BusyUntil(now); busy != max(0, now-50) {
			t.Fatalf("busy for %d until %d", busy, now)
		}
	}
}

// A station that is booked ahead has been busy for as long as if somebody had looked
// at every instant, whatever gaps there are in what lies ahead.
func TestBooked(t *testing.T) {
	random := sim.New(sim.Options{Seed: 5}).Stream("booked", 0)
	const end = 20_000
	var b sim.Booked
	var busy [end]bool
	at := sim.Time(0)
	begun := sim.Time(0) // what is before is known
	check := func(now sim.Time) {
		want := sim.Time(0)
		for _, on := range busy[:now] {
			if on {
				want++
			}
		}
		if got := b.BusyUntil(now); got != want {
			t.Fatalf("until %d: %d, want %d", now, got, want)
		}
	}
	for now := sim.Time(0); now < end/2; now += sim.Time(random.Intn(20)) {
		begun = max(begun, now)
		at = min(max(at, now)+sim.Time(random.Intn(30)), now+300)
		svc := sim.Time(random.Intn(15)) // it keeps up, or there would be no gaps
		done := b.Serve(now, at, svc)
		for i := done - svc; i < min(done, end); i++ {
			busy[i] = true
		}
		if b.Free < end {
			check(now)
		}
	}
	for now := begun; now < end; now += 17 {
		check(now)
	}
}

// However long it is in use, it keeps only what lies ahead.
func TestBookedStaysSmall(t *testing.T) {
	var b sim.Booked
	now := sim.Time(0)
	if n := testing.AllocsPerRun(1, func() {
		for range 500_000 {
			now += 10
			b.Serve(now, now+200, 5)
		}
	}); n != 0 {
		t.Errorf("%v allocations where as much lies ahead as before", n)
	}
}

// open runs customers through one station: a source process, an arrival event
// and a departure event. It measures the mean waiting time from the customers
// and, independently of it, the number in the system from an area over time.
type open struct {
	customers int
	sojourn   sim.Time // sum over customers
	waiting   sim.Time // sum over customers
	area      sim.Time // integral of the number in the system
	end       sim.Time
	busy      sim.Time
}

func runOpen(t *testing.T, customers, servers int, between sim.Time, service func(*sim.Rand) sim.Time) open {
	t.Helper()
	s := sim.New(sim.Options{Seed: 11})
	defer s.Close()
	o := open{customers: customers}
	station := sim.NewMulti(servers)
	var inside, since sim.Time
	change := func(d sim.Time) {
		o.area += inside * (s.Now() - since)
		since = s.Now()
		inside += d
	}
	depart := s.Register("depart", func(uint32) { change(-1) })
	arrivals, services := s.Stream("arrivals", 0), s.Stream("services", 0)
	s.Go("source", func(p *sim.Proc) {
		for range customers {
			p.Sleep(arrivals.Exp(between))
			change(+1)
			svc := service(services)
			end := station.Serve(s.Now(), svc)
			o.sojourn += end - s.Now()
			o.waiting += end - s.Now() - svc
			s.At(end, depart, 0)
		}
	}).WakeAt(0)
	if err := s.Run(sim.Forever); err != nil {
		t.Fatal(err)
	}
	if inside != 0 || station.OOO != 0 {
		t.Fatalf("%d customers are left, %d calls out of order", inside, station.OOO)
	}
	o.end, o.busy = s.Now(), station.Busy
	return o
}

const mean = sim.Microsecond

func exponential(r *sim.Rand) sim.Time { return r.Exp(mean) }
func constant(*sim.Rand) sim.Time      { return mean }

// TestLittlesLaw: a period that begins and ends empty satisfies L T = sum of
// sojourns exactly, so the two measurements must agree to the picosecond.
func TestLittlesLaw(t *testing.T) {
	for _, servers := range []int{1, 3} {
		o := runOpen(t, 200_000, servers, mean*10/sim.Time(8*servers), exponential)
		if o.area != o.sojourn {
			t.Errorf("%d servers: integral of the number in the system %d, sum of sojourns %d", servers, o.area, o.sojourn)
		}
	}
}

// TestQueuesAgainstTheory compares mean waiting times, in units of the mean
// service time, with M/M/1, M/D/1 (Pollaczek-Khinchine) and M/M/c (Erlang C).
//
// Waiting times of successive customers are correlated. The variance of their
// mean over n customers of an M/M/1 queue tends to
//
//	rho (2 + 5 rho - 4 rho^2 + rho^3) / (1 - rho)^4 / n
//
// (Daley 1968); the other two queues vary less. The tolerance is four standard
// deviations of M/M/1.
func TestQueuesAgainstTheory(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000 // the tolerance follows
	}
	for _, rho := range []float64{0.3, 0.5, 0.8} {
		sigma := math.Sqrt(rho * (2 + 5*rho - 4*rho*rho + rho*rho*rho) / math.Pow(1-rho, 4) / float64(n))
		a := 2 * rho // load offered to two servers
		erlang := (a * a / 2 / (1 - rho)) / (1 + a + a*a/2/(1-rho))
		for _, q := range []struct {
			name    string
			servers int
			service func(*sim.Rand) sim.Time
			want    float64
		}{
			{"M/M/1", 1, exponential, rho / (1 - rho)},
			{"M/D/1", 1, constant, rho / (1 - rho) / 2},
			{"M/M/2", 2, exponential, erlang / (2 * (1 - rho))},
		} {
			o := runOpen(t, n, q.servers, sim.Time(float64(mean)/rho)/sim.Time(q.servers), q.service)
			got := float64(o.waiting) / float64(n) / float64(mean)
			if math.Abs(got-q.want) > 4*sigma {
				t.Errorf("%s at load %.1f: mean wait %.4f, theory %.4f +- %.4f", q.name, rho, got, q.want, 4*sigma)
			}
			// The load is a ratio of two sums of n terms each: four standard
			// deviations are 4 sqrt(2/n) of it.
			load := float64(o.busy) / float64(o.end) / float64(q.servers)
			if math.Abs(load/rho-1) > 4*math.Sqrt(2/float64(n)) {
				t.Errorf("%s: load %.4f, want %.1f", q.name, load, rho)
			}
		}
	}
}
