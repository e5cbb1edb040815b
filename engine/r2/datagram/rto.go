package datagram

import "drtmx/engine/sim"

// Time is virtual time in picoseconds.
type Time = sim.Time

// MaxBackoff is how many times Config.ResendAfter a thread waits at most.
const MaxBackoff = 64

// RTO is a retransmission timeout: how long a thread waits for an answer or a receipt before it repeats a
// request. It is the mean of what answers took and four times their deviation, as
// computed in RFC 6298. A fixed time is too short under load:
// threads that compute for tens of microseconds per transaction get round to a
// request after hundreds, and repetitions only add to what they have to do.
//
// It is doubled when it was too short, and stays so until a request is answered that
// was not repeated: of the others it is unknown which copy the answer is to.
type RTO struct {
	Mean, Deviation Time
	Doublings       int
	doubled         Time // the last time
}

// took notes the time from sending to the answer.
func (o *RTO) took(t Time) {
	if o.Mean == 0 {
		o.Mean, o.Deviation = t, t/2
		return
	}
	off := t - o.Mean
	o.Mean += off / 8
	if off < 0 {
		off = -off
	}
	o.Deviation += (off - o.Deviation) / 4
}

// after is what it is now, at least the time given, of which the timer's tick is
// a quarter.
func (o *RTO) after(least Time) Time {
	return min(max(least, o.Mean+max(4*o.Deviation, least/4))<<o.Doublings, MaxBackoff*least)
}

// RTOs are the timeouts of a thread's requests. Its peers share one, until the first repetition to one of them: from
// then on that channel has its own, for one machine may be slow and the others not.
type RTOs struct {
	Least  Time // Config.ResendAfter
	Shared RTO
}

// After is how long a request on a channel waits. own is the channel's timeout; nil: it has none.
func (s *RTOs) After(own *RTO) Time {
	if own == nil {
		own = &s.Shared
	}
	return own.after(s.Least)
}

// Heard notes that a request, which was repeated so often, has its answer or receipt after some time: at once, or behind one that was
// repeated. Receipts are cumulative, so one that is missing keeps back those of all
// behind it. How long they took is then the timeout itself, which would grow by its
// own measure.
func (s *RTOs) Heard(own *RTO, repeated uint8, atOnce bool, took Time) {
	switch {
	case repeated > 0:
		return
	case own == nil:
		own = &s.Shared
	default:
		own.Doublings = 0
	}
	if atOnce {
		own.took(took)
	}
}

// Overdue notes that a request, sent at a time, is to be repeated, and returns the timeout that its channel has from now on. The others
// that went out before the last doubling tell nothing new.
func (s *RTOs) Overdue(own *RTO, sentAt, now Time) *RTO {
	if own == nil {
		first := s.Shared
		own = &first
	}
	if sentAt >= own.doubled && own.after(s.Least) < MaxBackoff*s.Least {
		own.Doublings++
		own.doubled = now
	}
	return own
}
