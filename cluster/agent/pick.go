package agent

import (
	"context"
	"fmt"
	"math"
	"time"

	"drtmx/cluster/session"
	"drtmx/engine"
)

const (
	// pickStep is how far a paused system goes on between two looks, in virtual ns. It is the same
	// however fast it goes: a notebook is at the same time afterwards whenever it is run.
	pickStep = 5_000
	// pickWait is how long to wait between two looks at a system that runs by itself.
	pickWait = 10 * time.Millisecond
	// endPickTime is how long the end may take, also after an interrupt.
	endPickTime = 5 * time.Second
)

// TraceOf finds a transaction of a type whose latency is that of a percentile, and returns what it
// did. A system that runs is only watched, at its own pace; one that is paused goes on as far as it
// takes. Watching changes nothing in the run. It tells its progress, unless nil.
func (a *Agent) TraceOf(ctx context.Context, sys string, c engine.Choice, progress func(done, total int)) (*engine.Picked, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(a.ctx, stop)()
	var p *engine.Pick
	var epoch string
	err := a.call(ctx, sys, func(m *member) (err error) {
		if err := m.live(); err != nil {
			return err
		}
		epoch = m.epoch
		p, err = m.Sys.Pick(c)
		return err
	})
	if err != nil {
		return nil, err
	}
	for {
		at, err := fetch(ctx, a, sys, func(m *member) (looked, error) { return m.search(p, epoch) })
		if at.over || err != nil {
			return a.endPick(ctx, sys, p, epoch, err)
		}
		if progress != nil {
			progress(at.done, at.total)
		}
		select {
		case <-time.After(at.wait):
		case <-ctx.Done():
			return a.endPick(ctx, sys, p, epoch, ctx.Err())
		}
	}
}

// looked is what a look at a pick found.
type looked struct {
	over        bool          // there is nothing more to look for
	wait        time.Duration // until the next look
	done, total int
}

// search takes a pick further if the system does not go on by itself.
func (m *member) search(p *engine.Pick, epoch string) (at looked, err error) {
	if m.epoch != epoch {
		return at, &EndedError{m.id, "began again while a transaction was looked for"}
	}
	at.over, at.wait = p.Done(), pickWait
	at.done, at.total = p.Progress()
	if !at.over && m.paused && m.free() == nil {
		for began := time.Now(); !p.Done() && m.err == nil && time.Since(began) < session.SliceWall; {
			m.advance(pickStep)
		}
		m.anchor(time.Now())
		at.wait = 0
	}
	return at, nil
}

// endPick stops looking, also when ctx is over, and returns what was found. why is why it ends.
func (a *Agent) endPick(ctx context.Context, sys string, p *engine.Pick, epoch string, why error) (*engine.Picked, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), endPickTime)
	defer stop()
	found, err := fetch(ctx, a, sys, func(m *member) (*engine.Picked, error) {
		if m.epoch != epoch {
			return nil, why
		}
		m.publish(time.Now())
		found, err := p.End()
		if err != nil && m.err == nil {
			err = &UntracedError{m.id, err, fmt.Sprintf("it is at %d ns now", m.Sys.NowNS())}
		}
		return found, err
	})
	if why != nil {
		return nil, why
	}
	return found, err
}

// Types lists the types of a system's transactions.
func (a *Agent) Types(ctx context.Context, sys string) ([]string, error) {
	return fetch(ctx, a, sys, func(m *member) ([]string, error) { return m.Sys.Types(), nil })
}

// ChoiceOf is the choice of a percentile as people write it. It is rounded, for 99.9/100 is more than 0.999.
func ChoiceOf(typ string, percentile float64) engine.Choice {
	return engine.Choice{Type: typ, Quantile: math.Round(percentile*1e6) / 1e8}
}
