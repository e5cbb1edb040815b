package workloadtest

import (
	"fmt"
	"strings"
	"testing"

	"drtmx/dst"
	"drtmx/dst/oracle"
	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/kv"
	"drtmx/engine/kv/ordered"
	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// Setup is a deployment. Reads are torn in all of them.
type Setup struct {
	Machines, Threads, Coroutines int
	Servers                       int  // 0: all machines
	Oracle                        bool // one machine more, the last, holds no data and runs no clients
	Seed                          uint64
	LossPPM                       uint32
	Emulated                      int // machines that there are queue pairs for; 0: those there are
	Txn                           txn.Config
	RingBytes                     uint64 // 0: the default
	Message                       int    // bytes of the largest; 0: the default
	Mode                          history.Mode
	Requests                      int                             // per coroutine; 0: until the bed stops
	Hardware                      func(*profile.Profile)          // changes the profile val; nil: as it is
	Indexes                       func(*r2.Cluster) store.Indexes // nil: B-trees by RPC
	Store                         store.Kind                      // nil: kv.Kind
	Schemes                       timestamp.Kinds                 // nil: those that are shipped
}

// Small is three machines on which transactions meet, with one datagram in a
// hundred lost.
func Small(cfg txn.Config) Setup {
	return Setup{Machines: 3, Threads: 2, Coroutines: 4, Seed: 1, LossPPM: 10_000, Txn: cfg, Mode: history.Full}
}

// shapes are small deployments with more coroutines: as Small, with one thread a
// machine, and with clients without data.
var shapes = []func(*Setup){
	func(s *Setup) { s.Coroutines = 6 },
	func(s *Setup) { s.Threads, s.Coroutines, s.Seed = 1, 8, 2 },
	func(s *Setup) { s.Machines, s.Servers, s.Coroutines, s.Seed = 4, 3, 6, 3 },
}

// Bed is a system while it runs.
type Bed struct {
	Sim     *sim.Sim
	Fabric  *fabric.Fabric
	Cluster *r2.Cluster

	// OnDone, if it is not nil, sees every transaction that has ended.
	OnDone func(*txn.Outcome)

	Commits, Rollbacks, Attempts uint64   // of transactions that have ended
	Aborts                       uint64   // attempts that a conflict has ended
	ByType                       []uint64 // commits of each of the bench's types

	bench    workload.Bench
	rec      *history.Recorder
	requests int
	stop     bool
	running  int
	clients  []*r2.Co
	err      error
}

// Open makes a bench of its options and opens it on one of the small deployments, which
// have numbers from 0 and repeat.
func Open[O any, B workload.Bench](t testing.TB, shape int, cfg txn.Config, make func(O) (B, error), o O) (*Bed, B) {
	t.Helper()
	bench, err := make(o)
	if err != nil {
		t.Fatal(err)
	}
	s := Small(cfg)
	shapes[shape%len(shapes)](&s)
	return New(t, s, bench), bench
}

// New opens the bench and starts its clients. What is not closed before closes
// when the test ends.
func New(t testing.TB, o Setup, bench workload.Bench) *Bed {
	t.Helper()
	b := &Bed{
		Sim: sim.New(sim.Options{Seed: o.Seed, Trace: true}), bench: bench, requests: o.Requests,
		rec:    history.New(claims(o)),
		ByType: make([]uint64, len(bench.Types())+1), // and one that a test adds
	}
	if err := b.open(t, o); err != nil {
		t.Fatal(err)
	}
	return b
}

// claims are what transactions are held to: strict serialisability, of read-write ones among one another where the others
// read snapshots.
func claims(o Setup) history.Options {
	h := history.Options{Mode: o.Mode, Initial: 2}
	t := o.Txn.Common().Timestamps
	if k := o.schemes().Named(t.Scheme); k != nil {
		h.Writers, h.Claim = history.StrictSerializable, k.ClaimUnder(&t)
	}
	return h
}

// schemes are those of timestamps that may be in force.
func (o *Setup) schemes() timestamp.Kinds {
	if o.Schemes != nil {
		return o.Schemes
	}
	return timestamp.Kinds{dst.DST, dst.TrueTime, oracle.GTS, oracle.VTS}
}

// members are the machines: all have records and run clients, or the first ones have records and the others run clients.
func (o *Setup) members() *membership.Table {
	t := membership.New(o.Machines, membership.Symmetric)
	if o.Servers > 0 && o.Servers < o.Machines {
		t = membership.New(o.Servers, membership.Server).Add(o.Machines-o.Servers, membership.Client)
	}
	if o.Oracle {
		t.Add(1, membership.Oracle)
	}
	return t
}

func (b *Bed) open(t testing.TB, o Setup) error {
	members := o.members()
	profile, err := profile.Load("val")
	if err != nil {
		return err
	}
	if o.Hardware != nil {
		o.Hardware(profile)
	}
	b.Fabric, err = fabric.New(b.Sim, fabric.Config{Profile: profile, Machines: members.Machines(), TornReads: true, LossPPM: o.LossPPM})
	if err != nil {
		return err
	}
	t.Cleanup(b.Close)
	b.Cluster, err = r2.New(b.Sim, b.Fabric, r2.Config{Threads: o.Threads, Coroutines: o.Coroutines, EmulatedNodes: o.Emulated, MaxMessage: o.Message})
	if err != nil {
		return err
	}
	if o.Indexes == nil {
		o.Indexes = func(cl *r2.Cluster) store.Indexes { return ordered.NewService(cl) }
	}
	if o.Store == nil {
		o.Store = kv.Kind
	}
	err = b.bench.Open(workload.Env{
		Cluster: b.Cluster, Members: members, Txn: o.Txn, Store: o.Store, Schemes: o.schemes(), Recorder: b.rec, Log: replication.Choice{Kind: redo.Kind, Bytes: o.RingBytes, Check: o.Mode == history.Full},
		Indexes: func() (store.Indexes, error) { return o.Indexes(b.Cluster), nil },
		OnDone:  b.done, OnAbort: func(int, uint8) { b.Aborts++ },
	})
	if err != nil {
		return err
	}
	if err := b.bench.Warm(nil); err != nil {
		return err
	}
	for _, m := range members.Of(membership.Client) {
		for thread := range o.Threads {
			for range o.Coroutines {
				b.running++
				b.clients = append(b.clients, b.Cluster.Spawn(m, thread, b.client))
			}
		}
	}
	return nil
}

func (b *Bed) done(_, _ int, o *txn.Outcome) {
	b.Attempts += uint64(o.Attempts)
	if o.Committed {
		b.Commits++
		b.ByType[o.Type]++
	}
	if o.RolledBack {
		b.Rollbacks++
	}
	if b.OnDone != nil {
		b.OnDone(o)
	}
}

// client runs requests until the bed stops. An error stops it.
func (b *Bed) client(c *r2.Co) {
	r := b.bench.Runner(c)
	for n := 0; !b.stop && (b.requests == 0 || n < b.requests); n++ {
		if err := r.Next(); err != nil {
			b.stop = true
			if b.err == nil {
				b.err = err
			}
		}
	}
	b.running--
}

// Run advances virtual time. It returns the first error of a client, too.
func (b *Bed) Run(d sim.Time) error {
	if err := b.advance(d); err != nil {
		return err
	}
	return b.err
}

func (b *Bed) advance(d sim.Time) error {
	if err := b.Sim.Run(b.Sim.Now() + d); err != nil {
		return err
	}
	if n := b.Fabric.OutOfOrder(); n != 0 {
		return fmt.Errorf("%d arrivals out of order", n)
	}
	return nil
}

const (
	stressAtMost = sim.Second
	stallAtMost  = 20 * sim.Millisecond // without a commit
	drainAtMost  = 200 * sim.Millisecond
)

// Stress runs until so many transactions have committed, and returns the Verdict.
func (b *Bed) Stress(commits uint64) (bad []string) {
	for moved, last := b.Sim.Now(), b.Commits; b.Commits < commits && b.err == nil && !b.broken(); {
		if err := b.advance(100 * sim.Microsecond); err != nil {
			return []string{err.Error()}
		}
		if b.Commits > last {
			moved, last = b.Sim.Now(), b.Commits
		}
		if b.Sim.Now() > stressAtMost || b.Sim.Now() > moved+stallAtMost {
			bad = append(bad, fmt.Sprintf("only %d commits in %d ms", b.Commits, b.Sim.Now()/sim.Millisecond))
			break
		}
	}
	return append(bad, b.Verdict()...)
}

// broken says that an invariant which the workload looks at meanwhile does not hold: what follows is no use.
func (b *Bed) broken() bool {
	if w, ok := b.bench.(workload.Online); ok {
		for _, inv := range w.CheckOnline() {
			if !inv.OK {
				return true
			}
		}
	}
	return false
}

// Verdict drains and lists every complaint: errors of clients, replicas, the
// workload's invariants, the history.
func (b *Bed) Verdict() (bad []string) {
	b.stop = b.stop || b.requests == 0
	for until := b.Sim.Now() + drainAtMost; !b.drained(); {
		if b.running == 0 { // what machines do in the background waits
			b.bench.DB().Pause()
		}
		if err := b.advance(10 * sim.Microsecond); err != nil {
			return []string{err.Error()}
		}
		if b.Sim.Now() > until { // a fault of the protocol can make it so
			bad = append(bad, fmt.Sprintf("not drained, %d clients are left\n%s", b.running, strings.Join(b.Cluster.Waiting(20), "\n")))
			break
		}
	}
	if b.err != nil {
		bad = append(bad, b.err.Error())
	}
	if ended := b.Commits + b.Rollbacks + b.Aborts; len(bad) == 0 && b.Attempts != ended {
		bad = append(bad, fmt.Sprintf("%d attempts of the transactions that ended, %d commits, roll-backs and aborts", b.Attempts, ended))
	}
	b.bench.DB().CheckReplicas()
	for _, inv := range b.bench.Check() {
		if !inv.OK {
			bad = append(bad, inv.Name+": "+inv.Text)
		}
	}
	rep := b.rec.Finish()
	for _, a := range rep.Anomalies {
		if a.Breaks {
			bad = append(bad, a.Kind+": "+a.Text)
		}
	}
	if broken, ok := b.bench.DB().StalenessVerdict(); ok && broken != "" {
		bad = append(bad, "staleness: "+broken)
	}
	if rep.Failed() && len(bad) == 0 {
		bad = append(bad, "the report is not ok")
	}
	return bad
}

func (b *Bed) drained() bool {
	return b.running == b.held() && b.Cluster.Quiet() && b.bench.DB().InFlight() == 0
}

// held counts the clients that stay at the gate, those of threads that are reserved for other work.
func (b *Bed) held() (n int) {
	for _, c := range b.clients {
		if c.Gated() {
			n++
		}
	}
	return n
}

// Check fails the test with the Verdict.
func (b *Bed) Check(t testing.TB) {
	t.Helper()
	if bad := b.Verdict(); len(bad) > 0 {
		t.Fatal(strings.Join(bad, "\n"))
	}
}

// Close ends the system. A test with many beds closes each before the next.
func (b *Bed) Close() {
	b.Sim.Close()
	b.Fabric.Close()
}
