package r2

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/membership"
	"drtmx/engine/r2/ahead"
	"drtmx/engine/r2/config"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/r2/queuepair"
	"drtmx/engine/r2/registry"
	"drtmx/engine/r2/sendq"
	"drtmx/engine/sim"
)

// What comes from below: virtual time in picoseconds, seeded streams of random numbers, and addresses in one machine's memory.
type (
	Time = sim.Time
	Rand = sim.Rand
	Addr = space.Addr
)

// Nanosecond is one of Time.
const Nanosecond = sim.Nanosecond

// Loc says where remote bytes are.
type Loc struct {
	Machine int
	RKey    uint32
	Addr    Addr
}

// What sizes the framework.
type (
	Config    = config.Config
	Transport = config.Transport
)

// External lets machines hear of what is no part of the system.
type External = core.External

// How messages travel.
const (
	Datagrams = config.Datagrams
	Writes    = config.Writes
	Hybrid    = config.Hybrid
)

const (
	// RequestWindow bounds the requests of one thread to one peer thread that
	// are not yet answered or acknowledged [drtmh config].
	RequestWindow = datagram.RequestWindow

	udSendDepth = 1024
)

// ResendAfter is Config.ResendAfter unless told, where messages go by tcp or, if nil, by RNICs.
func ResendAfter(tcp *profile.TCPCosts) Time { return config.ResendAfter(tcp) }

// RecvDepths is Config.RecvDepth unless told.
func RecvDepths(threads []int, each, burst int) []int { return config.RecvDepths(threads, each, burst) }

// Handler serves one RPC id. It runs to completion on a worker of the callee.
// req is valid until it returns; it writes its reply into rep and returns the
// reply's length. Of a passive request the reply is dropped.
type Handler func(c *Co, from Peer, req []byte, rep []byte) int

// Peer is the coroutine that sent a request, by its index; one without has a number that no index is.
type Peer struct {
	Machine, Thread, Coroutine int
}

// rpcs is the name by which a cluster has its RPCs.
type rpcs = registry.Table[Handler, Peer]

// Cluster is the framework over all machines of a fabric.
type Cluster struct {
	sim       *sim.Sim
	fab       *fabric.Fabric
	cores     *core.System
	cfg       Config
	tcp       *profile.TCPCosts // nil: the NICs have RDMA
	machines  []*machine
	workers   []*Worker
	queues    []fabric.CQRef   // of the workers, for lookAhead
	hints     []ahead.Hint[Co] // of each coroutine, for lookAhead
	cos       []*Co
	single    bool // every reply rings a doorbell of its own
	open      int  // requests without their answer or receipt, where messages go by rings
	whole     datagram.Whole
	front     int                            // bytes in front of a request: see Config.Epochs
	follows   func(number, have uint16) bool // rule by which segments are taken
	deferring bool                           // some may be deferred, so there is again
	again     uint8                          // the rpc that asks again for the answer to a deferred request
	rpcs

	kUp      sim.Kind // of Assembled
	restarts bool

	watch    *watch // nil: no observer
	active   int    // coroutines per thread let through Gate
	gateShut bool   // no coroutine is let through Gate
}

type machine struct {
	id         int
	clock      *sim.Sim
	cores      *core.Machine
	mem        *host.Memory
	workers    []*Worker
	state      uint8
	awake      bool   // its memory and RNICs are back since the last crash
	recovering int    // threads that have to end their recovery before it is up
	tries      int    // to be up
	starts     uint32 // how often it was up again
	epoch      membership.Epoch

	kWork, kTick sim.Kind

	pairs  queuepair.System
	polled []fabric.CQE // see Worker.keep
	list   List         // the open one: it is posted before its coroutine parks
	lost   uint64       // see Lost
}

// register makes the kinds of a machine's events.
func (cl *Cluster) register(mc *machine) {
	mc.kWork = mc.clock.Register("r2.work", func(a uint32) { cl.workers[a&0xffff].event(a >> 16) })
	mc.cores.Timer = mc.clock.Register("r2.timer", func(a uint32) { cl.cos[a].expire() })
	mc.kTick = mc.clock.Register("r2.tick", func(a uint32) { cl.workers[a].tick() })
	cl.lookAhead(mc)
}

// New builds the workers, their queue pairs and their buffers. Nothing runs
// before Spawn.
func New(s *sim.Sim, f *fabric.Fabric, c Config) (*Cluster, error) {
	c = c.WithDefaults(f)
	if err := c.Check(f); err != nil {
		return nil, err
	}
	cl := &Cluster{sim: s, fab: f, cfg: c, tcp: f.TCP(), active: c.Coroutines, whole: datagram.Whole(c.MaxMessage - datagram.HeaderBytes), follows: follows}
	if c.Epochs {
		cl.front = epochBytes
	}
	cl.cores = core.New(s, f, above{cl})
	cl.cores.MaxRequest = cl.MaxPayload()
	for m := range f.Machines() {
		mc := &machine{id: m, clock: s.Machine(m), cores: cl.cores.Machine(m), mem: f.Machine(m).Mem, epoch: membership.First, polled: make([]fabric.CQE, c.PollBatch)}
		mc.pairs = queuepair.System{Fab: f, All: sendq.Pairs{Machine: m}, RDMA: cl.tcp == nil, PerMachine: c.PairsTo(f.Machines()), Depth: c.SendDepth, Random: c.RandomQP}
		cl.register(mc)
		if c.SharedContext {
			mc.pairs.OpenContexts()
		}
		for t := range c.ThreadsOf(m) {
			w, err := newWorker(cl, mc, len(cl.workers), t)
			if err != nil {
				return nil, err
			}
			mc.workers = append(mc.workers, w)
			cl.workers = append(cl.workers, w)
		}
		if cl.tcp != nil {
			cl.cores.TakeInterrupts(m)
		}
		cl.machines = append(cl.machines, mc)
	}
	if len(cl.workers) > 1<<16-1 {
		return nil, fmt.Errorf("r2: %d workers, at most 65535", len(cl.workers))
	}
	for done, mc := range cl.machines {
		if c.Between != nil {
			if err := c.Between(done, len(cl.machines)); err != nil {
				return nil, err
			}
		}
		for _, w := range mc.workers {
			if err := w.connect(); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range cl.workers {
		for _, ch := range w.chans {
			ch.address = ch.peer.ud.QP.Address()
		}
		cl.queues = append(cl.queues, w.pairs.CQ.Ref())
		w.rest() // a worker without coroutines of its own serves requests too
	}
	return cl, cl.openRings()
}

// Machines is the number of machines.
func (cl *Cluster) Machines() int { return len(cl.machines) }

// Threads is the number of worker threads of a machine; 0 of a memory node.
func (cl *Cluster) Threads(m int) int { return len(cl.machines[m].workers) }

// Coroutines is how many Spawn may be called for, of a thread.
func (cl *Cluster) Coroutines() int { return cl.cfg.Coroutines }

// Mem is the memory of a machine: for allocation and for oracles, which read
// without being charged.
func (cl *Cluster) Mem(m int) *host.Memory { return cl.machines[m].mem }

// Fabric is the fabric below.
func (cl *Cluster) Fabric() *fabric.Fabric { return cl.fab }

// External registers what machines hear from outside of the system; see core.External.
func (cl *Cluster) External(name string, hear func(word uint32)) External {
	return cl.cores.External(name, hear)
}

// Stream returns the random stream of a component.
func (cl *Cluster) Stream(component string, id uint64) *Rand { return cl.sim.Stream(component, id) }

// Now is the virtual time of the event that is being handled.
func (cl *Cluster) Now() Time { return cl.sim.Now() }

// OnSpoil has f overwrite what a room keeps of scratch memory of its own for a machine, when SpoilScratch is on.
func (cl *Cluster) OnSpoil(f func(machine int)) { cl.cores.OnSpoil(f) }

// SpoilScratch has all scratch memory of a machine overwritten when one of its coroutines waits. Tests only.
func (cl *Cluster) SpoilScratch() { cl.cores.Spoils = true }

// SetSingleReplies has every reply of a handler ring a doorbell of its own
// instead of sharing that of the flush: no doorbell batching for servers (§2.2.3).
func (cl *Cluster) SetSingleReplies(on bool) { cl.single = on }

// rpc is the RPC of an id.
func (cl *Cluster) rpc(id uint8) *registry.RPC[Handler, Peer] { return registry.Of(&cl.rpcs, id) }

func (cl *Cluster) worker(m, thread int) *Worker {
	if n := cl.Threads(m); thread >= n {
		panic(fmt.Sprintf("r2: thread %d of machine %d, which has %d", thread, m, n))
	}
	return cl.machines[m].workers[thread]
}

// Spawn starts a coroutine on a worker. The index of a coroutine within its
// thread is the order of its Spawn.
func (cl *Cluster) Spawn(m, thread int, body func(c *Co)) *Co {
	w := cl.worker(m, thread)
	n := len(w.cos) - w.background
	return w.add(newCo(w, n, fmt.Sprintf("m%d.t%d.c%d", m, thread, n), body))
}

// OfWorkload says whether a coroutine is one of Spawn: it is no handler and not in the background.
func (cl *Cluster) OfWorkload(co uint32) bool {
	c := cl.cos[co]
	return c.index >= 0 && c.index != noIndex
}

// SpawnBackground starts a coroutine on a worker that is none of a workload's: it has no index, is not to
// Gate, and a drain waits for no more than its requests. It may be started at any time.
func (cl *Cluster) SpawnBackground(m, thread int, name string, body func(c *Co)) *Co {
	w := cl.worker(m, thread)
	w.background++
	c := newCo(w, noIndex, fmt.Sprintf("m%d.t%d.%s", m, thread, name), body)
	core.SetRand(&c.Program, cl.sim.Stream("r2.background", uint64(w.id)<<16|uint64(w.background)))
	return w.add(c)
}

// add has the worker run a coroutine.
func (w *Worker) add(c *Co) *Co {
	if c.slot = uint16(len(w.cos)); c.slot == grouped-1 {
		panic(fmt.Sprintf("r2: machine %d thread %d has %d coroutines, which is all that send queues can name", w.mc.id, w.thread, c.slot))
	}
	w.cos = append(w.cos, c)
	if w.mc.state == running { // else it begins when the machine is up
		c.begin()
		w.makeReady(c)
	}
	return c
}

// SetCoroutines lets the coroutines of index below n of every thread through
// Gate; the others stop at their next Gate.
func (cl *Cluster) SetCoroutines(n int) {
	cl.active = n
	cl.openGates()
}

// ShutGate stops all coroutines at their next Gate: a drain barrier.
func (cl *Cluster) ShutGate() { cl.gateShut = true }

// OpenGate lets them through again.
func (cl *Cluster) OpenGate() {
	cl.gateShut = false
	cl.openGates()
}

// Draining says that the gate is shut: work that can wait shall not begin.
func (cl *Cluster) Draining() bool { return cl.gateShut }

// Reserve takes a thread from the coroutines that stop at Gate, for work in the background; off gives it
// back. They stop at their next Gate.
func (cl *Cluster) Reserve(m, thread int, on bool) {
	cl.worker(m, thread).reserved = on
	cl.openGates()
}

func (cl *Cluster) openGates() {
	for _, w := range cl.workers {
		for _, c := range w.cos {
			if c.gated && c.Passes() {
				c.gated = false
				w.makeReady(c)
			}
		}
	}
}

// Quiet reports that nothing is under way: no verb of any queue pair, passive
// ones included, no request without its answer or receipt, and no shared thread in the
// middle of its work, and no request deferred. With the gate
// shut and every coroutine held, it is the drained state.
func (cl *Cluster) Quiet() bool {
	if cl.fab.InFlight() != 0 || cl.SharedAtWork() != 0 {
		return false
	}
	for _, w := range cl.workers {
		if w.Current != nil || w.next < len(w.batch) || w.ready.Len() > 0 || w.pairs.Dirty() {
			return false
		}
		if len(w.tickets) > 0 || w.mailed {
			return false
		}
		for _, ch := range w.chans {
			if ch.Any() {
				return false
			}
		}
	}
	return true
}

// Waiting describes what each parked coroutine waits for, at most max lines:
// what a watchdog prints.
func (cl *Cluster) Waiting(max int) []string {
	var out []string
	for _, mc := range cl.machines {
		if mc.state != running && len(out) < max {
			out = append(out, fmt.Sprintf("machine %d is down", mc.id))
		}
	}
	for _, w := range cl.workers {
		for _, t := range w.tickets {
			if len(out) == max {
				return out
			}
			out = append(out, t.String())
		}
		for _, c := range w.cos {
			if len(out) == max {
				return out
			}
			if s := c.state(); s != "" {
				out = append(out, fmt.Sprintf("%s: %s", c.Name(), s))
			}
		}
	}
	for _, t := range cl.cores.Threads() {
		if s := t.String(); s != "" && len(out) < max {
			out = append(out, s)
		}
	}
	return out
}

// BusyPS is the time the core of a worker spent on work since the start, that of
// threads that share it included, empty polls not counted, nor what it has booked beyond this instant. A core that
// waits for its own stores is at work.
func (cl *Cluster) BusyPS(m, thread int) Time {
	return cl.worker(m, thread).Spent()
}
