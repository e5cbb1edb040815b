package r2

// maxPatience is how many times Config.ResendAfter a thread waits at most.
const maxPatience = 64

// patience is how long a thread waits for an answer or a receipt before it repeats a
// request: the mean of what answers took and four times their deviation, as a
// retransmission timer is computed in RFC 6298. A fixed time is too short under load:
// threads that compute for tens of microseconds per transaction get round to a
// request after hundreds, and repetitions only add to what they have to do.
//
// The peers of a thread share one, until the first repetition to one of them: from
// then on that channel has its own, for one machine may be slow and the others not.
// It is doubled when it was too short, and stays so until a request is answered that
// was not repeated: of the others nobody knows which copy the answer is to.
type patience struct {
	mean, deviation Time
	doublings       int
	doubled         Time // the last time
}

// took notes the time from sending to the answer.
func (p *patience) took(t Time) {
	if p.mean == 0 {
		p.mean, p.deviation = t, t/2
		return
	}
	off := t - p.mean
	p.mean += off / 8
	if off < 0 {
		off = -off
	}
	p.deviation += (off - p.deviation) / 4
}

// resendAfter is what it is now, at least the time given, of which the timer's tick is
// a quarter.
func (p *patience) resendAfter(least Time) Time {
	return min(max(least, p.mean+max(4*p.deviation, least/4))<<p.doublings, maxPatience*least)
}

// resendAfter is how long a request on a channel waits now.
func (w *Worker) resendAfter(ch *channel) Time {
	p := ch.patience
	if p == nil {
		p = &w.patience
	}
	return p.resendAfter(w.cl.cfg.ResendAfter)
}

// heard notes that a request has its answer or receipt, at once or behind one that was
// repeated: receipts are cumulative, so one that is missing keeps back those of all
// behind it. How long they took is then the patience itself, which would grow by its
// own measure.
func (w *Worker) heard(ch *channel, k *call, atOnce bool) {
	p := ch.patience
	switch {
	case k.tries > 0:
		return
	case p == nil:
		p = &w.patience
	default:
		p.doublings = 0
	}
	if atOnce {
		p.took(w.Local - k.sentAt)
	}
}

// overdue notes that a request is to be repeated. The others that went out before the
// last doubling tell nothing new.
func (w *Worker) overdue(ch *channel, k *call) {
	if ch.patience == nil {
		p := w.patience
		ch.patience = &p
	}
	if p := ch.patience; k.sentAt >= p.doubled && w.resendAfter(ch) < maxPatience*w.cl.cfg.ResendAfter {
		p.doublings++
		p.doubled = w.Local
	}
}
