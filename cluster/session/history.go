package session

import (
	"errors"
	"io/fs"
	"os"

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
		return nil, refuse("is a pipe: a run would wait for its reader")
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

// cause is an error without the path, which the caller names.
func (h *HistoryFile) cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
