package engine

import (
	"fmt"
	"io"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/history/export"
	"drtmx/engine/knob"
	records "drtmx/engine/record"
	"drtmx/engine/result"
)

// recording is a history while it is written.
type recording struct {
	result.HistoryStat
	w *export.Writer // nil: it has ended
}

// RecordHistory writes every access of every transaction to out as they happen, in the form that
// the file's name asks for (see package export), whatever share of the accesses is checked. It
// changes nothing in the system. It has to be called at virtual time 0: a history without its
// beginning has versions without a writer. The first error ends the writing, not the run; Result
// tells it.
func (s *System) RecordHistory(file string, out io.Writer) error {
	if err := CheckHistory(s.Spec(), file); err != nil {
		return err
	}
	switch {
	case s.NowNS() > 0:
		return &experiment.SpecError{Field: "history", Value: knob.Clip(file), Rule: fmt.Sprintf("a history begins at virtual time 0, it is %d ns", s.NowNS()), Next: "ask for it before the first run, or after a reset"}
	case s.recording != nil:
		return &experiment.SpecError{Field: "history", Value: knob.Clip(file), Rule: "is written to " + s.recording.File + " already", Next: "reset to write another"}
	}
	form, err := export.FormOf(file)
	if err != nil {
		return err
	}
	w := export.New(out, export.Options{Form: form, TypeName: s.typeName, Initial: records.InitialSeq})
	s.recording = &recording{HistoryStat: result.HistoryStat{File: file}, w: w}
	s.load.db.Book().ExportTo(w)
	return nil
}

// EndHistory writes what of the history was held back. Nothing is added any more.
func (s *System) EndHistory() {
	r := s.recording
	if r == nil || r.w == nil {
		return
	}
	s.load.db.Book().ExportTo(nil)
	r.Attempts = r.w.Attempts()
	if err := r.w.Close(); err != nil {
		r.Error = FirstLine(err)
	}
	r.w = nil
}

// historyStat is what there is to say of the history by now, nil if none was asked for.
func (s *System) historyStat() *result.HistoryStat {
	r := s.recording
	if r == nil {
		return nil
	}
	stat := r.HistoryStat
	if r.w != nil {
		stat.Attempts = r.w.Attempts()
	}
	return &stat
}

// CheckHistory says why no history can be written to a file of that name, nil if it can.
func CheckHistory(spec experiment.Spec, file string) error {
	if _, err := export.FormOf(file); err != nil {
		return &experiment.SpecError{Field: "history", Value: knob.Clip(file), Rule: err.Error(), Next: "such as history.jsonl"}
	}
	v, err := experiment.Resolve(spec)
	if err != nil {
		return err
	}
	if w := experiment.Workloads.Of(v); !w.Transactions {
		return &experiment.SpecError{Field: "history", Value: knob.Clip(file), Rule: "workload " + w.Name + " runs no transactions", Next: "use a workload such as registers or smallbank"}
	}
	return nil
}

func FirstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
