package work

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Kept says what a stream of the server holds.
type Kept struct {
	Name     string
	Messages uint64
	Bytes    uint64
}

// Kept lists what the server holds: points that wait, outcomes, large results.
func (q *Remote) Kept(ctx context.Context) ([]Kept, error) {
	var list []Kept
	for _, x := range streams() {
		s, err := q.js.Stream(ctx, x.stream)
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", x.stream, err)
		}
		state := s.CachedInfo().State
		list = append(list, Kept{x.name, state.Msgs, state.Bytes})
	}
	return list, nil
}

type namedStream struct{ name, stream string }

func streams() []namedStream {
	return []namedStream{{"points", pointsStream}, {"outcomes", "KV_" + outcomeBucket}, {"tries", "KV_" + triesBucket}, {"large results", "OBJ_" + bodyBucket}}
}

// GC removes what is older than an age: outcomes, large results, and points that no worker took. Age 0 removes all.
func (q *Remote) GC(ctx context.Context, age time.Duration) error {
	for _, x := range streams() {
		s, err := q.js.Stream(ctx, x.stream)
		if err == nil {
			err = purge(ctx, s, age)
		}
		if err != nil {
			return fmt.Errorf("stream %s: %w", x.stream, err)
		}
	}
	return nil
}

func purge(ctx context.Context, s jetstream.Stream, age time.Duration) error {
	state := s.CachedInfo().State
	if state.Msgs == 0 {
		return nil
	}
	from := time.Now().Add(-age)
	if age == 0 || state.LastTime.Before(from) {
		return s.Purge(ctx)
	}
	first, err := firstSince(ctx, s, state, from)
	if err != nil || first <= state.FirstSeq {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSequence(first))
}

// firstSince finds the first message that is not older than a time, by halves: they are in the order of time.
func firstSince(ctx context.Context, s jetstream.Stream, state jetstream.StreamState, from time.Time) (uint64, error) {
	low, high := state.FirstSeq, state.LastSeq // the last is young enough
	for low < high {
		mid := low + (high-low)/2
		m, err := s.GetMsg(ctx, mid, jetstream.WithGetMsgSubject(">")) // it or the next that is there
		if err != nil {
			return 0, err
		}
		if m.Time.Before(from) {
			low = m.Sequence + 1
		} else {
			high = mid
		}
	}
	return low, nil
}
