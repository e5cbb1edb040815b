package session

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"drtmx/cluster/strictjson"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Format is the version of the session file. Older and newer ones are
// refused: a session is replayed by the drtmx that wrote it.
const Format = 1

// A session file is JSON lines, one record each, written as the run goes:
//
//	{"session":{...}}      what was opened; begins a segment (a reset begins another)
//	{"change":{...}}       knobs that were set, with their virtual time
//	{"transaction":{...}}  a transaction that a notebook added: not replayable
//	{"checkpoint":{...}}   digest and windows so far
//	{"failed":{...}}       the system failed here
//	{"end":{...}}          a checkpoint at which the agent was ended
//
// Virtual times of a segment never go back. A last line without its end is what
// a crash leaves; it is ignored.
type record struct {
	Session     *Header     `json:"session,omitempty"`
	Change      *Change     `json:"change,omitempty"`
	Transaction *AddedTxn   `json:"transaction,omitempty"`
	Checkpoint  *Checkpoint `json:"checkpoint,omitempty"`
	Failed      *Broken     `json:"failed,omitempty"`
	End         *Checkpoint `json:"end,omitempty"`
}

// Header says what was opened.
type Header struct {
	Format   int              `json:"format"`
	Code     string           `json:"code"`
	Sys      string           `json:"sys,omitempty"`
	Seed     any              `json:"seed"`
	WindowNS int64            `json:"window_ns"`
	Spec     experiment.Spec  `json:"spec"`
	Values   experiment.Knobs `json:"values"` // every knob as resolved then
	// Inputs are the files that knobs name, by knob, each as a hash of what was in it; "" where it could not be read.
	Inputs map[string]string `json:"inputs,omitempty"`
}

// Change is a recorded knob change.
type Change struct {
	VirtualNS int64            `json:"virtual_ns"`
	Version   int              `json:"version"`
	By        string           `json:"by,omitempty"`
	Set       experiment.Knobs `json:"set"`
}

// AddedTxn notes a transaction that user code added.
type AddedTxn struct {
	VirtualNS int64  `json:"virtual_ns"`
	Name      string `json:"name"`
	Weight    int    `json:"weight"`
}

// Checkpoint is what a replay has to arrive at.
type Checkpoint struct {
	VirtualNS    int64  `json:"virtual_ns"`
	Digest       string `json:"digest"`
	Windows      int    `json:"windows"`       // how many were cut
	WindowsHash  string `json:"windows_hash"`  // over all of them
	KnobsVersion int    `json:"knobs_version"` // when it was taken
}

// Broken ends a segment: the system failed.
type Broken struct {
	VirtualNS int64  `json:"virtual_ns"`
	Error     string `json:"error"`
}

// Session is a recorded session as read.
type Session struct {
	Segments []Segment
	Torn     bool  // the last line was cut short and is left out
	Bytes    int64 // length of what is whole: a resumed session goes on here
}

// Segment is what happened to one system from 0 on.
type Segment struct {
	Header Header
	Steps  []Step
}

// Step is one of its fields, at VirtualNS.
type Step struct {
	VirtualNS   int64
	Change      *Change
	Transaction *AddedTxn
	Checkpoint  *Checkpoint
	Failed      *Broken
	End         bool // Checkpoint was the end of a run of the agent
}

// EndNS is the last virtual time that the segment records.
func (g *Segment) EndNS() int64 {
	if n := len(g.Steps); n > 0 {
		return g.Steps[n-1].VirtualNS
	}
	return 0
}

const (
	SessionLineLimit = 4 << 20
	sessionLineCount = 4 << 20
	// changesLimit bounds what one system remembers of its session: a person
	// cannot reach it, a script in a loop can.
	changesLimit = 100_000
)

// Read reads a recorded session. What is wrong is said with its line; a
// torn last line is not wrong.
func Read(r io.Reader) (*Session, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	s := &Session{}
	for line := 1; ; line++ {
		text, err := readLine(br)
		whole := err == nil
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("session line %d: %w", line, err)
		}
		if !whole && len(text) == 0 {
			break
		}
		if line > sessionLineCount {
			return nil, fmt.Errorf("session line %d: more than %d lines", line, sessionLineCount)
		}
		if !whole {
			// The line was being written when the writer ended. It is left out
			// even if it looks complete: its end is what says that it is.
			s.Torn = true
			break
		}
		if err := s.add(text); err != nil {
			return nil, fmt.Errorf("session line %d: %w", line, err)
		}
		s.Bytes += int64(len(text)) + 1
	}
	if len(s.Segments) == 0 {
		return nil, errors.New("session: no header, so nothing to run; give a file that drtmx up --session wrote")
	}
	return s, nil
}

// readLine returns a line without its newline; io.EOF means that the newline is
// missing.
func readLine(br *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(text)+len(part) > SessionLineLimit {
			return nil, fmt.Errorf("longer than %d bytes", SessionLineLimit)
		}
		text = append(text, part...)
		switch err {
		case nil:
			return text[:len(text)-1], nil
		case bufio.ErrBufferFull:
		default:
			return text, err
		}
	}
}

func (s *Session) add(text []byte) error {
	var rec record
	// The format comes first: a later one may have fields unknown here.
	var probe struct {
		Session *struct {
			Format *int   `json:"format"`
			Code   string `json:"code"`
		} `json:"session"`
	}
	if err := json.Unmarshal(text, &probe); err == nil && probe.Session != nil {
		switch {
		case probe.Session.Format == nil:
			return errors.New("header without format; give a file that drtmx up --session wrote")
		case *probe.Session.Format != Format:
			return fmt.Errorf("session format %d, this drtmx reads %d: replay it with the drtmx that wrote it (code %s)",
				*probe.Session.Format, Format, words.OneLine(probe.Session.Code))
		}
	}
	err := strictjson.Decode(text, &rec)
	if len(s.Segments) == 0 && (err != nil || rec.Session == nil) {
		return errors.New("is no session's header; give a file that drtmx up --session wrote")
	}
	if err != nil {
		return fmt.Errorf("not a session record: %s", words.OneLine(err.Error()))
	}
	if n := rec.fields(); n != 1 {
		return fmt.Errorf("a record has one field, this one has %d", n)
	}
	if rec.Session != nil {
		h := *rec.Session
		h.Seed = knob.Known("seed", h.Seed)
		s.Segments = append(s.Segments, Segment{Header: h})
		return nil
	}
	g := &s.Segments[len(s.Segments)-1]
	st := rec.step()
	if st.VirtualNS < g.EndNS() {
		return fmt.Errorf("virtual_ns %d goes back behind %d", st.VirtualNS, g.EndNS())
	}
	if n := len(g.Steps); n > 0 && g.Steps[n-1].Failed != nil {
		return errors.New("a record follows the failure of the system")
	}
	g.Steps = append(g.Steps, st)
	return nil
}

func (r *record) fields() (n int) {
	for _, is := range []bool{r.Session != nil, r.Change != nil, r.Transaction != nil, r.Checkpoint != nil, r.Failed != nil, r.End != nil} {
		if is {
			n++
		}
	}
	return n
}

func (r *record) step() Step {
	switch {
	case r.Change != nil:
		return Step{VirtualNS: r.Change.VirtualNS, Change: r.Change}
	case r.Transaction != nil:
		return Step{VirtualNS: r.Transaction.VirtualNS, Transaction: r.Transaction}
	case r.Checkpoint != nil:
		return Step{VirtualNS: r.Checkpoint.VirtualNS, Checkpoint: r.Checkpoint}
	case r.Failed != nil:
		return Step{VirtualNS: r.Failed.VirtualNS, Failed: r.Failed}
	default:
		return Step{VirtualNS: r.End.VirtualNS, Checkpoint: r.End, End: true}
	}
}
