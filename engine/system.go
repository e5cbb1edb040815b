package engine

import "context"

// System states.
const (
	StateRunning  = "running"
	StateDraining = "draining" // a change of who locks waits until no transaction is in flight
	StateDrained  = "drained"  // Drain was called: no transaction runs any more
	StateFailed   = "failed"
)

// System is one simulated cluster at one moment of its virtual time.
type System struct {
	spec    Spec
	values  Knobs
	now     int64
	version int
	windows []Window
}

// Open validates the spec, checks that it fits into memory and assembles the system at virtual
// time 0. Nothing is started on error.
func Open(spec Spec) (*System, error) {
	v, err := Resolve(spec)
	if err != nil {
		return nil, err
	}
	return &System{spec: spec, values: v, version: 1}, nil
}

// Advance moves virtual time by dNS nanoseconds. The outcome does not depend on the slicing.
func (s *System) Advance(dNS int64) error { s.now += dNS; return nil }

// NowNS is the virtual time.
func (s *System) NowNS() int64 { return s.now }

// State is one of the State constants.
func (s *System) State() string { return StateRunning }

// Err is what failed the system, nil while it runs.
func (s *System) Err() error { return nil }

// Set changes knobs at the current virtual time: all of them or none.
func (s *System) Set(k Knobs, by string) (Change, error) { return Change{}, nil }

// Changes lists the accepted changes, oldest first.
func (s *System) Changes() []Change { return nil }

// KnobsVersion counts from 1; every accepted change adds one.
func (s *System) KnobsVersion() int { return s.version }

// Spec is the spec with every live change applied: opening it starts where this system is now.
func (s *System) Spec() Spec { return s.spec }

// Values are all knobs, resolved.
func (s *System) Values() Knobs { return s.values }

// Knobs is the registry as it stands in this system.
func (s *System) Knobs() []KnobState { return nil }

// Windows returns the windows from index from on that are still kept.
func (s *System) Windows(from int) []Window { return s.windows }

// Mark begins a measured interval now; Result covers it.
func (s *System) Mark() {}

// Result is what was measured since Mark (or since 0).
func (s *System) Result() *Result { return &Result{} }

// Drain stops new transactions, waits until none is in flight and every log is applied, and then
// checks replicas and invariants. The system does not run any further.
func (s *System) Drain() error { return nil }

// Digest is a hash over everything virtual so far.
func (s *System) Digest() string { return "" }

// Close ends all coroutines and frees the memory.
func (s *System) Close() {}

// Run is one batch run: automatic warm-up and window where the spec leaves them open, drain,
// checks.
func Run(ctx context.Context, spec Spec, progress func(done, total int)) (*Result, error) {
	return nil, nil
}
