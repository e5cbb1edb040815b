package agent

import (
	"context"

	"drtmx/cluster/session"
)

// RecordHistory writes every access of every transaction of a system from its beginning on to a file, whose
// name says the form. The system must be at 0.
func (a *Agent) RecordHistory(ctx context.Context, sys, path string) error {
	return a.call(ctx, sys, func(m *member) error {
		if err := m.free(); err != nil {
			return err
		}
		return m.record(path)
	})
}

// record begins the history of the member's system.
func (m *member) record(path string) error {
	f, err := session.CreateHistory(m.Sys.Spec(), path)
	if err != nil {
		return err
	}
	if err := m.Sys.RecordHistory(path, f); err != nil {
		f.Close()
		return err
	}
	m.history = f
	return nil
}

// endHistory writes the rest of the history and closes its file.
func (m *member) endHistory() {
	if m.history == nil {
		return
	}
	m.Sys.EndHistory()
	// What a full disk refuses the writes have said; a file without them has nothing to lose.
	_ = m.history.Close()
	m.history = nil
}
