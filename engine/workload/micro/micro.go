// Package micro has the micro-benchmarks of thesis §2.2.4: one verb after the
// other in a closed loop, without transactions.
//
// Each coroutine sends a request of the payload's size to a random place on a
// random server other than its own machine, waits for it, and sends the next.
// A request of several objects is that many verbs, or RPCs, to random servers
// each; Options.Mode says what of §2.2.3 they use.
// Reads and writes go to one region per server and RNIC, that of the RNIC
// which the thread's queue pairs lead to; atomics to 8-byte words there; an rpc
// is a request and a reply of the payload's size. Two-sided, a read's reply and
// a write's request carry the payload, and the server copies nothing (as the
// thesis measures it).
package micro

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

const rpcEcho = 24

// Verb is what the loop does.
type Verb uint8

const (
	Read Verb = iota
	Write
	Atomic
	RPC
	numVerbs
)

var verbNames = [numVerbs]string{"micro-read", "micro-write", "micro-atomic", "micro-rpc"}

// Names lists the workloads of this package.
func Names() []string { return verbNames[:] }

// ParseVerb finds the verb of a workload's name.
func ParseVerb(name string) (Verb, error) {
	for v, n := range verbNames {
		if n == name {
			return Verb(v), nil
		}
	}
	return 0, fmt.Errorf("workload %q is not one of %v", name, verbNames)
}

// Options of the loop. Zero values mean their defaults.
type Options struct {
	Verb     Verb
	Payload  int    // bytes per request; 64
	Keys     uint64 // places per region; 100,000
	TwoSided bool   // Read and Write by RPC
	Objects  int    // verbs per request; 1
	Mode     r2.Mode
}

const (
	// maxPayload is the path MTU; RPC messages lose their header of it.
	maxPayload = 4096

	// denseBytes is the largest region in large pages, of which random accesses
	// soon touch all.
	denseBytes = 8 << 20

	// spreadPS is about what a request takes per object.
	spreadPS = 2_500_000

	// What a two-sided request names its place by.
	addressBytes = 8
	lengthBytes  = 4
)

// Loop is the workload.
type Loop struct {
	opt     Options
	env     workload.Env
	servers int
	regions [][]fabric.MR // by server and RNIC
	stride  int
	zeros   []byte
	// One coroutine at a time reports, and an Outcome is large.
	out  txn.Outcome
	idle metrics.Breakdown // time that belongs to no request
}

// New checks the options.
func New(o Options) (*Loop, error) {
	if o.Payload == 0 {
		o.Payload = 64
	}
	if o.Keys == 0 {
		o.Keys = 100_000
	}
	if o.Objects == 0 {
		o.Objects = 1
	}
	if o.Mode.Passive && o.Verb != Write {
		return nil, fmt.Errorf("%s with passive acknowledgement: only a write can do without its completion", verbNames[o.Verb])
	}
	if o.Verb >= numVerbs {
		return nil, fmt.Errorf("verb %d: there are %d", o.Verb, numVerbs)
	}
	if o.TwoSided && o.Verb != Read && o.Verb != Write {
		return nil, fmt.Errorf("%s two-sided: only reads and writes have both forms", verbNames[o.Verb])
	}
	l := &Loop{opt: o, zeros: make([]byte, maxPayload)}
	return l, l.setPayload(o.Payload)
}

// Name is the workload's.
func (l *Loop) Name() string { return verbNames[l.opt.Verb] }

// Types has the only request type.
func (l *Loop) Types() []string { return []string{verbNames[l.opt.Verb][len("micro-"):]} }

// DB is nil: no transactions.
func (l *Loop) DB() *txn.DB { return nil }

// Warm has nothing to do.
func (l *Loop) Warm() error { return nil }

// Check has nothing to check.
func (l *Loop) Check() []workload.Invariant { return nil }

// Open registers the regions.
func (l *Loop) Open(env workload.Env) error {
	l.env, l.servers = env, env.ServerCount()
	cl := env.Cluster
	if cl.Machines() < 2 {
		return fmt.Errorf("%s on one machine: at least 2, requests go to others", l.Name())
	}
	if limit := l.limit(); l.opt.Payload > limit {
		return fmt.Errorf("workload.payload %d: an RPC message carries %d bytes of it", l.opt.Payload, limit)
	}
	l.stride = (l.opt.Payload + 63) &^ 63
	for m := range l.servers {
		nics := len(cl.Fabric().Machine(m).NICs)
		var list []fabric.MR
		for k := range nics {
			bytes := l.opt.Keys*uint64(l.stride) + maxPayload
			a, err := cl.Mem(m).Alloc(fabric.Alloc{Name: l.Name(), Bytes: bytes, Socket: k, Dense: bytes <= denseBytes})
			if err != nil {
				return fmt.Errorf("%s: %w", l.Name(), err)
			}
			list = append(list, cl.Mem(m).Register(a, bytes, fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic))
		}
		l.regions = append(l.regions, list)
	}
	if l.calls() {
		cl.SetSingleReplies(!l.opt.Mode.Doorbell)
		cl.Handle(rpcEcho, func(c *r2.Co, from r2.Peer, req, rep []byte) int {
			if l.opt.Verb == Write {
				return 0
			}
			return copy(rep, l.zeros[:min(l.opt.Payload, len(rep))])
		})
	}
	return nil
}

// calls says that requests are RPCs.
func (l *Loop) calls() bool { return l.opt.Verb == RPC || l.opt.TwoSided }

// request is what an RPC sends.
func (l *Loop) request() []byte {
	switch l.opt.Verb {
	case Read:
		return l.zeros[:addressBytes+lengthBytes]
	case Write:
		return l.zeros[:addressBytes+l.opt.Payload]
	}
	return l.zeros[:l.opt.Payload]
}

// limit is the largest payload.
func (l *Loop) limit() int {
	if !l.calls() {
		return maxPayload
	}
	limit := maxPayload - 8
	if cl := l.env.Cluster; cl != nil {
		limit = cl.MaxPayload()
	}
	if l.opt.Verb == Write {
		limit -= addressBytes
	}
	return limit
}

// Set changes the payload or an optimisation.
func (l *Loop) Set(name string, value any) error {
	if on, ok := value.(bool); ok && l.optimise(name, on) {
		return nil
	}
	if name != "payload" {
		return workload.UnknownParameter(l.Name(), name)
	}
	n, ok := value.(int)
	if !ok {
		return fmt.Errorf("workload.payload %v: a number of bytes is needed", value)
	}
	return l.setPayload(n)
}

// optimise switches an optimisation of §2.2.3 for the requests that follow.
func (l *Loop) optimise(name string, on bool) (known bool) {
	switch m := &l.opt.Mode; name {
	case "opt.micro.or":
		m.Outstanding = on
	case "opt.micro.db":
		m.Doorbell = on
		if l.env.Cluster != nil {
			l.env.Cluster.SetSingleReplies(!on)
		}
	case "opt.micro.pa":
		m.Passive = on && l.opt.Verb == Write
	default:
		return false
	}
	return true
}

func (l *Loop) setPayload(n int) error {
	if limit := l.limit(); n < 1 || n > limit {
		return fmt.Errorf("workload.payload %d: from 1 to %d bytes", n, limit)
	}
	if l.opt.Verb == Atomic && n != 8 {
		n = 8 // atomics know no other size
	}
	l.opt.Payload = n
	return nil
}

// runner is one coroutine's loop.
type runner struct {
	loop  *Loop
	c     *r2.Co
	begun bool
}

// Runner makes a coroutine's loop.
func (l *Loop) Runner(c *r2.Co) workload.Runner { return &runner{loop: l, c: c} }

// Next sends one request.
func (r *runner) Next() error {
	l, c := r.loop, r.c
	objects := r.objects()
	c.Gate()
	c.Reset()
	c.Phase(metrics.Execution, l.opt.Mode)
	c.TakeBreakdown(&l.idle)
	begin := c.Now()
	if f := l.env.OnBegin; f != nil {
		f(c.Machine(), c.Thread(), begin)
	}
	for range objects {
		r.post()
	}
	if l.opt.Mode.Passive {
		c.Room()
	}
	if err := c.Wait(); err != nil {
		return err
	}
	l.report(c, begin)
	return nil
}

// objects is how many the next request has. Requests of several take equally
// long, so that all of the cluster would go on beginning and ending together:
// the first one begins at a random time or, where the objects come one after the
// other, has a random part of them.
func (r *runner) objects() int {
	n := r.loop.opt.Objects
	if r.begun || n == 1 {
		return n
	}
	r.begun = true
	wait, some := n, n
	if !r.loop.opt.Mode.Outstanding {
		wait, some = 1, 1+int(r.c.Rand().Uint64n(uint64(n)))
	}
	r.c.Sleep(r2.Time(r.c.Rand().Uint64n(uint64(wait) * spreadPS)))
	return some
}

// post sends for one object.
func (r *runner) post() {
	l, c := r.loop, r.c
	switch m, at := r.target(); {
	case l.calls():
		c.Call(m, rpcEcho, l.request())
	case l.opt.Verb == Read:
		c.Read(at, l.opt.Payload)
	case l.opt.Verb == Write:
		c.Write(at, l.zeros[:l.opt.Payload])
	default:
		c.FAA(at, 1)
	}
}

// report hands out what became of a request.
func (l *Loop) report(c *r2.Co, begin r2.Time) {
	o := &l.out
	o.Co, o.Committed, o.Attempts, o.Phases = c.ID(), true, 1, 1<<metrics.Execution
	o.Breakdown[metrics.Execution] = [metrics.NumMilestones]int64{}
	o.RoundTrips[metrics.Execution] = uint32(c.TakeBreakdown(&o.Breakdown))
	o.Begin, o.End = begin, c.Now()
	o.Decision = o.End
	if f := l.env.OnDone; f != nil {
		f(c.Machine(), c.Thread(), o)
	}
}

// target draws another server and a place in the region of one of its RNICs.
func (r *runner) target() (m int, at r2.Loc) {
	l, rand := r.loop, r.c.Rand()
	others := l.servers
	if r.c.Machine() < l.servers {
		others--
	}
	m = int(rand.Uint64n(uint64(others)))
	if m >= r.c.Machine() && r.c.Machine() < l.servers {
		m++
	}
	list := l.regions[m]
	key := rand.Uint64n(l.opt.Keys)
	mr := list[r.c.Home()%len(list)] // the memory beside the RNIC that the queue pair leads to
	return m, r2.Loc{Machine: m, RKey: mr.RKey, Addr: mr.Addr + r2.Addr(key*uint64(l.stride))}
}
