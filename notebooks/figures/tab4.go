package figures

import (
	"fmt"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

// The tables of chapter 4. 4-1 is what the registry of knobs accepts, 4-3 what the
// presets set: neither takes a run. 4-2 is read from traces of a few transactions; its
// cycles were given to the model, its bytes only where formats need less.

var tables4 = []*definition{
	{id: "t4-1", title: "Table 4-1: optimisations by phase", chapter: 4, section: "4.3", scope: "cluster", form: formTable,
		x: Axis{Label: "Optimisation"}, y: Axis{Label: "yes: the registry accepts it"}, plan: noPlan, arrange: arrange41, claims: claims41},
	{id: "t4-2", title: "Table 4-2: time and payload of the phases", chapter: 4, section: "4.3.4", scope: "cluster", form: formTable,
		x: Axis{Label: "Phase"}, y: Axis{Label: "cycles of a handler and bytes of a request, measured (thesis)"}, plan: noPlan, arrange: arrange42, claims: claims42},
	{id: "t4-3", title: "Table 4-3: primitives of the designs", chapter: 4, section: "4.4.3", scope: "cluster", form: formTable,
		x: Axis{Label: "Phase"}, y: Axis{Label: "I one-sided, II two-sided"}, plan: noPlan, arrange: arrange43, claims: claims43},
}

// noPlan takes no runs.
func noPlan(string) plan { return plan{} }

// row41 is a row of Table 4-1: the knobs of its phase, which take the same primitive,
// and how many of its eight cells are checked.
type row41 struct {
	id, name string
	phases   []string
	checked  float64
}

// A lock and its commit take the same primitive: an RNIC's lock is the RNIC's.
var rows41 = []row41{
	{"t4-1-rw-e", "RW E", []string{"execution"}, 3}, {"t4-1-rw-v", "RW V", []string{"lock", "commit"}, 6}, {"t4-1-rw-l", "RW L", []string{"logging"}, 5},
	{"t4-1-rw-c", "RW C", []string{"commit", "lock"}, 8}, {"t4-1-ro-r", "RO R", []string{"ro_read"}, 3}, {"t4-1-ro-v", "RO V", []string{"ro_validation"}, 5},
}

func arrange41(f *Figure) {
	for _, row := range rows41 {
		s := Series{Name: row.name}
		for _, o := range []string{"or", "db", "co", "pa"} {
			for i, primitive := range []string{"one-sided", "two-sided"} {
				p := Point{X: float64(len(s.Points)), Name: strings.ToUpper(o) + " " + strings.Repeat("I", i+1), Text: "–"}
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

func claims41(f *Figure) []Claim {
	var out []Claim
	for i, row := range rows41 {
		var names []string
		for _, p := range f.Series[i].Points {
			if p.Y == 1 {
				names = append(names, p.Name)
			}
		}
		out = append(out, counted(row.id, fmt.Sprintf("%s has %g of 8 optimisations", row.name, row.checked), row.checked, float64(len(names)), strings.Join(names, ", ")))
	}
	return out
}

// counted is a claim about a number that is no measurement.
func counted(id, text string, reference, v float64, why string) Claim {
	c := Claim{ID: id, Claim: text, Reference: fmt.Sprint(reference), Unit: "count", Measured: &v, Status: Holds, Why: why}
	if v != reference {
		c.Status = Contradicted
	}
	return c
}

// rows43t are the designs with how many of their six phases are one-sided alone.
var rows43t = []struct {
	id, name, preset string
	oneSided         float64
}{{"t4-3-farm", farm, "farm", 4}, {"t4-3-drtmr", drtmR, "drtm+r", 6}, {"t4-3-fasst", fasst, "fasst", 0}, {"t4-3-drtmh", drtmH, "drtm+h", 2}}

// notation43 is a primitive as Table 4-3 writes it.
var notation43 = map[any]string{"one-sided": "I", "two-sided": "II", "hybrid": "I/II", "auto": "I/II"}

func arrange43(f *Figure) {
	for _, row := range rows43t {
		k, err := experiment.PresetKnobs(row.preset)
		must(err)
		s := Series{Name: row.name}
		for i, phase := range []string{"execution", "lock", "logging", "commit", "ro_read", "ro_validation"} {
			text := notation43[k["phase."+phase]]
			if v := notation43[k["phase.validation"]]; phase == "lock" && text != "I/II" && row.preset != "fasst" {
				text += "+" + v
			}
			p := Point{X: float64(i), Name: []string{"RW E", "RW V", "RW L", "RW C", "RO R", "RO V"}[i], Text: text}
			if text == "I" || text == "I+I" {
				p.Y = 1
			}
			s.Points = append(s.Points, p)
		}
		f.Series = append(f.Series, s)
	}
}

func claims43(f *Figure) []Claim {
	var out []Claim
	for i, row := range rows43t {
		n := 0.0
		var cells []string
		for _, p := range f.Series[i].Points {
			n += p.Y
			cells = append(cells, p.Text)
		}
		out = append(out, counted(row.id, fmt.Sprintf("%s is one-sided alone in %g of 6 phases", row.name, row.oneSided), row.oneSided, n, strings.Join(cells, " ")))
	}
	return out
}

// rows42 are the columns of Table 4-2: cycles and bytes by phase, as published; and what the released code's formats need to know of a
// workload.
var rows42 = []struct {
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
	head42, record42 = 24, 24
	commit42         = 16
)

var phases42 = [4]struct{ id, name, phase string }{{"exec", "E", "execution"}, {"valid", "V", "lock"}, {"log", "L", "logging"}, {"commit", "C", "commit"}}

// traced42 are the transactions that are looked at.
const traced42 = 100

// arrange42 traces a two-sided design, of which every request has a handler.
func arrange42(f *Figure) {
	profile, err := profile.Load("val")
	must(err)
	cyclesPerNS := profile.NodeTypes[0].Frequency.Value / 1000
	for _, row := range rows42 {
		padded, bare := trace42(row.workload, true), trace42(row.workload, false)
		released := bare.released(row.alone, row.mutable)
		series := []Series{{Name: row.name + ", cycles"}, {Name: row.name + ", bytes"}, {Name: row.name + ", bytes without padding"}, {Name: row.name + ", bytes by the released code's formats"}}
		for i, p := range phases42 {
			for k, v := range []float64{padded.ns[p.phase].mean() * cyclesPerNS, padded.bytes[p.phase].mean(), bare.bytes[p.phase].mean(), released[p.phase].mean()} {
				reference := row.bytes[i]
				if k == 0 {
					reference = row.cycles[i]
				}
				text := fmt.Sprintf("%.0f (%g)", v, reference)
				if v == 0 {
					text = fmt.Sprintf("not known (%g)", reference)
				}
				series[k].Points = append(series[k].Points, Point{X: float64(i), Y: v, Name: p.name, Text: text})
			}
		}
		f.Series = append(f.Series, series...)
	}
	f.Note = note42
}

// note42 says what formats explain, and what they do not.
const note42 = "By the released code's formats a message of execution or of locks has 24 bytes and 24 of each remote record of the transaction, whichever machine it goes to, and one of commit 16 and what changes of its record; records are counted in the transactions that run here. " +
	"That gives SmallBank's E and both C. Nothing that is known gives TPC-C's E, of which each record is asked for alone, nor either V: locks are longer than published on TPC-C, which have all lines of an order, and shorter on SmallBank. " +
	"What the released log has of a record is not known; our own entries have about TPC-C's L, and are padded to SmallBank's."

const series42 = 4 // of each column

// average is a mean as it grows.
type average struct{ sum, n float64 }

func (a average) mean() float64 {
	if a.n == 0 {
		return 0
	}
	return a.sum / a.n
}

func (a average) and(x float64) average { return average{a.sum + x, a.n + 1} }

// measured42 are the time of the handlers, in ns, and the bytes of the messages by phase: of the execution the answers, which carry the
// records, else the requests.
type measured42 struct {
	ns, bytes map[string]average
	rounds    []round42
}

// round42 is the messages that went out together, of one phase and transaction: how many, and how many records they have in all.
type round42 struct {
	phase             string
	messages, records int
	until             float64 // the first answer
}

// items42 is what a message of ours has of each record, by which they are counted.
var items42 = map[string]int{"execution": 8, "lock": 16}

// trace42 traces transactions, with the padding of messages or without.
func trace42(workload string, padding bool) measured42 {
	s, err := engine.Open(experiment.Spec{Preset: "fasst", Workload: workload, Set: experiment.Knobs{"nodes": 16, "threads": 1, "coroutines": 1, "check": "off", "rpc.padding": padding}})
	must(err)
	defer s.Close()
	txns, err := s.Trace(traced42)
	must(err)
	m := measured42{ns: map[string]average{}, bytes: map[string]average{}}
	for _, t := range txns {
		var last *round42
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
				m.rounds = append(m.rounds, round42{phase: v.Phase, until: v.EndNS})
				last = &m.rounds[len(m.rounds)-1]
			}
			last.messages++
			last.until = min(last.until, v.EndNS)
			if item := items42[v.Phase]; item > 0 {
				last.records += v.Bytes / item
			}
		}
	}
	return m
}

// released is what the messages of the same transactions have by the released code's formats.
func (m measured42) released(alone bool, mutable float64) map[string]average {
	bytes := map[string]average{}
	for _, r := range m.rounds {
		records := r.records
		switch {
		case r.phase == "execution" && alone: // a message for each record
			records, r.messages = 1, r.records
		case r.phase == "commit":
			bytes[r.phase] = bytes[r.phase].and(commit42 + mutable)
			continue
		case items42[r.phase] == 0:
			continue
		}
		for range r.messages {
			bytes[r.phase] = bytes[r.phase].and(float64(head42 + record42*records))
		}
	}
	return bytes
}

func claims42(f *Figure) []Claim {
	var out []Claim
	for r, row := range rows42 {
		for i, p := range phases42 {
			add := func(kind, text string, s *Series, reference float64, unit, why string) {
				v := s.Points[i].Y
				out = append(out, Claim{ID: "t4-2-" + row.id + "-" + p.id + "-" + kind, Claim: fmt.Sprintf(text, row.name, p.name, reference),
					Reference: fmt.Sprint(reference), Measured: &v, Unit: unit, Status: near(v, 0, reference), Why: why})
			}
			add("time", "%s, %s: %g cycles", &f.Series[series42*r], row.cycles[i], "cycles", "a handler from its begin to its reply: the published cycles, which the model was given, and those of its dispatch")
			add("payload", "%s, %s: %g bytes", &f.Series[series42*r+1], row.bytes[i], "bytes", payload42(p.id))
		}
	}
	return out
}

// payload42 says what is counted; the thesis does not.
func payload42(phase string) string {
	if phase == "exec" {
		return "the mean answer of one machine, with all its records, padded to the published bytes where it is shorter"
	}
	return "the mean request, padded to the published bytes where it is shorter"
}
