package chapter4

import (
	"fmt"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
	"drtmx/notebooks/figures/figure"
)

// The tables of chapter 4. 4-1 is what the registry of knobs accepts, 4-3 what the
// presets set: neither takes a run. 4-2 is read from traces of a few transactions; its
// cycles were given to the model, its bytes only where formats need less.

var tables = []*figure.Definition{
	{ID: "t4-1", Title: "Table 4-1: optimisations by phase", Chapter: 4, Section: "4.3", Scope: "cluster", Form: figure.FormTable,
		X: figure.Axis{Label: "Optimisation"}, Y: figure.Axis{Label: "yes: the registry accepts it"}, Plan: figure.NoPlan, Arrange: arrangeOptimisations, Claims: optimisationClaims},
	{ID: "t4-2", Title: "Table 4-2: time and payload of the phases", Chapter: 4, Section: "4.3.4", Scope: "cluster", Form: figure.FormTable,
		X: figure.Axis{Label: "Phase"}, Y: figure.Axis{Label: "cycles of a handler and bytes of a request, measured (thesis)"}, Plan: figure.NoPlan, Arrange: arrangePhases, Claims: phaseClaims},
	{ID: "t4-3", Title: "Table 4-3: primitives of the designs", Chapter: 4, Section: "4.4.3", Scope: "cluster", Form: figure.FormTable,
		X: figure.Axis{Label: "Phase"}, Y: figure.Axis{Label: "I one-sided, II two-sided"}, Plan: figure.NoPlan, Arrange: arrangeDesigns, Claims: designTableClaims},
}

// optimisationRow is a row of Table 4-1: the knobs of its phase, which take the same primitive,
// and how many of its eight cells are checked.
type optimisationRow struct {
	id, name string
	phases   []string
	checked  float64
}

// A lock and its commit take the same primitive: an RNIC's lock is the RNIC's.
var optimisationRows = []optimisationRow{
	{"t4-1-rw-e", "RW E", []string{"execution"}, 3}, {"t4-1-rw-v", "RW V", []string{"lock", "commit"}, 6}, {"t4-1-rw-l", "RW L", []string{"logging"}, 5},
	{"t4-1-rw-c", "RW C", []string{"commit", "lock"}, 8}, {"t4-1-ro-r", "RO R", []string{"ro_read"}, 3}, {"t4-1-ro-v", "RO V", []string{"ro_validation"}, 5},
}

func arrangeOptimisations(f *figure.Figure) {
	for _, row := range optimisationRows {
		s := figure.Series{Name: row.name}
		for _, o := range []string{"or", "db", "co", "pa"} {
			for i, primitive := range []string{"one-sided", "two-sided"} {
				p := figure.Point{X: float64(len(s.Points)), Name: strings.ToUpper(o) + " " + strings.Repeat("I", i+1), Text: "–"}
				if accepted(row.phases, primitive, o) {
					p.Y, p.Text = 1, "yes"
				}
				s.Points = append(s.Points, p)
			}
		}
		f.Series = append(f.Series, s)
	}
}

// accepted says that a phase may have an optimisation with a primitive. Coroutines are
// switched for all phases at once.
func accepted(phases []string, primitive, opt string) bool {
	set := experiment.Knobs{}
	for _, p := range phases {
		set["phase."+p] = primitive
	}
	if set["opt.co"] = true; opt != "co" {
		set["opt."+phases[0]+"."+opt] = true
	}
	spec, err := experiment.Spec{Preset: "drtm+h"}.With(set)
	if err != nil {
		return false
	}
	_, err = experiment.Resolve(spec)
	return err == nil
}

func optimisationClaims(f *figure.Figure) []figure.Claim {
	var out []figure.Claim
	for i, row := range optimisationRows {
		var names []string
		for _, p := range f.Series[i].Points {
			if p.Y == 1 {
				names = append(names, p.Name)
			}
		}
		out = append(out, figure.Counted(row.id, fmt.Sprintf("%s has %g of 8 optimisations", row.name, row.checked), row.checked, float64(len(names)), strings.Join(names, ", ")))
	}
	return out
}

// designRows are the designs with how many of their six phases are one-sided alone.
var designRows = []struct {
	id, name, preset string
	oneSided         float64
}{{"t4-3-farm", farm, "farm", 4}, {"t4-3-drtmr", drtmR, "drtm+r", 6}, {"t4-3-fasst", fasst, "fasst", 0}, {"t4-3-drtmh", drtmH, "drtm+h", 2}}

// primitiveNotation is a primitive as Table 4-3 writes it.
var primitiveNotation = map[any]string{"one-sided": "I", "two-sided": "II", "hybrid": "I/II", "auto": "I/II"}

func arrangeDesigns(f *figure.Figure) {
	for _, row := range designRows {
		k, err := experiment.PresetKnobs(row.preset)
		figure.Must(err)
		s := figure.Series{Name: row.name}
		for i, phase := range []string{"execution", "lock", "logging", "commit", "ro_read", "ro_validation"} {
			text := primitiveNotation[k["phase."+phase]]
			if v := primitiveNotation[k["phase.validation"]]; phase == "lock" && text != "I/II" && row.preset != "fasst" {
				text += "+" + v
			}
			p := figure.Point{X: float64(i), Name: []string{"RW E", "RW V", "RW L", "RW C", "RO R", "RO V"}[i], Text: text}
			if text == "I" || text == "I+I" {
				p.Y = 1
			}
			s.Points = append(s.Points, p)
		}
		f.Series = append(f.Series, s)
	}
}

func designTableClaims(f *figure.Figure) []figure.Claim {
	var out []figure.Claim
	for i, row := range designRows {
		n := 0.0
		var cells []string
		for _, p := range f.Series[i].Points {
			n += p.Y
			cells = append(cells, p.Text)
		}
		out = append(out, figure.Counted(row.id, fmt.Sprintf("%s is one-sided alone in %g of 6 phases", row.name, row.oneSided), row.oneSided, n, strings.Join(cells, " ")))
	}
	return out
}

// phaseRows are the columns of Table 4-2: cycles and bytes by phase, as published; and what the released code's formats need to know of a
// workload.
var phaseRows = []struct {
	id, name, workload string
	cycles, bytes      [4]float64
	alone              bool    // each record is used before the next one is asked for
	mutable            float64 // bytes of a record that transactions change: a stock's four numbers and what keeps them apart, a balance
}{
	{"tpcc", "TPC-C/no", tpccNo, [4]float64{342, 454, 363, 108}, [4]float64{68, 157, 1006, 34}, true, 18},
	{"sb", "SmallBank", smallBank, [4]float64{678, 185, 134, 87}, [4]float64{71, 105, 149, 20}, false, 4},
}

// The released code's formats: what a message has beside its records, and what it has of each. Its execution and lock messages carry all
// remote records of the transaction, to each machine; its commit messages one. What its log has of a record is not known here.
const (
	messageHeadBytes, recordBytes = 24, 24
	commitBytes                   = 16
)

var tablePhases = [4]struct{ id, name, phase string }{{"exec", "E", "execution"}, {"valid", "V", "lock"}, {"log", "L", "logging"}, {"commit", "C", "commit"}}

// tracedTransactions are the transactions that are looked at.
const tracedTransactions = 100

// arrangePhases traces a two-sided design, of which every request has a handler.
func arrangePhases(f *figure.Figure) {
	profile, err := profile.Load("val")
	figure.Must(err)
	cyclesPerNS := profile.NodeTypes[0].Frequency.Value / 1000
	for _, row := range phaseRows {
		padded, bare := tracePhases(row.workload, true), tracePhases(row.workload, false)
		released := bare.released(row.alone, row.mutable)
		series := []figure.Series{{Name: row.name + ", cycles"}, {Name: row.name + ", bytes"}, {Name: row.name + ", bytes without padding"}, {Name: row.name + ", bytes by the released code's formats"}}
		for i, p := range tablePhases {
			for k, v := range []float64{padded.ns[p.phase].mean() * cyclesPerNS, padded.bytes[p.phase].mean(), bare.bytes[p.phase].mean(), released[p.phase].mean()} {
				reference := row.bytes[i]
				if k == 0 {
					reference = row.cycles[i]
				}
				text := fmt.Sprintf("%.0f (%g)", v, reference)
				if v == 0 {
					text = fmt.Sprintf("not known (%g)", reference)
				}
				series[k].Points = append(series[k].Points, figure.Point{X: float64(i), Y: v, Name: p.name, Text: text})
			}
		}
		f.Series = append(f.Series, series...)
	}
	f.Note = formatsNote
}

// formatsNote says what formats explain, and what they do not.
const formatsNote = "By the released code's formats a message of execution or of locks has 24 bytes and 24 of each remote record of the transaction, whichever machine it goes to, and one of commit 16 and what changes of its record; records are counted in the transactions that run here. " +
	"That gives SmallBank's E and both C. Nothing that is known gives TPC-C's E, of which each record is asked for alone, nor either V: locks are longer than published on TPC-C, which have all lines of an order, and shorter on SmallBank. " +
	"What the released log has of a record is not known; our own entries have about TPC-C's L, and are padded to SmallBank's."

const linesOfColumn = 4 // of each column

// average is a mean as it grows.
type average struct{ sum, n float64 }

func (a average) mean() float64 {
	if a.n == 0 {
		return 0
	}
	return a.sum / a.n
}

func (a average) and(x float64) average { return average{a.sum + x, a.n + 1} }

// measuredPhases are the time of the handlers, in ns, and the bytes of the messages by phase: of the execution the answers, which carry the
// records, else the requests.
type measuredPhases struct {
	ns, bytes map[string]average
	rounds    []messageRound
}

// messageRound is the messages that went out together, of one phase and transaction: how many, and how many records they have in all.
type messageRound struct {
	phase             string
	messages, records int
	until             float64 // the first answer
}

// itemBytes is what a message of ours has of each record, by which they are counted.
var itemBytes = map[string]int{"execution": 8, "lock": 16}

// tracePhases traces transactions, with the padding of messages or without.
func tracePhases(workload string, padding bool) measuredPhases {
	s, err := engine.Open(experiment.Spec{Preset: "fasst", Workload: workload, Set: experiment.Knobs{"nodes": 16, "threads": 1, "coroutines": 1, "check": "off", "rpc.padding": padding}})
	figure.Must(err)
	defer s.Close()
	txns, err := s.Trace(tracedTransactions)
	figure.Must(err)
	m := measuredPhases{ns: map[string]average{}, bytes: map[string]average{}}
	for _, t := range txns {
		var last *messageRound
		for _, v := range t.Verbs {
			h := v.Handler
			if v.From == v.To || h == nil {
				continue
			}
			n := v.Bytes
			if v.Phase == "execution" {
				n = h.Reply
			}
			m.ns[v.Phase], m.bytes[v.Phase] = m.ns[v.Phase].and(h.EndNS-h.BeginNS), m.bytes[v.Phase].and(float64(n))
			if last == nil || last.phase != v.Phase || v.BeginNS >= last.until {
				m.rounds = append(m.rounds, messageRound{phase: v.Phase, until: v.EndNS})
				last = &m.rounds[len(m.rounds)-1]
			}
			last.messages++
			last.until = min(last.until, v.EndNS)
			if item := itemBytes[v.Phase]; item > 0 {
				last.records += v.Bytes / item
			}
		}
	}
	return m
}

// released is what the messages of the same transactions have by the released code's formats.
func (m measuredPhases) released(alone bool, mutable float64) map[string]average {
	bytes := map[string]average{}
	for _, r := range m.rounds {
		records := r.records
		switch {
		case r.phase == "execution" && alone: // a message for each record
			records, r.messages = 1, r.records
		case r.phase == "commit":
			bytes[r.phase] = bytes[r.phase].and(commitBytes + mutable)
			continue
		case itemBytes[r.phase] == 0:
			continue
		}
		for range r.messages {
			bytes[r.phase] = bytes[r.phase].and(float64(messageHeadBytes + recordBytes*records))
		}
	}
	return bytes
}

func phaseClaims(f *figure.Figure) []figure.Claim {
	var out []figure.Claim
	for r, row := range phaseRows {
		for i, p := range tablePhases {
			add := func(kind, text string, s *figure.Series, reference float64, unit, why string) {
				v := s.Points[i].Y
				out = append(out, figure.Claim{ID: "t4-2-" + row.id + "-" + p.id + "-" + kind, Claim: fmt.Sprintf(text, row.name, p.name, reference),
					Reference: fmt.Sprint(reference), Measured: &v, Unit: unit, Status: figure.Near(v, 0, reference), Why: why})
			}
			add("time", "%s, %s: %g cycles", &f.Series[linesOfColumn*r], row.cycles[i], "cycles", "a handler from its begin to its reply: the published cycles, which the model was given, and those of its dispatch")
			add("payload", "%s, %s: %g bytes", &f.Series[linesOfColumn*r+1], row.bytes[i], "bytes", payloadText(p.id))
		}
	}
	return out
}

// payloadText says what is counted; the thesis does not.
func payloadText(phase string) string {
	if phase == "exec" {
		return "the mean answer of one machine, with all its records, padded to the published bytes where it is shorter"
	}
	return "the mean request, padded to the published bytes where it is shorter"
}
