package engine

import (
	"fmt"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/sim"
	"drtmx/engine/testbed"
)

const (
	// stallAfter is how long nothing may happen before the watchdog calls it a deadlock.
	stallAfter = 20 * sim.Millisecond
	// stallAfterTCP is the same where a lost message comes milliseconds late.
	stallAfterTCP = 10 * stallAfter
	// quickest is what a message takes at least, in its order of magnitude.
	quickest = 2 * sim.Microsecond
)

// watchdog notices a cluster in which nothing finishes any more. A request of many parts, or on slow
// hardware, or one that waits through any number of repetitions with faults, may only be slow: each gets
// as many messages as stallAfter has room for, however long they take, and every one of them starts the
// time anew. r2 gives a request up that is repeated in vain, so messages that go on and finish nothing
// are those of a livelock, which the number ends.
type watchdog struct {
	finished   uint64   // requests. Attempts that are aborted finish nothing: they may go on for ever
	finishedAt sim.Time // when that was last seen to grow
	began      uint64   // messages by then
	messages   uint64   // at the last look
	since      sim.Time // nothing has happened since
}

// look reports whether the cluster is stuck; idle: it is no wonder when nothing finishes.
func (w *watchdog) look(s *System, idle bool) bool {
	now, messages := s.sim.Now(), uint64(0)
	for _, n := range s.fab.Counts().Posted { // of datagrams that are lost nothing completes
		messages += n
	}
	if finished := s.meter.Total().Ended(); finished != w.finished || idle {
		*w = watchdog{finished, now, messages, messages, now}
		return false
	}
	room := uint64(s.requests()) * uint64(stallAfter/quickest)
	if messages != w.messages && messages-w.began <= room {
		w.messages, w.since = messages, now
	}
	return now-w.since >= stallLimit(s.values)
}

// requests is how many there may be messages of: those under way, and with faults also what they have
// left behind.
func (s *System) requests() int {
	n, most := 0, len(s.load.clients)*s.load.spawned
	if hampered(s.active) {
		return most
	}
	for _, x := range s.load.ongoing.All() {
		n += x.n
	}
	return min(n, most)
}

// hampered says that faults make requests wait for longer than they would.
func hampered(v experiment.Knobs) bool {
	return v.Float("fault.drop") > 0 || v.Float("fault.nic_slowdown") != 1
}

// stallLimit is how long nothing may happen before it is an error.
func stallLimit(v experiment.Knobs) sim.Time {
	if testbed.HasRDMA(v) {
		return stallAfter
	}
	return stallAfterTCP
}

// stuck is the error about it.
func (w *watchdog) stuck(s *System, what string) error {
	return fmt.Errorf("%sno request finished between %d ns and %d ns: %s; %s", what, w.finishedAt/sim.Nanosecond, s.NowNS(), s.waiting(), s.remedy())
}

// liveLocked is how often a transaction has begun anew that others abort, where one that waits has begun a few times.
const liveLocked = 100

// remedy is what to do about a cluster that is stuck.
func (s *System) remedy() string {
	n, most := 0, 0
	if db := s.load.db; db != nil {
		for _, p := range db.Pending() {
			if p.Attempts >= liveLocked {
				n, most = n+1, max(most, p.Attempts)
			}
		}
	}
	if n > 0 {
		return fmt.Sprintf("%d transactions abort each other again and again, one of them for the %dth time: raise txn.backoff_max_ns, or let fewer transactions meet", n, most)
	}
	return "reset the system, and look for the cause with threads=1, coroutines=1 or without faults"
}

// watch reports a running cluster that is stuck.
func (s *System) watch() error {
	if s.dog.look(s, s.load.idle()) {
		return s.dog.stuck(s, "")
	}
	return nil
}

// waiting says who waits for whom: what the protocol knows of it, then what its coroutines do.
func (s *System) waiting() string {
	const few, known = 8, 4
	var lines []string
	if db := s.load.db; db != nil {
		lines = db.Stuck(known)
	}
	lines = append(lines, s.cl.Waiting(few+1-len(lines))...)
	if len(lines) == 0 {
		return "no coroutine waits for anything"
	}
	more := ""
	if len(lines) > few {
		lines, more = lines[:few], ", and others"
	}
	return strings.Join(lines, "; ") + more
}
