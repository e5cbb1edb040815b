package oracle

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// request is what one coroutine asks of the oracle: a number, to install one, or the point.
type request struct {
	co     *r2.Co
	stamp  timestamp.Stamp   // to install; of a take, the answer
	deps   []timestamp.Stamp // of the install
	point  *timestamp.Point  // where the stable timestamp goes
	newest uint64            // number that was given out last when the point was read
	err    error
	queued bool // without an answer yet
	alone  [1]*request
}

// service is one of the oracle's handlers as those see it that ask. send has messages carry what several ask, and gives each
// its answer.
type service struct {
	send     func(c *r2.Co, batch []*request) error
	batching *bool
	batchers [][]batcher // by machine and thread
}

// batcher batches the requests of a worker's coroutines: while a message is out they wait, and the next one carries
// all of them (§5.5). No timer holds a message back.
type batcher struct {
	out  bool
	wait []*request // in the order in which they came
	sent []*request
}

func newService(cl *r2.Cluster, batching *bool, send func(c *r2.Co, batch []*request) error) *service {
	s := &service{send: send, batching: batching}
	for m := range cl.Machines() {
		s.batchers = append(s.batchers, make([]batcher, cl.Threads(m)))
	}
	return s
}

// ask has a request answered.
func (s *service) ask(c *r2.Co, r *request) error {
	if !*s.batching {
		r.alone[0] = r
		return s.send(c, r.alone[:])
	}
	d := &s.batchers[c.Machine()][c.Thread()]
	r.co, r.queued = c, true
	d.wait = append(d.wait, r)
	for r.queued && d.out {
		c.Suspend()
	}
	if r.queued {
		s.lead(c, d)
	}
	return r.err
}

// lead sends what waits, and has the first of those that come meanwhile send the next.
func (s *service) lead(c *r2.Co, d *batcher) {
	d.out = true
	d.wait, d.sent = d.sent[:0], d.wait
	err := s.send(c, d.sent)
	d.out = false
	for _, r := range d.sent {
		r.queued, r.err = false, err
		if r.co != c {
			c.Wake(r.co)
		}
	}
	if len(d.wait) > 0 {
		c.Wake(d.wait[0].co)
	}
}

// call is a round trip to the oracle's machine, whatever mode the caller's phase is in.
func call(c *r2.Co, machine int, id uint8, req []byte) ([]byte, error) {
	before := c.Using(r2.Mode{Outstanding: true, Doorbell: true})
	rep := c.Call(machine, id, req)
	err := c.Wait()
	c.Using(before)
	if err != nil {
		return nil, fmt.Errorf("the timestamp oracle, machine %d: %w", machine, err)
	}
	return rep.B, nil
}

// calm is how long a thread waits that found the oracle's queue full, or its stable timestamp too low.
func calm(c *r2.Co) { c.Sleep(calmNS * r2.Nanosecond) }

const calmNS = 2_000
