package clocks

import (
	"fmt"
	"math/bits"

	"drtmx/engine/r2"
	"drtmx/engine/sim"
)

const (
	// Base is what a perfect clock shows when a run begins: none shows less than 0, whatever it lacks.
	Base = 1 << 30

	// Most is the largest drift and the largest skew, in ns either way: together they are less than Base.
	Most = 500_000_000

	nanosecond = int64(sim.Nanosecond)
	readNS     = 25 // of the core, per reading: assumed, see the package's doc
)

// Options say how good the clocks are.
type Options struct {
	DriftNS int64  // most by which two clocks differ, up to Most; 0: they are perfect
	StepNS  int64  // between two synchronisations; 0: 1 ms
	PPM     int64  // most by which a clock runs fast or slow; 0: 78. It is less where a step's worth of it were more than half of DriftNS
	Seed    uint64 // of the errors; 0: drawn from the run's
}

// Clocks are those of a cluster's machines.
type Clocks struct {
	cl    *r2.Cluster              // nil: fixed
	fixed func(machine int) uint64 // in a script: what each shows
	o     Options
	drift errors
	old   int64   // of DriftNS: in force until
	until r2.Time // this
	skew  []int64 // by machine, in ns
}

// errors are the largest that synchronisation leaves, either way.
type errors struct {
	offset int64 // ps, when it has just been done
	rate   int64 // parts in a thousand million
}

// New makes the clocks of a cluster's machines.
func New(cl *r2.Cluster, o Options) *Clocks {
	if o.StepNS == 0 {
		o.StepNS = 1_000_000
	}
	if o.PPM == 0 {
		o.PPM = 78
	}
	if o.DriftNS < 0 || o.DriftNS > Most || o.StepNS < 0 || o.StepNS > 2*Most || o.PPM < 0 || o.PPM > 1000 {
		panic(fmt.Sprintf("clocks: drift %d ns, step %d ns, rate %d ppm: at most %d, %d and 1000, and not negative", o.DriftNS, o.StepNS, o.PPM, Most, 2*Most))
	}
	if o.Seed == 0 {
		o.Seed = cl.Stream("r2.clocks", 0).Uint64()
	}
	return &Clocks{cl: cl, o: o, drift: o.errors(), skew: make([]int64, cl.Machines())}
}

// Fixed are clocks that show what f says, for scripts: they stand still until f says more.
func Fixed(f func(machine int) uint64) *Clocks { return &Clocks{fixed: f} }

// errors splits half of the drift: what the rate adds until the next step is taken off what a step leaves.
func (o *Options) errors() errors {
	half, step := o.DriftNS*nanosecond/2, o.StepNS*nanosecond
	e := errors{rate: o.PPM * 1000}
	if grown := grow(e.rate, step); grown < half {
		e.offset = half - grown
	} else { // less than a step's worth of the rate: the product fits
		e.rate = half * 1_000_000_000 / step
	}
	return e
}

// grow is what a rate adds in d, either way towards zero.
func grow(rate, d int64) int64 { return rate * (d / 1000) / 1_000_000 }

// Read is what the clock of c's machine shows, in ns. It takes time of the core.
func (k *Clocks) Read(c *r2.Co) uint64 {
	m := c.Machine()
	c.Compute(readNS * int(c.Cluster().Fabric().Machine(m).CPU.MHz) / 1000)
	return k.At(m, c.Now())
}

// At is Read of any machine at any time, free: for oracles and tests.
func (k *Clocks) At(machine int, t r2.Time) uint64 {
	if k.fixed != nil {
		return k.fixed(machine)
	}
	step := k.o.StepNS * nanosecond
	n := t / step
	h := mix(k.o.Seed ^ mix(uint64(n)<<16|uint64(machine)))
	at := t + (Base+k.skew[machine])*nanosecond
	at += between(h, k.drift.offset)
	at += grow(between(mix(h), k.drift.rate), t-n*step)
	return uint64(at / nanosecond)
}

// between maps a hash to the whole numbers from -most to most.
func between(h uint64, most int64) int64 {
	x, _ := bits.Mul64(h, uint64(2*most+1))
	return int64(x) - most
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// SetDrift changes Options.DriftNS from now on. Values read before are up to the old one off, so the larger
// of both is in force until twice the old one has passed.
func (k *Clocks) SetDrift(ns int64) {
	if k.fixed != nil {
		return
	}
	if ns < 0 || ns > Most {
		panic(fmt.Sprintf("clocks: drift %d ns, at most %d and not negative", ns, Most))
	}
	if ns == k.o.DriftNS {
		return
	}
	k.old = k.Epsilon()
	k.until = k.cl.Now() + 2*k.old*nanosecond
	k.o.DriftNS = ns
	k.drift = k.o.errors()
}

// Skew sets a machine's clock off by ns, for good and beyond what Epsilon promises: synchronisation that
// has failed. 0 repairs it.
func (k *Clocks) Skew(machine int, ns int64) {
	if ns < -Most || ns > Most {
		panic(fmt.Sprintf("clocks: skew %d ns of machine %d, at most %d either way", ns, machine, Most))
	}
	if k.fixed == nil {
		k.skew[machine] = ns
	}
}

// Epsilon is by how much any two clocks differ at most, in ns, skews aside.
func (k *Clocks) Epsilon() int64 {
	if k.fixed == nil && k.cl.Now() < k.until {
		return max(k.o.DriftNS, k.old)
	}
	return k.o.DriftNS
}

// Advance is in how many ns of virtual time every clock has advanced by ns, steps aside.
func (k *Clocks) Advance(ns int64) int64 {
	slowest := 1_000_000 - k.o.PPM
	return (ns*1_000_000 + slowest - 1) / slowest
}
