package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Do is that of Queue.
func (q *Remote) Do(ctx context.Context, p Point) (Outcome, error) {
	if err := p.check(); err != nil {
		return Outcome{}, err
	}
	class, err := classOf(p.MemoryBytes)
	if err != nil {
		return Outcome{}, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return Outcome{}, err
	}
	told := q.wait(p.Key)
	s := sending{q: q, p: p, class: class, text: text}
	out, err := s.until(ctx, told)
	if last := q.leave(p.Key, told); last && ctx.Err() != nil {
		s.withdraw()
	}
	return out, err
}

// sending is a point that a client waits for.
type sending struct {
	q      *Remote
	p      Point
	class  int
	text   []byte
	looked bool   // whether there is an outcome from before
	seq    uint64 // of the message, if it is ours
}

// until waits for the outcome. Notices of it may be lost, and so may a message with a server's disk: it asks again
// from time to time, and sends again what is neither kept nor queued.
func (s *sending) until(ctx context.Context, told <-chan struct{}) (Outcome, error) {
	const patient = 12 // times the first delay
	for delay := s.q.o.Ask; ; delay = min(2*delay, patient*s.q.o.Ask) {
		out, ok, err := s.step(ctx)
		var failed *Failed
		switch {
		case ctx.Err() != nil:
			return Outcome{}, ctx.Err()
		case ok, errors.As(err, &failed):
			return out, err
		case s.q.nc.IsClosed():
			return Outcome{}, errClosed
		case err != nil && !offline(err) && !full(err):
			return Outcome{}, fmt.Errorf("point %.12s: %w", s.p.Key, err)
		case err != nil: // the server is away, or full
			s.q.trouble(err)
			delay = min(delay, s.q.o.Ask)
		default:
			s.q.trouble(nil)
		}
		select {
		case <-told:
		case <-time.After(delay):
		case <-ctx.Done():
		}
	}
}

// trouble tells of what points wait for, once for all of them; nil is its end.
func (q *Remote) trouble(err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	q.mu.Lock()
	news := now != "" && now != q.said
	q.said = now
	q.mu.Unlock()
	if news {
		q.o.Log("points wait for the server, which is asked again: " + now)
	}
}

// step takes the outcome if there is one, and else sees to it that the point is queued. What failed before this process
// asked is tried again.
func (s *sending) step(ctx context.Context) (out Outcome, ok bool, err error) {
	out, ok, err = s.q.kept.get(ctx, s.p.Key)
	if ok && err != nil && !s.looked {
		ok, err = false, s.q.kept.forget(ctx, s.p.Key)
	}
	if ok || err != nil {
		return out, ok, err
	}
	s.looked = true
	inner, cancel := brief(ctx)
	defer cancel()
	ack, err := s.q.js.Publish(inner, classSubject(s.p.Code, s.class)+"."+s.p.Key, s.text)
	switch {
	case queued(err):
		return out, false, nil
	case err != nil:
		return out, false, err
	}
	s.seq = ack.Sequence
	return out, false, s.q.nc.Publish(wakeSubject+"."+s.p.Code, []byte{byte(s.class)})
}

// withdraw removes the message, so that no worker begins the point. A worker that has begun it keeps its result.
func (s *sending) withdraw() {
	if s.seq == 0 {
		return
	}
	const limit = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := s.q.points.DeleteMsg(ctx, s.seq); err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) && !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		s.q.o.Log(fmt.Sprintf("point %.12s stays in the queue: %v", s.p.Key, err))
	}
}

// The server's words for a subject and for a stream that take no more. Its codes do not tell them apart.
const (
	storeFailed  = 10077
	subjectFull  = "maximum messages per subject exceeded"
	streamBytes  = "maximum bytes exceeded"
	streamNumber = "maximum messages exceeded"
)

func storeSays(err error, words ...string) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == storeFailed && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(api.Description, w) })
}

// queued says that the point waits already, from whichever client.
func queued(err error) bool { return storeSays(err, subjectFull) }

// full says that the queue takes no more for now.
func full(err error) bool { return storeSays(err, streamBytes, streamNumber) }

// wait registers a waiter for a key.
func (q *Remote) wait(key string) chan struct{} {
	told := make(chan struct{}, 1)
	q.mu.Lock()
	q.waiting[key] = append(q.waiting[key], told)
	q.mu.Unlock()
	return told
}

// leave ends a wait; last says that no other waiter of this process waits for the key.
func (q *Remote) leave(key string, told chan struct{}) (last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	rest := slices.DeleteFunc(q.waiting[key], func(c chan struct{}) bool { return c == told })
	if len(rest) == 0 {
		delete(q.waiting, key)
		return true
	}
	q.waiting[key] = rest
	return false
}

// wake tells the waiters for a key.
func (q *Remote) wake(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range q.waiting[key] {
		select {
		case c <- struct{}{}:
		default: // it looks in a moment anyway
		}
	}
}
