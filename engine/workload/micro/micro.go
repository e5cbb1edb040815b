// Package micro has the micro-benchmarks of thesis §2.2.4: one verb after the
// other in a closed loop, without transactions.
//
// Each coroutine sends a request of the payload's size to a random place on a
// random server other than its own machine, waits for it, and sends the next.
// A request of several objects is that many verbs, or RPCs, to random servers
// each; Options.Mode says what of §2.2.3 they use. A request to a machine that is down
// fails as a whole, and its client pauses before the next one.
// Reads and writes go to one region per server and socket, that of the RNIC
// which the thread's queue pairs lead to, in DRAM or in NVM; atomics to 8-byte
// words there; an rpc is a request and a reply of the payload's size. Two-sided, a
// read's reply and a write's request carry the payload, which the server copies or,
// to measure the RPC alone, does not (the LIMIT of thesis figures 2-9 and 2-11).
package micro

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"drtmx/engine/fabric/host"
	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

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
	Copy     Copy   // what the server of a two-sided request does
	NVM      bool   // places are in NVM, else in DRAM
	DIMM     int    // of NVM on this DIMM only, from 1; 0: on all
	Socket   Socket // whose memory
	Align    int    // places begin at random multiples of it, up to a line; 64
	Pad      int    // writes are padded to a multiple of it; 1: they are not
	// Sequential has each thread go through the places in order, beginning at a
	// random one; else places are random.
	Sequential bool
	Objects    int // verbs per request; 1
	Mode       r2.Mode
	Hints      Hints
}

const (
	// maxPayload is what the objects of a request have together.
	maxPayload = 256 << 10

	// maxMessage is the path MTU; RPC messages lose their header of it.
	maxMessage    = 4096
	messageHeader = 8

	// denseBytes is the largest region in large pages, of which random accesses
	// soon touch all.
	denseBytes = 8 << 20

	// spreadPS is about what a request takes per object.
	spreadPS = 2_500_000

	lineBytes = 64

	// What a two-sided request names its place by.
	addressBytes = 8
	lengthBytes  = 4
)

// Loop is the workload.
type Loop struct {
	rpc     uint8 // of two-sided requests
	opt     Options
	env     workload.Env
	servers int
	regions []region
	target  int   // the region that requests go to
	byDIMM  []int // or those of each DIMM
	own     owned.Each[own]
	stride  int
	zeros   []byte
	report  workload.Verbs
}

// own is what the clients of a machine have together.
type own struct {
	buf     []byte // of a request
	cursors []cursor
}

// cursor is the next place in sequence of a thread's requests.
type cursor struct {
	at    uint64
	begun bool
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
	if o.Align == 0 {
		o.Align = lineBytes
	}
	if o.Pad == 0 {
		o.Pad = 1
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
	if err := o.check(); err != nil {
		return nil, err
	}
	l := &Loop{opt: o, zeros: make([]byte, maxMessage+maxPad)}
	return l, l.setPayload(o.Payload)
}

// Name is the value of the knob workload that chooses it.
func (l *Loop) Name() string { return verbNames[l.opt.Verb] }

// Types has the only request type.
func (l *Loop) Types() []string { return []string{verbNames[l.opt.Verb][len("micro-"):]} }

// DB is nil: no transactions.
func (l *Loop) DB() *txn.DB { return nil }

// Warm fills the servers' caches with what writes to NVM have left there last: else
// they would need milliseconds before anything has to leave.
func (l *Loop) Warm(between workload.Between) error {
	stores := l.calls() && l.opt.copies() == CopyStore
	if l.opt.Verb != Write || !l.opt.onNVM() || l.calls() && !stores {
		return nil
	}
	for m, list := range l.regions[l.target].mrs {
		if err := between.Step(m, len(l.regions[l.target].mrs)); err != nil {
			return err
		}
		hw := l.env.Cluster.Fabric().Machine(m)
		rand := l.env.Cluster.Fabric().Sim().Stream("micro.warm", uint64(m))
		next := rand.Uint64n(l.opt.Keys)
		for _, r := range list {
			for range 2 * hw.CacheLines() * lineBytes / l.stride {
				if next = (next + 1) % l.opt.Keys; !l.opt.Sequential {
					next = rand.Uint64n(l.opt.Keys)
				}
				if at := r.Addr + next*uint64(l.stride); stores {
					hw.WarmStore(at, l.opt.padded())
				} else {
					hw.WarmDMA(at, l.opt.padded())
				}
			}
		}
	}
	return nil
}

// Check has nothing to check.
func (l *Loop) Check() []workload.Invariant { return nil }

// Open registers the regions.
func (l *Loop) Open(env workload.Env) error {
	l.env, l.servers, l.report = env, env.ServerCount(), workload.NewVerbs(env)
	l.own = owned.New(env.Cluster.Machines(), func(m int) own {
		return own{make([]byte, maxMessage), make([]cursor, env.Cluster.Threads(m))}
	})
	cl := env.Cluster
	if cl.Machines() < 2 {
		return fmt.Errorf("%s on one machine: at least 2, requests go to others", l.Name())
	}
	if limit := l.limit(); l.opt.Payload > limit {
		return fmt.Errorf("workload.payload %d: an RPC message carries %d bytes of it", l.opt.Payload, limit)
	}
	l.stride = (l.opt.padded() + lineBytes - 1) / lineBytes * lineBytes
	if l.calls() {
		cl.SetSingleReplies(!l.opt.Mode.Doorbell)
		l.rpc = cl.Handle("micro.echo", l.serve)
	}
	return l.choose()
}

// region is a kind of memory: a part in each server and socket.
type region struct {
	nvm  bool
	dimm int
	mrs  [][]host.MR // by server and socket
}

// choose finds the memory that the options name, and allocates it at its first use.
func (l *Loop) choose() (err error) {
	dimm := 0
	if l.opt.onNVM() {
		dimm = l.opt.DIMM
	}
	if l.target, err = l.region(l.opt.onNVM(), dimm); err != nil {
		return err
	}
	if l.byDIMM = l.byDIMM[:0]; !l.opt.dimmPerThread() {
		return nil
	}
	for k := range l.env.Cluster.Fabric().Profile().NVM.DIMMs.Int() {
		i, err := l.region(true, k+1)
		if err != nil {
			return err
		}
		l.byDIMM = append(l.byDIMM, i)
	}
	return nil
}

// region is the number of a kind of memory.
func (l *Loop) region(nvm bool, dimm int) (int, error) {
	for i := range l.regions {
		if r := &l.regions[i]; r.nvm == nvm && r.dimm == dimm {
			return i, nil
		}
	}
	r := region{nvm: nvm, dimm: dimm}
	cl := l.env.Cluster
	for m := range l.servers {
		var list []host.MR
		for k := range len(cl.Fabric().Machine(m).NICs) {
			bytes := l.opt.Keys*uint64(l.stride) + maxPayload + maxPad
			a, err := cl.Mem(m).Alloc(host.Alloc{Name: l.Name(), Bytes: bytes, Socket: k, Dense: bytes <= denseBytes, NVM: r.nvm, DIMM: r.dimm})
			if err != nil {
				return 0, fmt.Errorf("%s: %w", l.Name(), err)
			}
			list = append(list, cl.Mem(m).Register(a, bytes, host.RemoteRead|host.RemoteWrite|host.RemoteAtomic))
		}
		r.mrs = append(r.mrs, list)
	}
	l.regions = append(l.regions, r)
	return len(l.regions) - 1, nil
}

// calls says that requests are RPCs.
func (l *Loop) calls() bool { return l.opt.Verb == RPC || l.opt.TwoSided }

// request is what an RPC sends about a place.
func (l *Loop) request(c *r2.Co, at r2.Addr) []byte {
	n, buf := l.opt.Payload, l.own.Of(c.Machine()).buf
	switch l.opt.Verb {
	case Read:
		n = addressBytes + lengthBytes
		binary.LittleEndian.PutUint64(buf, at)
	case Write:
		n += addressBytes
		binary.LittleEndian.PutUint64(buf, at)
	}
	return buf[:n]
}

// serve is the server's part of an RPC.
func (l *Loop) serve(c *r2.Co, from r2.Peer, req, rep []byte) int {
	n := min(l.opt.Payload, len(rep))
	copies := l.opt.copies()
	if l.opt.Verb == RPC || copies == CopyNothing {
		if l.opt.Verb == Write {
			return 0
		}
		return copy(rep, l.zeros[:n])
	}
	at := binary.LittleEndian.Uint64(req)
	if l.opt.Verb == Read {
		return copy(rep, c.Load(at, n))
	}
	l.store(c, at, req[addressBytes:], copies)
	return 0
}

// store is the server's part of a write. It pads: nothing more is sent.
func (l *Loop) store(c *r2.Co, at r2.Addr, b []byte, how Copy) {
	if n := l.opt.padded(); n > len(b) {
		b = l.zeros[:n]
	}
	if how == CopyStoreNT {
		c.StoreNT(at, b)
		c.Fence() // such stores have no order: the reply must not overtake them
		return
	}
	c.Store(at, b)
	if l.opt.Hints.Persist {
		c.Flush(at, len(b))
		c.Fence()
	}
}

// limit is the largest payload in this cluster, whose messages may be small.
func (l *Loop) limit() int {
	limit := l.opt.Limit()
	if cl := l.env.Cluster; cl != nil && l.calls() {
		limit = min(limit, cl.MaxPayload())
		if l.opt.Verb == Write {
			limit = min(limit, cl.MaxPayload()-addressBytes)
		}
	}
	return limit
}

// Set changes the payload, where the places are, or an optimisation.
func (l *Loop) Set(name string, value any) error {
	if on, ok := value.(bool); ok && l.optimise(name, on) {
		return nil
	}
	before, err := l.opt, error(nil)
	switch v := value.(type) {
	case int:
		switch name {
		case "payload":
			return l.setPayload(v)
		case "dimm":
			l.opt.DIMM = v
		case "align":
			l.opt.Align = v
		case "pad":
			l.opt.Pad = v
		default:
			return workload.UnknownParameter(l.Name(), name)
		}
	case Hints:
		l.opt.Hints = v
	case bool:
		if name != "nvm" {
			return workload.UnknownParameter(l.Name(), name)
		}
		l.opt.NVM = v
	case string:
		switch name {
		case "pattern":
			l.opt.Sequential = v == "sequential"
		case "socket":
			l.opt.Socket, err = ParseSocket(v)
		case "copy":
			l.opt.Copy, err = ParseCopy(v)
		default:
			return workload.UnknownParameter(l.Name(), name)
		}
	default:
		return workload.UnknownParameter(l.Name(), name)
	}
	if err == nil {
		err = l.opt.check()
	}
	if err == nil && l.env.Cluster != nil {
		err = l.choose()
	}
	if err != nil {
		l.opt = before
	}
	return err
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
	sent  bool    // in steps: a request is under way
	begin r2.Time // of the request
	after workload.Break
	peer  int // the server of the next request, by its number among the others
}

// Runner makes a coroutine's loop.
func (l *Loop) Runner(c *r2.Co) workload.Runner {
	r := &runner{loop: l, c: c, peer: undrawn}
	c.Ahead(unsafe.Pointer(r), unsafe.Sizeof(*r), func() {
		if r.peer != undrawn {
			c.AheadPost(r.server())
		}
	})
	return r
}

// undrawn: no server yet.
const undrawn = -1

// draw chooses another server for the next request. That is done as soon as the one
// before has all its numbers, so that the host can be asked for what leads there.
func (r *runner) draw() {
	others := r.loop.servers
	if r.c.Machine() < others {
		others--
	}
	r.peer = int(r.c.Rand().Uint64n(uint64(others)))
}

// server is the machine of the server that was drawn.
func (r *runner) server() int {
	if own := r.c.Machine(); own < r.loop.servers && r.peer >= own {
		return r.peer + 1
	}
	return r.peer
}

// Next sends one request, or in steps one after the other. If a machine that it needs is down it ends
// with an error, and the client takes a break before its next one.
func (r *runner) Next() (err error) {
	l, c := r.loop, r.c
	objects := r.objects()
	r.begin = l.report.Begin(c, l.opt.Mode)
	if !l.steps() {
		err = r.send(objects)
	} else if c.Steps(r.step); r.sent {
		r.sent, err = false, c.Wait()
	} else {
		return nil // all of them have been reported
	}
	switch {
	case err == nil:
		r.done()
		return nil
	case !errors.Is(err, r2.ErrUnreachable):
		return err
	}
	l.report.Failed(c, r.begin)
	r.after.Error(c)
	return nil
}

// done reports a request that has ended well.
func (r *runner) done() {
	r.loop.report.Done(r.c, r.begin)
	r.after.OK()
}

// steps says that requests go on in steps (r2.Co.Steps): one-sided ones with one wait each, of clients that
// begin the next one at once.
func (l *Loop) steps() bool {
	o := &l.opt
	return o.Objects == 1 && !l.calls() && !o.Mode.Passive && (!o.Hints.Persist || o.Hints.OneRoundTrip) && !l.env.Open
}

// step goes from the end of a request to the wait for the next, or begins with the first.
func (r *runner) step() (goesOn bool) {
	l, c := r.loop, r.c
	if r.sent {
		r.sent = false
		if r.done(); !l.steps() || !c.Passes() {
			return false
		}
		r.begin = l.report.Begin(c, l.opt.Mode)
	}
	r.sent = true
	_ = r.post() // one post: what is wrong with it Wait says
	return c.StepWait()
}

// send posts for all objects and waits, also for those behind an error.
func (r *runner) send(objects int) error {
	l, c := r.loop, r.c
	for range objects {
		if err := r.post(); err != nil {
			_ = c.Wait() // the first error counts
			return err
		}
	}
	if l.opt.Mode.Passive {
		c.Room()
	}
	return c.Wait()
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
func (r *runner) post() error {
	l, c := r.loop, r.c
	switch m, at := r.target(); {
	case l.calls():
		c.Call(m, l.rpc, l.request(c, at.Addr))
	case l.opt.Verb == Read:
		c.Read(at, l.opt.Payload)
	case l.opt.Verb == Write:
		return l.write(c, at)
	default:
		c.FAA(at, 1)
	}
	return nil
}

// target draws another server and a place in the region of one of its RNICs.
func (r *runner) target() (m int, at r2.Loc) {
	l, rand := r.loop, r.c.Rand()
	if r.peer == undrawn {
		r.draw()
	}
	m = r.server()
	place := l.target
	if n := len(l.byDIMM); n > 0 { // the server's thread of the same index writes
		// Threads go round the sockets: those of one socket share all of its DIMMs.
		place = l.byDIMM[r.c.Thread()/len(l.regions[l.target].mrs[m])%n]
	}
	list := l.regions[place].mrs[m]
	key := l.next(r.c)
	socket := r.c.Home() // beside the RNIC that the queue pair leads to
	switch l.opt.socket() {
	case Other:
		socket++
	case First:
		socket = 0
	case Any:
		socket = rand.Intn(len(list))
	}
	mr := list[socket%len(list)]
	at = r2.Loc{Machine: m, RKey: mr.RKey, Addr: mr.Addr + r2.Addr(key*uint64(l.stride))}
	if a := uint64(l.opt.Align); a < lineBytes { // anywhere in the first line
		at.Addr += r2.Addr(a * rand.Uint64n(lineBytes/a))
	}
	at.Addr &^= r2.Addr(l.opt.granule() - 1)
	r.draw()
	return m, at
}

// next is the place of a request, among as many as there are.
func (l *Loop) next(c *r2.Co) uint64 {
	if !l.opt.Sequential {
		return c.Rand().Uint64n(l.opt.Keys)
	}
	next := &l.own.Of(c.Machine()).cursors[c.Thread()]
	at := next.at
	if !next.begun {
		at = c.Rand().Uint64n(l.opt.Keys)
	}
	if l.opt.Payload > l.stride { // the payload was smaller when the places were laid out
		at += uint64((l.opt.Payload - 1) / l.stride)
	}
	*next = cursor{(at + 1) % l.opt.Keys, true}
	return at % l.opt.Keys
}
