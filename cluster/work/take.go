package work

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// lookEvery is how often a worker looks for points that it was not told of, as those that others lost.
	lookEvery = 500 * time.Millisecond
	// looks is how often it looks, every lookSoon, for one that it was told of. The server acknowledges a point a moment before it
	// gives it to a worker.
	looks    = 3
	lookSoon = 5 * time.Millisecond
	// forgetConsumers is after how long without a worker the server forgets how far those of a version were.
	forgetConsumers = 24 * time.Hour
	// storeFor is how long a worker tries to store a result.
	storeFor = 10 * time.Minute
	// leaveWithin is how long it tries when it has been stopped.
	leaveWithin = 20 * time.Second
)

// taker is a worker at a server.
type taker struct {
	q         *Remote
	w         Worker
	m         meter
	consumers [classes]jetstream.Consumer
	top       int

	mu     sync.Mutex
	room   room
	maybe  [classes]int  // how often to look for points of this class
	looked time.Time     // when all were set
	news   chan struct{} // a point was queued, or one ended
	said   string        // the last trouble, told once
	full   bool          // there is no room yet for the next point
}

// Work is that of Queue.
func (q *Remote) Work(ctx context.Context, w Worker) error {
	w = w.withDefaults()
	t := &taker{q: q, w: w, top: topClass(w.MemoryBytes), room: room{slots: w.Parallel, memory: w.MemoryBytes}, news: make(chan struct{}, 1)}
	stop, err := t.announce()
	if err != nil {
		return err
	}
	defer stop()
	var wg sync.WaitGroup
	for ctx.Err() == nil && !q.nc.IsClosed() {
		p, msg, err := t.next(ctx)
		if err != nil && ctx.Err() == nil {
			t.trouble(err)
			t.pause(ctx)
			continue
		}
		if msg == nil {
			t.pause(ctx)
			continue
		}
		t.trouble(nil)
		wg.Go(func() { t.handle(ctx, p, msg) })
	}
	wg.Wait()
	_ = q.nc.FlushTimeout(time.Second) // what was handed back is on its way
	return nil
}

// announce answers requests for a list of workers, and listens for points.
func (t *taker) announce() (stop func(), err error) {
	answer, err := t.q.nc.Subscribe(workSubject, func(m *nats.Msg) {
		if text, err := json.Marshal(t.m.info(&t.w)); err == nil {
			_ = m.Respond(text) // the asker asks again
		}
	})
	if err != nil {
		return nil, err
	}
	wake, err := t.q.nc.Subscribe(wakeSubject+"."+t.w.Code, func(m *nats.Msg) {
		if len(m.Data) == 1 && int(m.Data[0]) <= t.top {
			t.mu.Lock()
			t.maybe[m.Data[0]] = looks
			t.mu.Unlock()
			t.wake()
		}
	})
	if err != nil {
		_ = answer.Unsubscribe()
		return nil, err
	}
	return func() { _, _ = answer.Unsubscribe(), wake.Unsubscribe() }, nil
}

// wake ends the pause of the loop that takes points.
func (t *taker) wake() {
	select {
	case t.news <- struct{}{}:
	default:
	}
}

// pause waits until something may have changed.
func (t *taker) pause(ctx context.Context) {
	wait := lookEvery
	t.mu.Lock()
	if !t.full && t.room.slots > 0 && slices.Max(t.maybe[:]) > 0 {
		wait = lookSoon
	}
	t.mu.Unlock()
	select {
	case <-t.news:
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// trouble tells of an error when it is another than before.
func (t *taker) trouble(err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	if now != "" && now != t.said {
		t.w.Log("no points for now: " + now)
	}
	t.said = now
}

// next takes a point for which there is room; nil where there is none. Points that need more memory come first. One for which there is
// no room yet is not overtaken by smaller ones.
func (t *taker) next(ctx context.Context) (p Point, msg jetstream.Msg, err error) {
	t.mu.Lock()
	if time.Since(t.looked) > lookEvery {
		t.looked = time.Now()
		for c := range t.top + 1 {
			t.maybe[c] = max(t.maybe[c], 1)
		}
	}
	maybe, slots := t.maybe, t.room.slots
	t.mu.Unlock()
	t.full = false
	for c := t.top; c >= 0 && slots > 0; c-- {
		if maybe[c] == 0 {
			continue
		}
		if err := t.open(ctx, c); err != nil {
			return p, nil, err
		}
		if !t.fits(c) {
			inner, cancel := brief(ctx)
			info, err := t.consumers[c].Info(inner)
			cancel()
			if err != nil || info.NumPending > 0 {
				t.full = true // until a point ends
				return p, nil, err
			}
			t.forget(c)
			continue
		}
		if p, msg, err = t.fetch(ctx, c); msg != nil || err != nil {
			return p, msg, err
		}
	}
	return p, nil, nil
}

// open finds or makes the consumer of a class.
func (t *taker) open(ctx context.Context, c int) (err error) {
	if t.consumers[c] != nil {
		return nil
	}
	ctx, cancel := brief(ctx)
	defer cancel()
	t.consumers[c], err = t.q.points.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: fmt.Sprintf("%s-m%02d", t.w.Code, c), FilterSubject: classSubject(t.w.Code, c) + ".*",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: t.q.o.AckWait,
		// Failures are counted here: to the server a point that was handed back is one that failed.
		MaxDeliver: -1, MaxAckPending: -1, InactiveThreshold: forgetConsumers,
	})
	return err
}

func (t *taker) fits(c int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.room.fits(t.needs(c))
}

// needs is what a point of a class may need. The smallest class is for all workers.
func (t *taker) needs(c int) int64 {
	if c == 0 && t.w.MemoryBytes > 0 {
		return min(classBytes(0), t.w.MemoryBytes)
	}
	return classBytes(c)
}

// forget counts a look at a class.
func (t *taker) forget(c int) {
	t.mu.Lock()
	t.maybe[c]--
	t.mu.Unlock()
}

// fetch takes a point of a class if one waits.
func (t *taker) fetch(ctx context.Context, c int) (p Point, msg jetstream.Msg, err error) {
	t.forget(c) // before the server is asked: a point may be queued right after its answer
	batch, err := t.consumers[c].FetchNoWait(1)
	if err == nil {
		for m := range batch.Messages() {
			msg = m
		}
		err = batch.Error()
	}
	if err != nil && msg == nil {
		t.consumers[c] = nil // it may have been forgotten
		return p, nil, err
	}
	if msg == nil {
		return p, nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.maybe[c] = max(t.maybe[c], 1) // there may be more
	if json.Unmarshal(msg.Data(), &p) != nil || p.check() != nil || p.Code != t.w.Code {
		return p, nil, msg.Term() // no worker can compute it
	}
	if c == 0 {
		p.MemoryBytes = min(p.MemoryBytes, t.needs(0))
	}
	t.room.reserve(p.MemoryBytes)
	return p, msg, nil
}

// handle computes a point that was delivered, and sees to what becomes of it. The next point begins while its result is stored.
func (t *taker) handle(ctx context.Context, p Point, msg jetstream.Msg) {
	t.m.begin()
	counts, failed := false, false
	defer func() { t.m.end(counts, failed) }()
	release := sync.OnceFunc(func() {
		t.mu.Lock()
		t.room.release(p.MemoryBytes)
		t.mu.Unlock()
		t.wake()
	})
	defer release()
	defer t.heartbeat(msg)()
	failures, done, err := t.before(ctx, p, msg)
	if err != nil {
		return // the server is away: the point comes back
	}
	if done { // another worker was as quick
		_ = msg.Ack()
		return
	}
	began := time.Now()
	rec := record{Worker: t.w.Name}
	var body []byte
	if failures >= Tries {
		rec.Failed = &failure{failures, "its worker was lost or stood still each time, the last before " + t.w.Name + " took it"}
	} else if body, err = t.attempt(ctx, p, msg, failures); err != nil {
		if ctx.Err() != nil {
			t.handBack(p, msg, failures)
			return
		}
		failures++
		t.w.Log(fmt.Sprintf("point %.12s failed (%d of %d): %s", p.Key, failures, Tries, firstLine(err)))
		if failed = true; !final(err, failures) {
			_ = msg.NakWithDelay(t.q.o.AckWait / 8) // it may be this moment that is bad, as for memory
			return
		}
		rec.Failed = &failure{failures, err.Error()}
	}
	rec.WallMS = time.Since(began).Milliseconds()
	release()
	if counts = t.store(ctx, p, rec, body); counts {
		_ = msg.Ack() // without it the point is delivered again, and found to be done
		_ = t.q.nc.Publish(doneSubject+"."+p.Key, nil)
	}
}

// attempt computes a point and notes that it was begun, so that the next worker to take it knows.
func (t *taker) attempt(ctx context.Context, p Point, msg jetstream.Msg, failures int) ([]byte, error) {
	noted := t.note(p, msg, failures+1)
	body, err := t.w.attempt(ctx, p)
	if err != nil {
		_ = noted() // what is noted next is to be the last; without it the point has a try more
	}
	return body, err
}

// heartbeat keeps a point until the returned function ends it.
func (t *taker) heartbeat(msg jetstream.Msg) (stop func()) {
	over := make(chan struct{})
	go func() {
		tick := time.NewTicker(t.q.o.AckWait / 3)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = msg.InProgress() // the next one is not far
			case <-over:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(over) })
}

// before is what came before of a point: how often it was begun and neither came to an end nor was handed back, and
// whether it has an outcome nevertheless. The client has looked for one already, so the first time this does not.
//
// How often the server delivered it is no measure: a delivery may miss a worker that is slow to ask for it.
func (t *taker) before(ctx context.Context, p Point, msg jetstream.Msg) (failures int, done bool, err error) {
	meta, err := msg.Metadata()
	if err != nil || meta.NumDelivered <= 1 {
		return 0, false, err
	}
	if _, done, err = t.q.kept.entry(ctx, p.Key); err != nil || done {
		return 0, done, err
	}
	failures, err = t.q.kept.begun(ctx, p.Key, meta.Sequence.Stream)
	return failures, false, err
}

// note keeps how often a point was begun that has no outcome yet. The computation does not wait for it; the returned
// function does.
func (t *taker) note(p Point, msg jetstream.Msg, times int) (wait func() error) {
	ended := make(chan error, 1)
	go func() {
		meta, err := msg.Metadata()
		if err == nil {
			err = t.q.kept.noteBegun(context.Background(), p.Key, meta.Sequence.Stream, times)
		}
		ended <- err
	}()
	return func() error { return <-ended }
}

// handBack gives a point to others when the worker ends.
func (t *taker) handBack(p Point, msg jetstream.Msg, failures int) {
	err := t.note(p, msg, failures)()
	if err == nil {
		err = msg.Nak()
	}
	if err != nil {
		t.w.Log(fmt.Sprintf("point %.12s was not handed back, it goes to others in %v: %v", p.Key, t.q.o.AckWait, err))
		return
	}
	t.again(p)
}

// again tells workers, this one too, of a point that waits once more.
func (t *taker) again(p Point) {
	if class, err := classOf(p.MemoryBytes); err == nil {
		_ = t.q.nc.Publish(wakeSubject+"."+p.Code, []byte{byte(class)}) // else they look in a moment
	}
}

// store keeps an outcome, for as long as the server is away. It says whether it is there.
func (t *taker) store(ctx context.Context, p Point, rec record, body []byte) bool {
	const attempts = 5 // at what the server refuses
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeFor)
	defer cancel()
	leave := context.AfterFunc(ctx, func() { time.AfterFunc(leaveWithin, cancel) })
	defer leave()
	for refused := 0; limit.Err() == nil && !t.q.nc.IsClosed(); {
		_, err := t.q.kept.put(limit, p.Key, rec, body)
		switch {
		case err == nil:
			return true
		case !offline(err):
			if refused++; refused == attempts {
				t.w.Log(fmt.Sprintf("point %.12s: its result is not stored: %v", p.Key, err))
				return false
			}
		}
		select {
		case <-time.After(lookEvery):
		case <-limit.Done():
		}
	}
	return false
}

func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
