package windows

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/engine/result"
)

// MomentsKept is as many as a system keeps windows.
const MomentsKept = 20_000

// Source is what has the windows of some systems.
type Source interface {
	Systems() []system.Snapshot
	Windows(ctx context.Context, sys string, from int) ([]result.Window, error)
}

// Keeper fetches each window of a system once, however many pages look.
type Keeper struct {
	source Source
	mu     sync.Mutex
	tracks map[string]*track
}

type track struct {
	mu      sync.Mutex
	epoch   string
	next    int
	moments []Moment // only ever appended to, so that readers may keep a slice of it
}

// NewKeeper makes one that has fetched nothing yet.
func NewKeeper(s Source) *Keeper { return &Keeper{source: s, tracks: map[string]*track{}} }

// ErrGone is the error of a question about windows from before a reset.
var ErrGone = errors.New("that system began again since, its windows are gone")

// SnapshotOf is the state of one of some systems.
func SnapshotOf(s interface{ Systems() []system.Snapshot }, sys string) (system.Snapshot, error) {
	var have []string
	for _, x := range s.Systems() {
		if x.Sys == sys {
			return x, nil
		}
		have = append(have, x.Sys)
	}
	return system.Snapshot{}, &agent.NoSystemError{Sys: sys, Have: have}
}

// Moments returns the history of a system and the epoch that it belongs to. The
// slice is not to be changed.
func (k *Keeper) Moments(ctx context.Context, sys string) ([]Moment, string, error) {
	k.mu.Lock()
	t := k.tracks[sys]
	if t == nil {
		t = &track{}
		k.tracks[sys] = t
	}
	k.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	for range 3 {
		before, err := SnapshotOf(k.source, sys)
		if err != nil {
			return nil, "", err
		}
		if before.Epoch != t.epoch {
			t.epoch, t.next, t.moments = before.Epoch, 0, nil
		}
		ws, err := k.source.Windows(ctx, sys, t.next)
		if err != nil {
			return nil, "", err
		}
		// A reset in between would mix two lives of the system.
		if after, err := SnapshotOf(k.source, sys); err != nil || after.Epoch != t.epoch {
			continue
		}
		t.add(ws)
		return t.moments, t.epoch, nil
	}
	return nil, "", fmt.Errorf("system %s keeps beginning again", sys)
}

func (t *track) add(ws []result.Window) {
	for i := range ws {
		t.moments = append(t.moments, Of(&ws[i]))
		t.next = ws[i].Index + 1
	}
	if n := len(t.moments); n > MomentsKept+MomentsKept/4 {
		t.moments = append([]Moment(nil), t.moments[n-MomentsKept:]...)
	}
}
