package xstore

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/xstore/model"
	"drtmx/xstore/published"
)

// Model expansion (§3.4.3.2): a trainer builds a whole new version beside the one that is in use, and commits it by its
// number. Clients notice the number, and fetch sub-models of the new version as they need them. Leaves that are split
// meanwhile have tasks that are done again for the new version.

// consider asks for twice as many sub-models when they have too many keys on average, and for half when they have few. A number
// that a person asked for is kept until there are twice as many keys, or half.
func (p *part) consider(c *r2.Co) {
	at, t := uint64(p.s.opt.ExpandAt), &p.trainers
	if at == 0 || t.whole || p.keys < 2*p.asked && p.keys > p.asked/2 {
		return
	}
	p.asked = 0
	m := uint64(p.current.Model.M)
	switch {
	case p.keys > at*m:
		p.resize(c, uint32(min(2*m, MaxSubModels)))
	case m > 1 && p.keys < at*m/shrinkAt:
		p.resize(c, uint32(m/2))
	}
}

// shrinkAt is how many times fewer keys than those that expand a model make it shrink. Twice would go back and forth.
const shrinkAt = 8

// resize has a model with so many sub-models trained.
func (p *part) resize(c *r2.Co, m uint32) {
	if m != p.current.Model.M {
		p.begin(c, m)
	}
}

// retrainAll has a model with as many sub-models as now trained.
func (p *part) retrainAll(c *r2.Co) {
	p.begin(c, p.current.Model.M)
}

// retrainLost has a whole model trained behind a crash: the one that was under way or asked for meanwhile, or one as large as that
// which was in use.
func (p *part) retrainLost(c *r2.Co) {
	t, m := &p.trainers, p.current.Model.M
	if t.whole {
		m = t.target
	}
	t.queue, t.missed, t.whole, p.untold = nil, nil, false, 0
	p.begin(c, m)
}

// begin has a whole model trained, unless one is under way.
func (p *part) begin(c *r2.Co, m uint32) {
	if t := &p.trainers; !t.whole && len(t.threads) > 0 {
		t.whole, t.target, t.done = true, m, 0
		p.push(c, task{kind: wholeTask, m: m})
	}
}

// SetSubModels has every server train a model with so many sub-models, in the background. If one is being trained, it is the next.
// AutoSubModels leaves the number to package choose.
func (s *Store) SetSubModels(n int) error {
	o := s.opt
	o.SubModels = n
	switch err := o.check(); {
	case err != nil:
		return err
	case s.opt.Trainers == 0:
		return fmt.Errorf("xstore.submodels %d: no thread trains, xstore.trainers is 0", n)
	}
	s.opt.SubModels = n
	for _, p := range s.parts {
		m, err := p.subModels(n)
		if err != nil {
			return err
		}
		p.asked = p.keys
		if p.trainers.whole {
			p.wanted = uint32(m)
			continue
		}
		p.resize(nil, uint32(m))
	}
	return nil
}

// trainWhole is TRAIN_XMODEL (Figure 3-7).
func (t *trainer) trainWhole(c *r2.Co, m uint32) {
	p := t.p
	v, err := t.trainTop(c, m)
	if err != nil {
		c.Fail(fmt.Errorf("store %s: expansion to %d sub-models on machine %d: %w", p.s.spec.Name, m, p.server, err))
		return
	}
	for i := range m {
		t.trainSub(c, v, i, 0)
		p.trainers.done = i + 1
	}
	p.current.Next = v
	c.Store64(p.head, uint64(v.Number))
	p.current = v
	p.counts(c).Trained++
	q := &p.trainers
	q.whole = false
	for _, x := range q.missed {
		p.push(c, x)
	}
	q.missed = q.missed[:0]
	if p.wanted != 0 {
		p.resize(c, p.wanted)
		p.wanted = 0
	}
}

// topSample is on how many keys a top model is trained (§3.4.1: it can be trained over sampled data).
const topSample = 1 << 20

// trainTop gathers the keys, or a sample of them, and trains the top model of a version.
func (t *trainer) trainTop(c *r2.Co, m uint32) (*published.Version, error) {
	p := t.p
	every := uint64(1) // where the sub-models' keys are a table, it has to have all of them
	if !p.current.Model.Tabled() {
		every = p.keys/topSample + 1
	}
	var keys model.Sorted
	leaves, i := uint64(0), uint64(0)
	for cursor := p.tree.Cursor(p.low); ; leaves++ {
		c.ChargeHandler(1)
		ok := cursor.Next(c, &t.read)
		c.ChargeHandler(0)
		if !ok {
			break
		}
		c.Compute(cyclesPerKey * len(t.read.Keys))
		for _, k := range t.read.Keys {
			if i++; i%every == 0 {
				keys = append(keys, k)
			}
		}
	}
	top, err := p.trainTop(keys)
	if err != nil {
		return nil, err
	}
	x := model.NewModel(top, m, keys, p.low, p.high)
	return published.New(p.s.cl, p.server, p.current.Number+1, x, nil, leaves, p.s.spec.Spare/uint64(p.layout.Slots/2))
}
