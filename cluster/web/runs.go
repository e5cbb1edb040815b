package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// runsListed is how many kept runs one answer has.
const runsListed = 200

// RunList is GET /api/runs: kept runs, the latest first.
type RunList struct {
	Runs []runs.Kept `json:"runs"`
	More bool        `json:"more"` // there are older ones; ask again with until_ms
}

// RunInfo is GET /api/runs/ID: a kept run, or one in it as r12.3.
type RunInfo struct {
	runs.Kept
	Knobs    experiment.Knobs `json:"knobs"`              // of its spec: those that are not the defaults of its preset and workload
	Missing  int              `json:"missing"`            // results that have left the cache of points
	Result   *result.Result   `json:"result,omitempty"`   // of one run
	Document json.RawMessage  `json:"document,omitempty"` // of a sweep or figure, without results
}

// keptRuns opens the run store for a reader of the page.
func keptRuns() (*runs.Store, error) {
	s, err := runs.Default()
	if err != nil {
		return nil, &httpError{http.StatusServiceUnavailable, words.OneLine(err.Error())}
	}
	return s, nil
}

// runsQuery asks for kept runs.
type runsQuery struct{ runs.Filter }

func (f *runsQuery) params() Params {
	since := Param{Rule: "must be milliseconds since 1970", Next: "leave it out to have them all", valid: func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n >= 0
	}}
	until := since
	since.Name, until.Name = "since_ms", "until_ms"
	return Params{OneOf("kind", runs.Kinds...), Name("workload"), Name("preset"), Text("note", 10*nameBytes), since, until, Whole("limit", 1, runsListed)}
}

func (f *runsQuery) read(q url.Values) {
	f.Filter = runs.Filter{Kind: q.Get("kind"), Workload: q.Get("workload"), Preset: q.Get("preset"), Note: q.Get("note"), Limit: runsListed}
	for name, at := range map[string]*time.Time{"since_ms": &f.Since, "until_ms": &f.Until} { // order-free: one of each
		if n, err := strconv.ParseInt(q.Get(name), 10, 64); err == nil {
			*at = time.UnixMilli(n)
		}
	}
	if n, err := strconv.Atoi(q.Get("limit")); err == nil {
		f.Limit = n
	}
}

func (f *runsQuery) write(url.Values) {} // the client does not ask

func listRuns(f runsQuery) (RunList, error) {
	s, err := keptRuns()
	if err != nil {
		return RunList{}, err
	}
	f.Limit++ // one more tells whether there are more
	list, err := s.List(f.Filter)
	if err != nil {
		return RunList{}, err
	}
	out := RunList{Runs: list[:min(len(list), f.Limit-1)], More: len(list) == f.Limit}
	return out, nil
}

func showRun(ref string) (RunInfo, error) {
	s, err := keptRuns()
	if err != nil {
		return RunInfo{}, err
	}
	k, err := keep.Load(s, ref)
	if err != nil {
		return RunInfo{}, err
	}
	out := RunInfo{Kept: *k.Kept, Knobs: experiment.Knobs{}, Missing: k.Missing()}
	if one, err := k.Result(); err == nil {
		out.Result, out.Knobs = one, keep.NonDefault(one.Spec)
	} else if k.Form == keep.FormSweep || k.Form == keep.FormFigure {
		out.Document = k.Document
	}
	return out, nil
}

// pairQuery names two kept runs.
type pairQuery struct{ A, B string }

func (p *pairQuery) params() Params    { return Params{Name("a"), Name("b")} }
func (p *pairQuery) read(q url.Values) { p.A, p.B = q.Get("a"), q.Get("b") }
func (p *pairQuery) write(url.Values)  {} // the client does not ask

func compareRuns(p pairQuery) (*result.Comparison, error) {
	s, err := keptRuns()
	if err != nil {
		return nil, err
	}
	return keep.Compare(s, p.A, p.B)
}

// replaceOrder names the system that another takes the place of; "" is none.
type replaceOrder struct {
	Replace string `json:"replace"`
}

// openRun opens a system with the spec of a kept run beside the others, in place of one of them if that is asked for.
func (s *server) openRun(c call, in replaceOrder) (system.Snapshot, error) {
	store, err := keptRuns()
	if err != nil {
		return system.Snapshot{}, err
	}
	k, err := keep.Load(store, c.id)
	if err != nil {
		return system.Snapshot{}, err
	}
	one, err := k.Result()
	if err != nil {
		return system.Snapshot{}, err
	}
	spec, err := keep.SpecOf(one)
	if err != nil {
		return system.Snapshot{}, err
	}
	return s.jobs.AddInPlaceOf(c, in.Replace, spec)
}
