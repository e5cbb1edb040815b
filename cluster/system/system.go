package system

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/engine/txn"
)

// System is what the agent needs of an engine.System. One goroutine at a time
// uses it.
type System interface {
	Advance(dNS int64) error
	NowNS() int64
	State() string
	Err() error
	Set(k experiment.Knobs, by string) (result.Change, error)
	Accept(k experiment.Knobs) (engine.Accepted, error) // Set checks, and then it
	Apply(a engine.Accepted, by string) (result.Change, error)
	KnobsVersion() int
	Spec() experiment.Spec
	Values() experiment.Knobs
	Knobs() []experiment.KnobState
	Windows(from int) []result.Window
	AutoChanges() []result.AutoChange
	TraceWith(ctx context.Context, n int, progress func(done, total int)) ([]engine.TxnTrace, error)
	Types() []string
	Inside() []result.NodeInside
	RecentLatency() *result.Histogram
	RecentStaleness() *result.Histogram
	StalenessBound() (ns int64, ok bool)
	Pick(c engine.Choice) (*engine.Pick, error)
	AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error
	Mark()
	Result() *result.Result
	RecordHistory(file string, out io.Writer) error
	EndHistory()
	DrainWith(ctx context.Context, progress engine.Progress) error
	Digest() string
	Close()
}

var _ System = (*engine.System)(nil)

// Opener makes a system at virtual time 0, unless ctx ends before; nothing is started
// on error. It tells its progress, unless nil.
type Opener func(ctx context.Context, spec experiment.Spec, progress engine.Progress) (System, error)

func OpenEngine(ctx context.Context, spec experiment.Spec, progress engine.Progress) (System, error) {
	s, err := engine.OpenWith(ctx, spec, progress)
	if err != nil {
		return nil, err // not a nil *engine.System in a System
	}
	return s, nil
}

// Guard calls f and turns a panic into an error of one line. A panic in a
// system is a simulator bug: it ends that system, not the agent.
func Guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{What: what, Value: fmt.Sprint(p), Stack: string(debug.Stack())}
		}
	}()
	return f()
}

// PanicError is a simulator bug that was caught at the agent.
type PanicError struct {
	What  string // what was being done
	Value string
	Stack string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("%s: simulator bug: %s", e.What, words.OneLine(e.Value))
}

// Close ends a system whose simulator may be in any state.
func Close(s System) {
	_ = Guard("close", func() error { s.Close(); return nil })
}
