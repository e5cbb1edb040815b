package xstore

import (
	"testing"

	"drtmx/engine/sim"
)

// After a crash every key has a value that it had: the last one that was durable, or a later one. What was written two flushes
// before the crash is durable. Clients that still have the old models lose no key.
func TestRecovery(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		b := newBed(t, seed, 1, 2, 2)
		b.open(mixture.keys, 24, Options{SubModels: 12, Slots: 8, Trainers: 1, Speculative: true, PositionHint: true, Log: true})
		b.recover(mixture)
		reads := mixture
		reads.ops, reads.weights = 200, [5]int{80, 0, 0, 0, 20}
		b.base, b.log.ops = b.states(4000), nil
		b.play(reads)
		if keys := b.lost(); len(keys) > 0 {
			t.Errorf("seed %d: clients with old models: keys %v", seed, keys)
		}
		if s := b.x.Stats(); s.Mismatches == 0 {
			t.Error("no client had an old model")
		}
		b.close()
	}
}

// recover has the plan's clients write, crashes the server some time later, and judges what every key has then.
func (b *bed) recover(p plan) {
	b.Helper()
	p.weights = [5]int{0, 40, 40, 20, 0}
	p.ops = 60
	b.play(p)
	if err := b.s.Run(b.s.Now() + 3*logEvery); err != nil {
		b.Fatal(err)
	}
	durable := b.states(4000)
	b.log.ops = nil
	p.ops = 20
	b.play(p) // partly lost
	b.crash(0)
	b.settle()
	b.audit()
	b.judgeRecovery(durable)
}

// judgeRecovery holds that keys have what was durable, or what was written behind that.
func (b *bed) judgeRecovery(durable map[uint64]uint64) {
	b.Helper()
	now, kept := b.states(4000), 0
	for key := range uint64(4000) {
		ok := now[key] == durable[key]
		for _, x := range b.log.ops[key] {
			o := x.Input.(op)
			after := o.change + 1
			if o.kind == remove {
				after = 0
			}
			if o.done && now[key] == after {
				ok = true
				kept++
			}
		}
		if !ok {
			b.Errorf("key %d: state %d, %d was durable; %v", key, now[key], durable[key], b.log.ops[key])
		}
	}
	b.Logf("%d keys have what was written after the last flush that was waited for", kept)
}

// crash stops a machine and starts it again.
func (b *bed) crash(m int) {
	b.Helper()
	if err := b.cl.Crash(m); err != nil {
		b.Fatal(err)
	}
	if _, err := b.cl.Restart(m); err != nil {
		b.Fatal(err)
	}
	for !b.cl.Up(m) {
		if err := b.s.Run(b.s.Now() + 10*sim.Microsecond); err != nil {
			b.Fatal(err)
		}
	}
}
