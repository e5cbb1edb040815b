package cluster

import (
	"errors"
	"io/fs"
	"os"
	"runtime"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// HistoryFile is a file that takes a history. What was in it stays until the first bytes come.
type HistoryFile struct {
	path string
	f    *os.File
	used bool
}

// CreateHistory opens a file for the history of a run of spec. One that cannot be written, or
// whose name or spec does not go with a history, is refused before anything runs.
func CreateHistory(spec experiment.Spec, path string) (*HistoryFile, error) {
	if err := engine.CheckHistory(spec, path); err != nil {
		return nil, err
	}
	refuse := func(rule string) error {
		return &experiment.SpecError{Field: "history", Value: path, Rule: rule, Next: "name a file in a folder that can be written"}
	}
	if fi, err := os.Stat(path); err == nil && fi.Mode()&fs.ModeNamedPipe != 0 {
		return nil, refuse("is a pipe: a run would wait for who reads it")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, refuse(err.Error())
	}
	return &HistoryFile{path: path, f: f}, nil
}

// Write appends.
func (h *HistoryFile) Write(b []byte) (int, error) {
	if !h.used {
		h.used = true
		if fi, err := h.f.Stat(); err == nil && fi.Mode().IsRegular() {
			if err := h.f.Truncate(0); err != nil {
				return 0, h.cause(err)
			}
		}
	}
	n, err := h.f.Write(b)
	return n, h.cause(err)
}

// Close closes the file. A run without transactions leaves it empty.
func (h *HistoryFile) Close() error { return h.cause(h.f.Close()) }

// cause is an error without the path, which whoever shows it names.
func (h *HistoryFile) cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// History writes every access of every transaction from the beginning on to a file: lines of JSON
// if its name ends in .jsonl, a Jepsen history if it ends in .edn. See Cluster.History.
func (c *Client) History(path string) error {
	l, ok := c.d.(*local)
	if !ok {
		return &experiment.SpecError{Field: "system", Value: c.sys, Rule: "is another process's, whose history is not written here", Next: "open a cluster here with Up, or replay its session: drtmx replay SESSION --history FILE"}
	}
	defer runtime.KeepAlive(l)
	_, err := fetch(c.context(), l.agent, c.sys, func(m *member) (struct{}, error) {
		if err := m.free(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, m.record(path)
	})
	return err
}

// History writes every access of every transaction to a file, streamed as the cluster runs: lines
// of JSON if its name ends in .jsonl, a Jepsen history for Elle's rw-register if it ends in .edn.
// Call it before the first Run, or after a Reset. The file is whole after Finish, Close or Reset;
// the result of Finish says if it could not be written.
func (c *Cluster) History(path string) *Cluster {
	must(c.c.History(path))
	return c
}

// record begins the history of the member's system.
func (m *member) record(path string) error {
	f, err := CreateHistory(m.sys.Spec(), path)
	if err != nil {
		return err
	}
	if err := m.sys.RecordHistory(path, f); err != nil {
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
	m.sys.EndHistory()
	// What a full disk refuses the writes have said; a file without them has nothing to lose.
	_ = m.history.Close()
	m.history = nil
}
