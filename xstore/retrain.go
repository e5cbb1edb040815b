package xstore

import (
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
	"drtmx/xstore/tree"
)

// task is work for a trainer: the sub-models of a leaf that was split, the one of a key, one sub-model, or a whole new model.
type task struct {
	kind taskKind
	key  uint64 // the lowest that went to the new leaf of a split, or one that no sub-model answers for
	m    uint32 // sub-model, or the number of sub-models of a new model
}

type taskKind uint8

const (
	splitTask taskKind = iota
	keyTask
	modelTask
	wholeTask
)

// trainers are a server's threads that train, and what waits for them. They share the cores of workers: the last ones. The indexes
// of a group have the same threads, so that a worker has no more to share its core with than that of one store.
type trainers struct {
	queue   []task
	threads []*trainer
	missed  []task // while a whole model is trained: it has to have them too
	whole   bool   // that is under way
	target  uint32 // its sub-models; done of them are trained
	done    uint32
	lost    bool // the machine has crashed, and has no log to recover from
}

// trainer is one of them.
type trainer struct {
	parts []*part // that it trains for: one, or those of the indexes of its machine
	p     *part   // of its task
	co    *r2.Co
	fit   *model.Trainer
	began bool
	busy  bool

	// The sub-model that it retrains, or -1, of a version; once more, when it has done so.
	m     int
	v     *published.Version
	again bool

	leaves []model.Leaf
	read   tree.Leaf
	tt     []model.Entry
	subs   []uint32
	writer published.Writer
}

// cyclesPerKey is what training takes on a core for each key, its accesses to memory included: 8 us for a sub-model of 200
// keys (thesis §3.4.1, row f3-7-sub-train) at the 2.2 GHz of profile val.
const cyclesPerKey = 88

// startTrainers spawns the threads.
func (p *part) startTrainers() {
	if g := p.s.group; g != nil {
		if list := g.trainers[p.server]; len(list) > 0 {
			for _, t := range list {
				t.parts = append(t.parts, p)
			}
			p.trainers.threads = list
			return
		}
		defer func() { g.trainers[p.server] = p.trainers.threads }()
	}
	cores := p.s.cl.Threads(p.server)
	for i := range p.s.opt.Trainers {
		t := &trainer{parts: []*part{p}, p: p, fit: p.s.newTrainer(), m: -1}
		t.co = p.s.cl.SpawnShared(p.server, cores-1-i%cores, fmt.Sprintf("xstore.trainer%d", i), t.run)
		t.co.Endless() // models may be stale at any time
		p.trainers.threads = append(p.trainers.threads, t)
	}
}

// split is told of each split of a leaf, once it has committed. The trainers are told behind the record in the log, whose version is
// the time of the commit.
func (p *part) split(c *r2.Co, _, _ uint32, separator uint64) {
	p.counts(c).Splits++
	if !p.s.opt.Cache.learned() {
		p.untold++
		return
	}
	p.separators = append(p.separators, separator)
}

// tellSplits tells the trainers of the splits of an insert. Nothing of the core has run since.
func (p *part) tellSplits(c *r2.Co) {
	for _, separator := range p.separators {
		p.push(c, task{kind: splitTask, key: separator})
	}
	p.separators = p.separators[:0]
}

// inserted is told of a key that is new. Where the top model is not monotone, a sub-model may have to answer for keys that are
// beyond those it was trained for.
func (p *part) inserted(c *r2.Co, key uint64) {
	v := p.current
	if v.Model.Tabled() && (p.trainers.whole || !v.Model.Covers(v.Model.Sub(key), key)) {
		p.push(c, task{kind: keyTask, key: key})
	}
}

// push queues a task and wakes a trainer, which takes c's core a system call; c is nil where a person has asked for it. One task a
// split: they are not merged unless Options.Merge (§3.4.3.2).
func (p *part) push(c *r2.Co, x task) {
	t := &p.trainers
	if len(t.threads) == 0 {
		return
	}
	if t.whole && x.kind != wholeTask {
		t.missed = append(t.missed, x)
	}
	if p.s.opt.Merge {
		for _, q := range t.queue {
			if q == x {
				return
			}
		}
	}
	t.queue = append(t.queue, x)
	for _, w := range t.threads {
		switch {
		case w.busy:
			continue
		case c == nil:
			p.s.cl.Wake(w.co)
		default:
			c.Wake(w.co)
		}
		return
	}
}

// Pending is the number of tasks that trainers have not finished.
func (s *Store) Pending() (n int) {
	for _, p := range s.parts {
		n += len(p.trainers.queue)
		for _, t := range p.trainers.threads {
			if t.busy && t.p == p {
				n++
			}
		}
	}
	return n
}

// run is a trainer's thread. It begins again when its machine has crashed, and recovered if there is a log.
func (t *trainer) run(c *r2.Co) {
	for _, p := range t.parts {
		p.trainers.lost = t.began && p.logs == nil
	}
	for t.began, t.busy, t.m = true, false, -1; ; {
		if !t.next() {
			c.Suspend()
			continue
		}
		q := &t.p.trainers
		x := q.queue[0]
		t.busy, q.queue = true, q.queue[1:]
		switch x.kind {
		case splitTask:
			t.retrainSplit(c, x.key)
		case keyTask:
			t.retrainKey(c, x.key)
		case modelTask:
			t.retrain(c, t.p.current, x.m)
		case wholeTask:
			t.trainWhole(c, x.m)
		}
		t.busy = false
		t.p.consider(c)
	}
}

// next goes to the part that has the next task, in turns; false if there is none.
func (t *trainer) next() bool {
	from := slices.Index(t.parts, t.p) + 1
	for i := range t.parts {
		p := t.parts[(from+i)%len(t.parts)]
		if q := &p.trainers; !q.lost && len(q.queue) > 0 {
			t.p = p
			return true
		}
	}
	return false
}

// retrainSplit retrains every sub-model that has keys of the two leaves: two, if they straddle.
func (t *trainer) retrainSplit(c *r2.Co, separator uint64) {
	p := t.p
	low, high := separator, separator
	if separator > p.low {
		_, low, _ = p.tree.FindLeaf(c, separator-1)
	}
	_, _, high = p.tree.FindLeaf(c, separator)
	v := p.current
	t.subs = t.subs[:0]
	v.Model.SubsOf(low, high, func(m uint32) { t.subs = append(t.subs, m) })
	if p.s.opt.planted.oneSubModel {
		t.subs = t.subs[:min(1, len(t.subs))]
	}
	for _, m := range t.subs {
		t.retrain(c, v, m)
	}
}

// retrainKey has the sub-model of a key answer for it.
func (t *trainer) retrainKey(c *r2.Co, key uint64) {
	v := t.p.current
	if m := v.Model.Sub(key); !v.Model.Covers(m, key) {
		v.Model.Grow(m, key)
		t.retrain(c, v, m)
	}
}

// retrain is TRAIN_SUBMODEL (Figure 3-7) of a sub-model that may be in use. If another trainer is at it, that one does it once
// more: two would overwrite each other's.
func (t *trainer) retrain(c *r2.Co, v *published.Version, m uint32) {
	for _, o := range t.p.trainers.threads {
		if o != t && o.m == int(m) && o.v == v {
			o.again = true
			return
		}
	}
	t.m, t.v, t.again = int(m), v, true
	for t.again {
		t.again = false
		old, _ := v.Load(c, m)
		t.trainSub(c, v, m, (old.Generation()+1)&model.GenerationMask)
		t.p.counts(c).Retrained++
	}
	t.m = -1
}

// trainSub trains a sub-model from the leaves as they are, and stores it.
func (t *trainer) trainSub(c *r2.Co, v *published.Version, m, generation uint32) {
	span := v.Model.Span(m)
	t.collect(c, span)
	s, tt := t.fit.Sub(t.leaves, span, v.Model.Base(m), generation, t.tt)
	t.tt = tt
	if s.Fallback() {
		t.p.counts(c).Unpredicted++
	}
	if !t.writer.Store(c, v, m, s, span, tt) {
		t.p.counts(c).Unpredicted++
	}
}

// collect reads the leaves of a span. What it takes is charged by keys, and the accesses themselves only move the caches;
// between two leaves others of the core may run.
func (t *trainer) collect(c *r2.Co, span model.Span) {
	t.leaves = t.leaves[:0]
	cursor := t.p.tree.Cursor(span.Low)
	for more := true; more; {
		c.ChargeHandler(1)
		ok := cursor.Next(c, &t.read)
		c.ChargeHandler(0)
		if !ok {
			return
		}
		c.Compute(cyclesPerKey * len(t.read.Keys))
		t.append(&t.read)
		more = t.read.High < span.High
	}
}

// append keeps a leaf, in memory that is used again.
func (t *trainer) append(l *tree.Leaf) {
	if n := len(t.leaves); n < cap(t.leaves) {
		t.leaves = t.leaves[:n+1]
	} else {
		t.leaves = append(t.leaves, model.Leaf{})
	}
	to := &t.leaves[len(t.leaves)-1]
	to.ALN, to.INCA, to.Low, to.High = l.ALN, l.INCA, l.Low, l.High
	to.Keys = append(to.Keys[:0], l.Keys...)
}
