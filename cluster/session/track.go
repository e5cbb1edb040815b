package session

import (
	"context"
	"fmt"
	"time"

	"drtmx/cluster/system"
	"drtmx/engine"
	"drtmx/engine/result"
)

const (
	// SliceWall is how long a slice should take where no other request waits: a command waits at
	// most about this long.
	SliceWall  = 15 * time.Millisecond
	firstSlice = 10_000 // ns of virtual time, before the speed is known
	SliceLimit = int64(time.Second)
	sliceLeast = int64(1_000) // of a slice that takes long whatever its length, as on a computer that has other work
)

// Track is a system on its way through virtual time: it goes in slices that take about equally long, and
// hashes the windows that it cuts. A replay does both as the recording did.
type Track struct {
	Sys   system.System
	slice int64
	hash  windowHash
}

// NewTrack begins where the system is opened.
func NewTrack(sys system.System) Track { return Track{Sys: sys, slice: firstSlice} }

// Slice is how far the next slice may go.
func (t *Track) Slice() int64 { return t.slice }

// Slide moves virtual time by d, and aims at slices that take as long as aim. A drain says nothing of
// what a slice will take once there is load again: slices do not grow with it.
func (t *Track) Slide(d int64, aim time.Duration) error {
	draining := t.Sys.State() == engine.StateDraining
	began := time.Now()
	err := system.Guard("advance", func() error { return t.Sys.Advance(d) })
	switch wall := time.Since(began); {
	case wall > 2*aim:
		t.slice = max(sliceLeast, int64(float64(d)*float64(aim)/float64(wall)))
	case wall < aim/2 && d >= t.slice && !draining:
		t.slice = min(2*t.slice, SliceLimit)
	}
	return err
}

// Cut hashes the windows that were cut since the last time, and returns them.
func (t *Track) Cut() ([]result.Window, error) {
	ws := t.Sys.Windows(t.hash.n)
	for i := range ws {
		if err := t.hash.add(&ws[i]); err != nil {
			return nil, fmt.Errorf("simulator bug: %w", err)
		}
	}
	return ws, nil
}

// Mark is the state of the recording now.
func (t *Track) Mark() Checkpoint {
	return Checkpoint{
		VirtualNS: t.Sys.NowNS(), Digest: t.Sys.Digest(), Windows: t.hash.n,
		WindowsHash: t.hash.hex(), KnobsVersion: t.Sys.KnobsVersion(),
	}
}

// runTo advances in slices, so that it can be cancelled. Before each it waits for its turn, unless nil.
func (t *Track) runTo(ctx context.Context, to int64, aim time.Duration, turn Turn, progress func(now int64)) error {
	for t.Sys.NowNS() < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		done := func() {}
		if turn != nil {
			var err error
			if done, err = turn(ctx); err != nil {
				return err
			}
		}
		err := t.Slide(min(t.slice, to-t.Sys.NowNS()), aim)
		done()
		if _, cutErr := t.Cut(); cutErr != nil {
			return cutErr
		}
		if err != nil {
			return err
		}
		progress(t.Sys.NowNS())
	}
	return nil
}
