package cluster

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"

	"drtmx/engine"
)

// The trace as Chrome trace JSON, which Perfetto opens: machines are processes.
// Each coroutine has a track with its transactions, the attempts of those that
// aborted, and phases. Each RNIC has tracks for the requests that it sends, with
// their milestones within, and for those that it serves; each thread has one for
// the handlers of RPCs. Arrows join a phase and the requests that it posts, and a
// request and the machine that serves it.
//
// The simulator keeps how long a request was at each milestone, there and back
// together. So within a request the milestones follow each other in the order of
// the way there, and where an RNIC serves it is drawn between the halves of its
// time on the wire. Handlers are drawn where they ran.

// chromeEvent is one event of the format.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Ph    string         `json:"ph"`
	TS    micros         `json:"ts"`
	Dur   *micros        `json:"dur,omitempty"` // of slices
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"` // joins the ends of an arrow
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// micros is a time in picoseconds, written as the microseconds of the format.
type micros int64

func picoseconds(ns float64) micros { return micros(math.Round(1000 * ns)) }

// MarshalJSON writes all digits: slices that touch must do so in the file.
func (t micros) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(t/1e6), 10)
	return fmt.Appendf(b, ".%06d", t%1e6), nil
}

// Tracks of a machine, by kind. A kind has room for trackRoom of them.
const (
	coroutineTracks = iota
	handlerTracks
	sendTracks
	serveTracks
	trackRoom = 1 << 20
	lanesPer  = 1 << 16 // of an RNIC: requests that overlap lie on tracks of their own
)

// chrome builds the events of a trace.
type chrome struct {
	events []chromeEvent
	tracks map[[2]int]string   // by machine and track
	lanes  map[[3]int][]micros // by kind, machine and RNIC: when each is free again
	arrows int
}

// Chrome is the trace as Chrome trace JSON. Equal traces have equal bytes.
func (t *Trace) Chrome() ([]byte, error) {
	c := &chrome{tracks: map[[2]int]string{}, lanes: map[[3]int][]micros{}}
	type request struct {
		v   *engine.VerbTrace
		txn *engine.TxnTrace
	}
	var requests []request
	for i := range t.Raw {
		x := &t.Raw[i]
		c.transaction(x)
		for k := range x.Verbs {
			requests = append(requests, request{&x.Verbs[k], x})
		}
	}
	sort.SliceStable(requests, func(i, k int) bool { return requests[i].v.BeginNS < requests[k].v.BeginNS })
	for _, r := range requests {
		c.request(r.v, r.txn)
	}
	return json.Marshal(map[string]any{"traceEvents": append(c.names(), c.events...), "displayTimeUnit": "ns"})
}

// slice adds a span of time.
func (c *chrome) slice(cat, name string, pid, tid int, from, to micros, args map[string]any) {
	d := to - from
	c.events = append(c.events, chromeEvent{Name: name, Cat: cat, Ph: "X", TS: from, Dur: &d, PID: pid, TID: tid, Args: args})
}

func coroutineTrack(x *engine.TxnTrace) int { return coroutineTracks*trackRoom + x.Coroutine + 1 }

// transaction draws what a coroutine did.
func (c *chrome) transaction(x *engine.TxnTrace) {
	pid, tid := x.Machine, coroutineTrack(x)
	c.tracks[[2]int{pid, tid}] = fmt.Sprintf("thread %d coroutine %d", x.Thread, x.Coroutine)
	begin, end := picoseconds(x.BeginNS), picoseconds(x.EndNS)
	args := map[string]any{"outcome": x.Outcome, "attempts": x.Attempts}
	if x.Cut {
		args["cut"] = "it did more than a trace keeps"
	}
	c.slice("transaction", x.Type, pid, tid, begin, end, args)
	if len(x.AbortsNS) > 0 {
		c.attempts(x, pid, tid)
	}
	for _, p := range x.Phases {
		from, to := picoseconds(p.BeginNS), picoseconds(p.EndNS)
		if from < end && to > end { // the rest was not waited for
			c.slice("phase", p.Phase, pid, tid, from, end, nil)
			from = end
		}
		c.slice("phase", p.Phase, pid, tid, from, to, nil)
	}
}

// attempts draws those of a transaction that aborted: from a back-off's end to the
// next one.
func (c *chrome) attempts(x *engine.TxnTrace, pid, tid int) {
	n, from, end := 0, picoseconds(x.BeginNS), picoseconds(x.EndNS)
	attempt := func(to micros, outcome string) {
		n++
		c.slice("attempt", fmt.Sprintf("attempt %d", n), pid, tid, from, to, map[string]any{"outcome": outcome})
	}
	for _, p := range x.Phases {
		if p.Phase == "backoff" {
			at := picoseconds(p.BeginNS)
			attempt(at, "aborted")
			c.events = append(c.events, chromeEvent{Name: "abort", Cat: "abort", Ph: "i", Scope: "t", TS: at, PID: pid, TID: tid})
			from = picoseconds(p.EndNS)
		}
	}
	if from < end {
		attempt(end, x.Outcome)
	}
}

// request draws a request where it is sent and where it is served.
func (c *chrome) request(v *engine.VerbTrace, x *engine.TxnTrace) {
	begin, end := picoseconds(v.BeginNS), picoseconds(v.EndNS)
	tid := c.lane(sendTracks, v.From, v.FromNIC, begin, end, "sends")
	args := map[string]any{"bytes": v.Bytes, "phase": v.Phase, "coroutine": x.Coroutine, "type": x.Type}
	if v.Passive {
		args["passive"] = true
	}
	c.slice("verb", fmt.Sprintf("%s to %d", v.Verb, v.To), v.From, tid, begin, end, args)
	at := begin
	spent := map[string]micros{}
	for _, m := range v.Milestones {
		d := picoseconds(m.NS)
		spent[m.Milestone] = d
		c.slice("milestone", m.Milestone, v.From, tid, at, at+d, nil)
		at += d
	}
	for _, p := range x.Phases {
		if picoseconds(p.BeginNS) <= begin && begin < picoseconds(p.EndNS) {
			c.arrow("post", v.From, coroutineTrack(x), begin, v.From, tid, begin)
		}
	}
	name := fmt.Sprintf("%s from %d", v.Verb, v.From)
	switch {
	case v.Handler != nil:
		to := handlerTracks*trackRoom + v.Handler.Thread + 1
		c.tracks[[2]int{v.To, to}] = fmt.Sprintf("thread %d handlers", v.Handler.Thread)
		from := picoseconds(v.Handler.BeginNS)
		c.slice("handler", name, v.To, to, from, picoseconds(v.Handler.EndNS), map[string]any{"phase": v.Phase, "coroutine": x.Coroutine})
		c.arrow("request", v.From, tid, begin, v.To, to, from)
	case v.Verb != "rpc" && len(v.Milestones) > 0:
		from := begin + spent["post"] + spent["doorbell"] + spent["nic_send"] + spent["wire"]/2
		until := from + spent["nic_receive"] + spent["pcie"] + spent["memory"]
		to := c.lane(serveTracks, v.To, v.ToNIC, from, until, "serves")
		c.slice("served", name, v.To, to, from, until, map[string]any{"bytes": v.Bytes})
		c.arrow("request", v.From, tid, begin, v.To, to, from)
	}
}

// lane finds the first track of an RNIC that is free.
func (c *chrome) lane(kind, machine, nic int, from, to micros, does string) int {
	key := [3]int{kind, machine, nic}
	free := c.lanes[key]
	lane := 0
	for lane < len(free) && free[lane] > from {
		lane++
	}
	if lane == len(free) {
		free = append(free, 0)
	}
	free[lane] = to
	c.lanes[key] = free
	tid := kind*trackRoom + nic*lanesPer + lane + 1
	c.tracks[[2]int{machine, tid}] = fmt.Sprintf("RNIC %d %s", nic, does)
	return tid
}

// arrow joins a slice at a time and another at its begin.
func (c *chrome) arrow(name string, pid, tid int, at micros, toPID, toTID int, then micros) {
	c.arrows++
	c.events = append(c.events,
		chromeEvent{Name: name, Cat: name, Ph: "s", TS: at, PID: pid, TID: tid, ID: c.arrows},
		chromeEvent{Name: name, Cat: name, Ph: "f", Bind: "e", TS: max(at, then), PID: toPID, TID: toTID, ID: c.arrows})
}

// names are the events that name the tracks and put them in order.
func (c *chrome) names() []chromeEvent {
	var all [][2]int
	for k := range c.tracks { // order-free: sorted below
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b [2]int) int {
		if a[0] != b[0] {
			return a[0] - b[0]
		}
		return a[1] - b[1]
	})
	var out []chromeEvent
	meta := func(what string, pid, tid int, args map[string]any) {
		out = append(out, chromeEvent{Name: what, Ph: "M", PID: pid, TID: tid, Args: args})
	}
	last := -1
	for _, k := range all {
		if k[0] != last {
			last = k[0]
			meta("process_name", k[0], 0, map[string]any{"name": fmt.Sprintf("machine %d", k[0])})
			meta("process_sort_index", k[0], 0, map[string]any{"sort_index": k[0]})
		}
		meta("thread_name", k[0], k[1], map[string]any{"name": c.tracks[k]})
		meta("thread_sort_index", k[0], k[1], map[string]any{"sort_index": k[1]})
	}
	return out
}
