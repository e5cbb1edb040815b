package engine

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/sim"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
)

// maxWeight bounds the weight of a user's transaction as the registry bounds those of the
// workload's own.
const maxWeight = 1000

// AddTransaction adds a transaction of the user's to the workload, for what begins from now on.
// weight is relative to the workload's own weights, which sum to 100 unless they are changed. The
// body runs in a coroutine of the simulator and may run several times for one transaction; it has
// to return the errors of tx as they are. txn.ErrRollback gives the transaction up; another error
// of the body, or a panic in it, ends the system with a line that names the transaction.
func (s *System) AddTransaction(name string, weight int, body func(tx *txn.Tx) error) error {
	bad := func(rule, next string) error {
		return &experiment.SpecError{Field: "transaction", Value: knob.Clip(name), Rule: rule, Next: next}
	}
	x, ok := s.load.bench.(workload.Extensible)
	switch {
	case s.state == StateFailed || s.state == StateDrained:
		return &experiment.SpecError{Rule: "the system is " + s.state, Next: "reset it", Reset: true}
	case !ok:
		return bad("workload "+s.values.Text("workload")+" takes no transactions", "use smallbank, tpcc, tpce, ycsb, cycle or registers")
	case name == "" || utf8.RuneCountInString(name) > experiment.MaxName:
		return bad(fmt.Sprintf("a name has 1 to %d characters", experiment.MaxName), "choose another")
	case weight < 1 || weight > maxWeight:
		return bad(fmt.Sprintf("weight %d is not from 1 to %d", weight, maxWeight), "the workload's own weights sum to 100")
	case body == nil:
		return bad("has no body", "pass a func(tx *txn.Tx) error")
	}
	err := x.AddTransaction(name, weight, func(tx *txn.Tx) error {
		returned := false
		defer func() {
			if !returned { // a panic passes by; the simulator makes an error of it
				s.culprit = name
			}
		}()
		err := body(tx)
		returned = true
		if err != nil {
			err = fmt.Errorf("transaction %s: %w", name, err)
		}
		return err
	})
	if err != nil {
		return bad(err.Error(), "choose another name")
	}
	s.auto.added = true
	s.userTypes = append(s.userTypes, name)
	s.unlook()
	s.inEffect()
	return nil
}

// UserError is a failure that a transaction of the user's has brought about.
type UserError struct {
	Transaction string
	Value       any // what it panicked with
}

func (e *UserError) Error() string {
	return fmt.Sprintf("transaction %s panicked: %v", e.Transaction, e.Value)
}

// blame names the user's transaction whose panic failed the system.
func (s *System) blame(err error) error {
	var p *sim.PanicError
	if s.culprit == "" || !errors.As(err, &p) {
		return err
	}
	return &UserError{s.culprit, p.Value}
}
