package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"drtmx/cluster/agent"
	"drtmx/cluster/strictjson"
	"drtmx/cluster/system"
	"drtmx/cluster/twin"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
	"drtmx/engine/result"
)

// knobStates is a registry. Its values arrive with the types that the knobs have: JSON does not tell them apart.
type knobStates []experiment.KnobState

func (k *knobStates) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode((*[]experiment.KnobState)(k)); err != nil {
		return err
	}
	for i := range *k {
		s := &(*k)[i]
		for _, v := range []*any{&s.Value, &s.Default, &s.Min, &s.Max, &s.Preset} {
			*v = knob.Known(s.Name, *v)
		}
	}
	return nil
}

// changed is the answer to a change of one system.
type changed struct {
	Pending   bool  `json:"pending"`
	Version   int   `json:"version"`
	VirtualNS int64 `json:"virtual_ns"`
}

// changes is the answer to a change: that of the one system, or of each if several were named.
type changes struct {
	one  changed
	each map[string]changed
}

func (c changes) MarshalJSON() ([]byte, error) {
	if c.each != nil {
		return json.Marshal(c.each)
	}
	return json.Marshal(c.one)
}

func (c *changes) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &c.one) }

// set changes knobs of one system, or of several: of all or of none.
func (s *server) set(c call, k experiment.Knobs) (changes, error) {
	answer := func(x result.Change) changed { return changed{x.Pending, x.Version, x.VirtualNS} }
	if len(c.systems) < 2 {
		x, err := s.jobs.Set(c, c.sys, k, c.by)
		return changes{one: answer(x)}, err
	}
	list, err := s.jobs.SetEach(c, c.systems, k, c.by)
	if err != nil {
		return changes{}, err
	}
	out := changes{each: map[string]changed{}}
	for sys, x := range list { // order-free: fills a map
		out.each[sys] = answer(x)
	}
	return out, nil
}

// state is GET /api/state: the latest window and how the system stands.
type state struct {
	*result.Window
	system.Snapshot
	KnobsVersion int `json:"knobs_version"` // of now; the window's may be older
}

func (s *server) state(sys string) (state, error) {
	snap, w, err := s.jobs.StateAndWindow(sys)
	return state{w, snap, snap.KnobsVersion}, err
}

// forkOrder asks for a fork of a system, or for the ghost without a change.
type forkOrder struct {
	Fork    string           `json:"fork"`
	Set     experiment.Knobs `json:"set"`
	Without *int             `json:"without,omitempty"`
}

func (s *server) fork(c call, in forkOrder) (system.Snapshot, error) {
	switch {
	case in.Without != nil && len(in.Set) > 0:
		return system.Snapshot{}, &experiment.SpecError{Field: "without", Value: fmt.Sprint(*in.Without), Rule: "cannot be combined with set", Next: "leave one out"}
	case in.Without != nil:
		return s.jobs.Ghost(c, in.Fork, *in.Without, c.by)
	}
	return s.jobs.Fork(c, in.Fork, in.Set, c.by)
}

// strictSpec is a spec of which no field is lost on the way.
type strictSpec struct{ experiment.Spec }

func (s *strictSpec) UnmarshalJSON(text []byte) error { return strictjson.Decode(text, &s.Spec) }

// runOrder asks to measure so much virtual time.
type runOrder struct {
	VirtualNS int64 `json:"virtual_ns"`
}

// traceOrder asks for so many transactions, or for one of a percentile.
type traceOrder struct {
	Txns       int      `json:"txns,omitempty"`
	Type       string   `json:"type,omitempty"`
	Percentile *float64 `json:"percentile,omitempty"`
}

// traced is the answer: a list, or the one that was picked.
type traced struct {
	list   []engine.TxnTrace
	picked *engine.Picked
}

func (t traced) MarshalJSON() ([]byte, error) {
	if t.picked != nil {
		return json.Marshal(t.picked)
	}
	return json.Marshal(t.list)
}

func (t *traced) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		return json.Unmarshal(text, &t.picked)
	}
	return json.Unmarshal(text, &t.list)
}

func (s *server) trace(c call, in traceOrder) (out traced, err error) {
	switch {
	case in.Percentile != nil && in.Txns != 0:
		return out, &experiment.SpecError{Field: "txns", Value: fmt.Sprint(in.Txns), Rule: "cannot be combined with percentile, which is for one transaction", Next: "drop one"}
	case in.Percentile != nil:
		out.picked, err = s.jobs.TraceOf(c, c.sys, agent.ChoiceOf(in.Type, *in.Percentile), nil)
		return out, err
	case in.Type != "":
		return out, &experiment.SpecError{Field: "percentile", Rule: "is missing beside type", Next: `send {"type": "` + words.Clip(in.Type) + `", "percentile": 99}`}
	}
	out.list, err = s.jobs.Trace(c, c.sys, in.Txns)
	return out, err
}

// nodesQuery asks for the inside of the machines: over the latest windows, or since the latest run began.
type nodesQuery struct{ Measured bool }

func (n *nodesQuery) params() Params     { return Params{OneOf("measured", "false", "true")} }
func (n *nodesQuery) read(q url.Values)  { n.Measured = q.Get("measured") == "true" }
func (n *nodesQuery) write(q url.Values) { q.Set("measured", fmt.Sprint(n.Measured)) }

// begunTask and begunTasks name long work that was begun.
type begunTask struct {
	Task string `json:"task"`
}

type begunTasks struct {
	Tasks []string `json:"tasks"`
}

// cancelled and cancelledTasks answer requests that cancel long work.
type cancelled struct {
	Cancelled bool `json:"cancelled"`
}

type cancelledTasks struct {
	Cancelled int `json:"cancelled"`
}

// taskQuery names a task as frames do.
type taskQuery struct{ Name string }

func (t *taskQuery) params() Params     { return Params{Text("name", 10*nameBytes)} }
func (t *taskQuery) read(q url.Values)  { t.Name = q.Get("name") }
func (t *taskQuery) write(q url.Values) { q.Set("name", t.Name) }

func (s *server) cancelTask(_ call, in taskQuery) (cancelled, error) {
	if !s.jobs.CancelTask(in.Name) {
		return cancelled{}, &httpError{http.StatusNotFound, "task " + words.Clip(in.Name) + " is not running, or cannot be cancelled"}
	}
	return cancelled{true}, nil
}

// twinOrder switches the standby twin.
type twinOrder struct {
	On *bool `json:"on"`
}

func (s *server) twin() *twin.Twin {
	if t := s.jobs.Twin(); t != nil {
		return t
	}
	return &twin.Twin{State: "none", Why: "no page is open"}
}

func (s *server) setTwin(_ call, in twinOrder) (*twin.Twin, error) {
	if in.On == nil {
		return nil, &experiment.SpecError{Field: "on", Rule: "is missing", Next: `send {"on": false} or {"on": true}`}
	}
	s.jobs.SetTwin(*in.On)
	return s.twin(), nil
}
