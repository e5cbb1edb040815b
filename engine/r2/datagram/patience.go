package datagram

import "drtmx/engine/sim"

// Time is virtual time in picoseconds.
type Time = sim.Time

// MaxPatience is how many times Config.ResendAfter a thread waits at most.
const MaxPatience = 64

// Patience is how long a thread waits for an answer or a receipt before it repeats a
// request: the mean of what answers took and four times their deviation, as a
// retransmission timer is computed in RFC 6298. A fixed time is too short under load:
// threads that compute for tens of microseconds per transaction get round to a
// request after hundreds, and repetitions only add to what they have to do.
//
// The peers of a thread share one, until the first repetition to one of them: from
// then on that channel has its own, for one machine may be slow and the others not.
// It is doubled when it was too short, and stays so until a request is answered that
// was not repeated: of the others it is unknown which copy the answer is to.
type Patience struct {
	Mean, Deviation Time
	Doublings       int
	Doubled         Time // the last time
}

// Took notes the time from sending to the answer.
func (p *Patience) Took(t Time) {
	if p.Mean == 0 {
		p.Mean, p.Deviation = t, t/2
		return
	}
	off := t - p.Mean
	p.Mean += off / 8
	if off < 0 {
		off = -off
	}
	p.Deviation += (off - p.Deviation) / 4
}

// ResendAfter is what it is now, at least the time given, of which the timer's tick is
// a quarter.
func (p *Patience) ResendAfter(least Time) Time {
	return min(max(least, p.Mean+max(4*p.Deviation, least/4))<<p.Doublings, MaxPatience*least)
}
