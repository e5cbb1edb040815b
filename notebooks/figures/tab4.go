package figures

import (
	"fmt"
	"strings"

	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric"
)

// The tables of chapter 4. 4-1 is what the registry of knobs accepts, 4-3 what the
// presets set: neither takes a run. 4-2 is read from traces of a few transactions; its
// cycles were given to the model, its bytes were not.

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

// rows42 are the columns of Table 4-2: cycles and bytes by phase, as published.
var rows42 = []struct {
	id, name, workload string
	cycles, bytes      [4]float64
}{
	{"tpcc", "TPC-C/no", tpccNo, [4]float64{342, 454, 363, 108}, [4]float64{68, 157, 1006, 34}},
	{"sb", "SmallBank", smallBank, [4]float64{678, 185, 134, 87}, [4]float64{71, 105, 149, 20}},
}

var phases42 = [4]struct{ id, name, phase string }{{"exec", "E", "execution"}, {"valid", "V", "lock"}, {"log", "L", "logging"}, {"commit", "C", "commit"}}

// traced42 are the transactions that are looked at.
const traced42 = 100

// arrange42 traces a two-sided design, of which every request has a handler.
func arrange42(f *Figure) {
	profile, err := fabric.LoadProfile("val")
	must(err)
	cyclesPerNS := profile.NodeTypes[0].Frequency.Value / 1000
	for _, row := range rows42 {
		cycles, bytes := trace42(row.workload)
		time, payload := Series{Name: row.name + ", cycles"}, Series{Name: row.name + ", bytes"}
		for i, p := range phases42 {
			c, b := cycles[p.phase].mean()*cyclesPerNS, bytes[p.phase].mean()
			time.Points = append(time.Points, Point{X: float64(i), Y: c, Name: p.name, Text: fmt.Sprintf("%.0f (%g)", c, row.cycles[i])})
			payload.Points = append(payload.Points, Point{X: float64(i), Y: b, Name: p.name, Text: fmt.Sprintf("%.0f (%g)", b, row.bytes[i])})
		}
		f.Series = append(f.Series, time, payload)
	}
}

// average is a mean as it grows.
type average struct{ sum, n float64 }

func (a average) mean() float64 {
	if a.n == 0 {
		return 0
	}
	return a.sum / a.n
}

func (a average) and(x float64) average { return average{a.sum + x, a.n + 1} }

// trace42 are the time of the handlers, in ns, and the bytes of the messages by phase:
// of the execution the answers, which carry the records, else the requests.
func trace42(workload string) (ns, bytes map[string]average) {
	s, err := engine.Open(experiment.Spec{Preset: "fasst", Workload: workload, Set: experiment.Knobs{"nodes": 16, "threads": 1, "coroutines": 1, "check": "off"}})
	must(err)
	defer s.Close()
	txns, err := s.Trace(traced42)
	must(err)
	ns, bytes = map[string]average{}, map[string]average{}
	for _, t := range txns {
		for _, v := range t.Verbs {
			h := v.Handler
			if v.From == v.To || h == nil {
				continue
			}
			n := v.Bytes
			if v.Phase == "execution" {
				n = h.Reply
			}
			ns[v.Phase], bytes[v.Phase] = ns[v.Phase].and(h.EndNS-h.BeginNS), bytes[v.Phase].and(float64(n))
		}
	}
	return ns, bytes
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
			add("time", "%s, %s: %g cycles", &f.Series[2*r], row.cycles[i], "cycles", "a handler from its begin to its reply: the published cycles, which the model was given, and those of its dispatch")
			add("payload", "%s, %s: %g bytes", &f.Series[2*r+1], row.bytes[i], "bytes", payload42(p.id))
		}
	}
	return out
}

// payload42 says what is counted; the thesis does not.
func payload42(phase string) string {
	if phase == "exec" {
		return "the mean answer of one machine, with all its records, padded to the published bytes where it is shorter"
	}
	return "the mean request to one machine, with all its records, padded to the published bytes where it is shorter"
}
