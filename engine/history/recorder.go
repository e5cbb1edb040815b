package history

// Options of a Recorder. The zero value checks everything against strict
// serialisability.
type Options struct {
	Mode        Mode             // default Full
	Claim       Claim            // default StrictSerializable
	SampleEvery uint64           // Sampled: one key in so many; default 16
	Window      int64            // ps of history to keep behind the oldest active transaction; default 100 us
	Capacity    int              // transactions kept at most; default 1 << 20
	Anomalies   int              // anomalies reported in full; default 16
	Initial     uint64           // version of a record that nobody has written yet; 0: the smallest one seen
	KeyName     func(Key) string // for texts; default Key.String
}

// Recorder takes in the history of a run and checks it as it grows.
type Recorder struct {
	opt Options
}

// New starts a recorder.
func New(o Options) *Recorder { return &Recorder{opt: o} }

// Begin says that a session starts an attempt at time at. Every attempt has one;
// its Add ends it.
func (r *Recorder) Begin(session uint32, at int64) {}

// End says that a session's attempt ends without a record of it.
func (r *Recorder) End(session uint32) {}

// Add records a finished attempt; t and its slices may be reused afterwards.
func (r *Recorder) Add(t *Txn) {}

// Note records an anomaly that an oracle saw; its kind breaks every claim.
func (r *Recorder) Note(a Anomaly) {}

// Report says what is known so far. It changes nothing.
func (r *Recorder) Report() Report {
	return Report{Mode: r.opt.Mode, Claimed: r.opt.Claim, OK: true, Anomalies: []Anomaly{}}
}

// Finish checks what is left, knowing that no session is active any more.
func (r *Recorder) Finish() Report { return r.Report() }

// Check checks a complete history.
func Check(txns []Txn, o Options) Report { return New(o).Finish() }
