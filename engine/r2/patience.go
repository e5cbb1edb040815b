package r2

import "drtmx/engine/r2/datagram"

// resendAfter is how long a request on a channel waits now.
func (w *Worker) resendAfter(ch *channel) Time {
	p := ch.patience
	if p == nil {
		p = &w.patience
	}
	return p.ResendAfter(w.cl.cfg.ResendAfter)
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
		p.Doublings = 0
	}
	if atOnce {
		p.Took(w.Local - k.sentAt)
	}
}

// overdue notes that a request is to be repeated. The others that went out before the
// last doubling tell nothing new.
func (w *Worker) overdue(ch *channel, k *call) {
	if ch.patience == nil {
		p := w.patience
		ch.patience = &p
	}
	if p := ch.patience; k.sentAt >= p.Doubled && w.resendAfter(ch) < datagram.MaxPatience*w.cl.cfg.ResendAfter {
		p.Doublings++
		p.Doubled = w.Local
	}
}
