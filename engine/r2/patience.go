package r2

// maxPatience is how many times Config.ResendAfter a thread waits at most.
const maxPatience = 8

// patience is how long a thread waits for an answer or a receipt before it repeats a
// request: the mean of what answers took and four times their deviation, as a
// retransmission timer is computed in RFC 6298. A fixed time is too short under load:
// threads that compute for tens of microseconds per transaction get round to a
// request after hundreds, and repetitions only add to what they have to do.
type patience struct{ mean, deviation Time }

// took notes the time from the first sending to the answer, repetitions included (each
// at least the least), so that waiting that was too short is seen too.
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

// resendAfter is what the thread has of it now.
func (w *Worker) resendAfter() Time {
	least := w.cl.cfg.ResendAfter
	return max(least, min(w.patience.mean+4*w.patience.deviation, maxPatience*least))
}

// heard notes that a request has its answer or receipt.
func (w *Worker) heard(k *call) {
	w.patience.took(w.local - k.sentAt + Time(k.tries)*w.cl.cfg.ResendAfter)
}
