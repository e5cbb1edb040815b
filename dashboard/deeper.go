package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"drtmx/cluster"
	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/dashboard/charts/diagram"
	"drtmx/dashboard/windows"
	"drtmx/engine"
	"drtmx/engine/result"
)

// lookDeeper adds the routes of a transaction, the inside of a node, and the session as a page.
func (p *page) lookDeeper(mux *http.ServeMux) {
	mux.HandleFunc("GET /page/transaction", p.transaction)
	mux.HandleFunc("POST /page/transaction", p.look)
	mux.HandleFunc("DELETE /page/transaction", p.lookAway)
	mux.HandleFunc("GET /page/inside", p.inside)
	mux.HandleFunc("GET /page/session.html", p.sessionPage)
}

// looks are the transactions that pages ask for, one a system: the latest one that was found, and the
// search for the next.
type looks struct {
	mu  sync.Mutex
	all map[string]*look
}

// look is a search that goes on while pages come and go.
type look struct {
	epoch       string
	done, total int
	cancel      context.CancelFunc
	ended       bool
	failed      string
	found       *engine.Picked
	atNS        int64 // when it was found
}

// lookBody is what a page asks for.
type lookBody struct {
	Type       string  `json:"type"`
	Percentile float64 `json:"percentile"`
}

// look begins to look for a transaction, in place of the search before it.
func (p *page) look(w http.ResponseWriter, r *http.Request) {
	var b lookBody
	d := json.NewDecoder(io.LimitReader(r.Body, 1<<12))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		fail(w, errors.New(`body: not the JSON expected here; send {"type": "balance", "percentile": 99}`))
		return
	}
	snap, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	types, err := p.source.Types(r.Context(), snap.Sys)
	c := agent.ChoiceOf(b.Type, b.Percentile)
	if err == nil {
		err = engine.CheckChoice(c, types)
	}
	if err != nil {
		fail(w, err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // outlives the request; the agent ends it too
	l := p.looks.begin(snap, cancel)
	go p.looks.run(ctx, p.source, snap.Sys, c, l)
	answer(w, map[string]bool{"looking": true})
}

// begin replaces the search of a system. What was found last stays until there is something new.
func (x *looks) begin(s system.Snapshot, cancel context.CancelFunc) *look {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[string]*look{}
	}
	l := &look{epoch: s.Epoch, cancel: cancel}
	if was := x.all[s.Sys]; was != nil && was.epoch == s.Epoch {
		l.found, l.atNS = was.found, was.atNS
		was.cancel()
	}
	x.all[s.Sys] = l
	return l
}

func (x *looks) run(ctx context.Context, source Source, sys string, c engine.Choice, l *look) {
	defer l.cancel()
	progress := func(done, total int) {
		x.mu.Lock()
		l.done, l.total = done, total
		x.mu.Unlock()
	}
	var p *engine.Picked
	var err error
	for {
		p, err = source.TraceOf(ctx, sys, c, progress)
		if !errors.Is(err, engine.ErrTraced) || ctx.Err() != nil {
			break
		}
		time.Sleep(lookAgain) // the search that this one replaces takes a moment to end
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	l.ended = true
	switch {
	case err == nil:
		l.found, l.atNS = p, int64(p.Txn.EndNS)
	case !errors.Is(err, context.Canceled):
		l.failed = err.Error()
	}
}

// lookAgain is how long to wait for another search to end.
const lookAgain = 20 * time.Millisecond

// lookAway ends a search.
func (p *page) lookAway(w http.ResponseWriter, r *http.Request) {
	p.looks.mu.Lock()
	if l := p.looks.all[sysOf(r)]; l != nil {
		l.cancel()
	}
	p.looks.mu.Unlock()
	answer(w, map[string]bool{"looking": false})
}

// Transaction is what the page shows of a traced transaction.
type Transaction struct {
	Types   []string `json:"types"`
	Looking bool     `json:"looking"`
	Done    int      `json:"done"`
	Total   int      `json:"total"`
	Failed  string   `json:"failed,omitempty"`
	Words   string   `json:"words,omitempty"`
	SVG     string   `json:"svg,omitempty"`
	Text    string   `json:"text,omitempty"`
}

// transaction answers with the transaction that was found last, drawn for ?w= pixels and ?zoom= times as wide, and with how
// far the search for the next one is.
func (p *page) transaction(w http.ResponseWriter, r *http.Request) {
	snap, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	types, err := p.source.Types(r.Context(), snap.Sys)
	if err != nil {
		fail(w, err)
		return
	}
	out := Transaction{Types: types}
	p.looks.mu.Lock()
	var found *engine.Picked
	if l := p.looks.all[snap.Sys]; l != nil && l.epoch == snap.Epoch {
		out.Looking, out.Done, out.Total, out.Failed, found = !l.ended, l.done, l.total, l.failed, l.found
	}
	p.looks.mu.Unlock()
	zoom, _ := strconv.Atoi(r.URL.Query().Get("zoom")) // 0 is once
	if found != nil && r.URL.Query().Get("draw") != "" {
		t := &cluster.Trace{Raw: []engine.TxnTrace{found.Txn}, Picked: found}
		out.Words, out.Text = t.Words(), t.String()
		out.SVG = diagram.Timeline(&found.Txn, diagram.Options{Width: sizeOf(r).Width, Zoom: zoom, Bare: true})
	}
	answer(w, out)
}

// Drawing is a picture of a system's machine.
type Drawing struct {
	Sys   string `json:"sys"`
	Words string `json:"words"`
	SVG   string `json:"svg"`
}

// inside draws a machine of ?sys=, and beside it the same of ?beside=, on one scale.
func (p *page) inside(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	number, err := strconv.Atoi(q.Get("node"))
	if err != nil || number < 0 {
		fail(w, fmt.Errorf("node = %q: must be the number of a machine, from 0", q.Get("node")))
		return
	}
	names := []string{sysOf(r)}
	if b := q.Get("beside"); b != "" && b != names[0] {
		names = append(names, b)
	}
	out := struct {
		Nodes    int       `json:"nodes"`
		Drawings []Drawing `json:"drawings"`
	}{Drawings: []Drawing{}}
	var nodes []*result.NodeInside
	var of []string
	for i, sys := range names {
		all, err := p.source.Inside(r.Context(), sys, false)
		if err != nil {
			if i == 0 {
				fail(w, err)
				return
			}
			continue // closed since
		}
		if i == 0 {
			out.Nodes = len(all)
		}
		if number < len(all) {
			nodes, of = append(nodes, &all[number]), append(of, sys)
		}
	}
	widest := diagram.Widest(nodes...)
	for i, n := range nodes {
		o := diagram.NodeOptions{Options: diagram.Options{Width: sizeOf(r).Width, Bare: true}, Title: fmt.Sprintf("System %s, node %d", of[i], number), Widest: widest}
		out.Drawings = append(out.Drawings, Drawing{of[i], diagram.Saturated(n), diagram.Node(n, o)})
	}
	answer(w, out)
}
