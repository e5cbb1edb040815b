package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"drtmx/engine/history"
)

// Form is what a file holds.
type Form uint8

// The forms.
const (
	JSONLines Form = iota
	EDN
)

// FormOf is the form that a file's name asks for.
func FormOf(path string) (Form, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl":
		return JSONLines, nil
	case ".edn":
		return EDN, nil
	}
	return 0, errors.New("must end in .jsonl (lines of JSON) or .edn (a Jepsen history)")
}

// Read is a record that an attempt read.
type Read struct {
	Table   string `json:"table"`
	Key     uint64 `json:"key"`
	Version uint64 `json:"version"` // of one that was not found that of its deletion; 0: it was never there
	Found   bool   `json:"found"`
}

// Write is a record that an attempt wrote.
type Write struct {
	Table   string `json:"table"`
	Key     uint64 `json:"key"`
	Version uint64 `json:"version"` // 0: the attempt did not commit
	Kind    string `json:"kind"`    // one of the kinds below
}

// Kinds of writes.
const (
	Update = "update"
	Insert = "insert"
	Delete = "delete"
)

// Attempt is an attempt of a transaction that has ended.
type Attempt struct {
	ID           uint64
	Node, Thread int
	Session      uint32 // the coroutine
	Type         uint8
	Begin, End   int64 // ps
	Status       history.Status
	Snapshot     bool // it reads one, and so may lack what had ended before it began
	Reads        []Read
	Writes       []Write
}

// Options of a Writer.
type Options struct {
	Form Form
	// TypeName names a transaction's type. Required.
	TypeName func(uint8) string
	// Initial is the version of a record that no transaction has written. In EDN it is nil.
	Initial uint64
	// Skew is how far the clocks of sessions may be apart, in ps: so long after the latest time
	// seen an attempt may still begin. 0: 20 us, as history.Options.Window.
	Skew int64
	// Held is how many events EDN holds back for a session that does not end; 0: 1<<18.
	Held int
}

// Writer writes a history while it happens. The first error ends the writing; Close reports it.
// A nil Writer is none.
type Writer struct {
	opt      Options
	out      *bufio.Writer
	err      error
	attempts uint64
	line     line
	events   events
}

// New writes to out, which it neither closes nor syncs.
func New(out io.Writer, o Options) *Writer {
	if o.Skew == 0 {
		o.Skew = 20_000_000
	}
	if o.Held == 0 {
		o.Held = 1 << 18
	}
	return &Writer{opt: o, out: bufio.NewWriterSize(out, 1<<16)}
}

// Begin says that a session begins an attempt.
func (w *Writer) Begin(session uint32, at int64) {
	if w != nil && w.err == nil && w.opt.Form == EDN {
		w.begin(session, at)
	}
}

// Add writes an attempt that has ended. a may be used again afterwards.
func (w *Writer) Add(a *Attempt) {
	if w == nil || w.err != nil {
		return
	}
	w.attempts++
	if w.opt.Form == EDN {
		w.add(a)
		return
	}
	w.line.of(a, w.opt.TypeName(a.Type))
	b, err := json.Marshal(&w.line)
	if err == nil {
		_, err = w.out.Write(append(b, '\n'))
	}
	w.fail(err)
}

// Attempts is how many have ended, and were written as long as there was no error.
func (w *Writer) Attempts() uint64 { return w.attempts }

// Close writes what was held back and reports the first error. The writer takes nothing more.
func (w *Writer) Close() error {
	if w.err == nil && w.opt.Form == EDN {
		w.finish()
	}
	if w.err == nil {
		w.fail(w.out.Flush())
	}
	err := w.err
	w.fail(errClosed)
	return err
}

var errClosed = errors.New("the history is closed")

func (w *Writer) fail(err error) {
	if w.err == nil && err != nil {
		w.err = err
	}
}

// line is an attempt in JSON.
type line struct {
	ID       uint64  `json:"id"`
	Node     int     `json:"node"`
	Thread   int     `json:"thread"`
	Type     string  `json:"type"`
	BeginNS  int64   `json:"begin_ns"`
	EndNS    int64   `json:"end_ns"`
	Status   string  `json:"status"`
	Snapshot bool    `json:"snapshot,omitempty"`
	Reads    []Read  `json:"reads"`
	Writes   []Write `json:"writes"`
}

func (l *line) of(a *Attempt, typ string) {
	*l = line{
		ID: a.ID, Node: a.Node, Thread: a.Thread, Type: typ, BeginNS: a.Begin / 1000, EndNS: a.End / 1000, Status: statusName(a.Status), Snapshot: a.Snapshot,
		Reads: append(l.Reads[:0], a.Reads...), Writes: append(l.Writes[:0], a.Writes...),
	}
	if l.Reads == nil {
		l.Reads = []Read{} // never null
	}
	if l.Writes == nil {
		l.Writes = []Write{}
	}
}

func statusName(s history.Status) string {
	switch s {
	case history.Committed:
		return "committed"
	case history.RolledBack:
		return "rolled-back"
	case history.Aborted:
		return "aborted"
	}
	return fmt.Sprintf("status %d", s)
}
