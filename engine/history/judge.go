package history

// Judge is a Report on all that is recorded by now, the last few thousand transactions
// included. It leaves the recorder as it was: the checks that follow come when they would have
// come and find what they would have found.
func (r *Recorder) Judge() Report {
	r.pull()
	if r.opt.Mode == Off || r.fresh == 0 {
		return r.Report()
	}
	undo := r.remember()
	r.look(r.horizon(), r.begun)
	report := r.report(r.checked)
	undo()
	return report
}

// remember keeps what look changes, but for what every check begins anew, and returns what
// brings it back.
func (r *Recorder) remember() (undo func()) {
	w := &r.now
	anomalies, count, stale, broken := r.anomalies, r.count, r.stale, r.broken
	told := make([]uint8, len(w.txns))
	for t := range w.txns {
		told[t] = w.txns[t].reported
	}
	flags, states := make([]uint8, len(w.open)), make([]keyState, len(w.open))
	for i, n := range w.open {
		v := &w.versions[n]
		flags[i], states[i] = v.flags, r.keys.states[v.key]
	}
	return func() {
		r.anomalies, r.count, r.stale, r.broken = anomalies, count, stale, broken
		for t := range w.txns {
			w.txns[t].reported = told[t]
		}
		for i, n := range w.open {
			v := &w.versions[n]
			v.flags, r.keys.states[v.key] = flags[i], states[i]
		}
	}
}
