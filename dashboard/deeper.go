package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
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
	mux.HandleFunc("GET /page/transaction/trace.json", p.perfetto)
	mux.HandleFunc("GET /page/waits", p.waits)
	mux.HandleFunc("POST /page/transaction", p.look)
	mux.HandleFunc("DELETE /page/transaction", p.lookAway)
	mux.HandleFunc("GET /page/inside", p.inside)
	mux.HandleFunc("GET /page/session.html", p.sessionPage)
}

// looks are the transactions that pages ask for, by system: those that were found, and the search for the next.
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
	found       []*engine.Picked // the oldest first
}

// looksKept is how many transactions of a system can be gone back to.
const looksKept = 40

// lookBody is what a page asks for.
type lookBody struct {
	Type       string  `json:"type"`
	Percentile float64 `json:"percentile"`
	Node       int     `json:"node"` // with Part: a machine; several transactions are looked for, whatever their type
	Part       string  `json:"part"` // of it, at which requests wait
}

// choices are the transactions to look for.
func (b *lookBody) choices() (out []engine.Choice) {
	if b.Part == "" {
		return []engine.Choice{agent.ChoiceOf(b.Type, b.Percentile)}
	}
	for i := range looksForWaits {
		out = append(out, agent.ChoiceOf("", []float64{50, 75, 90}[i%3]))
	}
	return out
}

// looksForWaits is how many transactions are followed to see which requests wait somewhere.
const looksForWaits = 9

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
	choices := b.choices()
	if err == nil {
		err = engine.CheckChoice(choices[0], types)
	}
	if b.Part != "" && err == nil {
		_, err = partOf(b.Part)
	}
	if err != nil {
		fail(w, err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background()) // outlives the request; the agent ends it too
	l := p.looks.begin(snap, cancel)
	go p.looks.run(ctx, p.source, snap.Sys, choices, l)
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
		l.found = was.found
		was.cancel()
	}
	x.all[s.Sys] = l
	return l
}

func (x *looks) run(ctx context.Context, source Source, sys string, choices []engine.Choice, l *look) {
	defer l.cancel()
	var err error
	for i, c := range choices {
		var p *engine.Picked
		p, err = pick(ctx, source, sys, c, func(done, total int) {
			x.mu.Lock()
			l.done, l.total = i*total+done, len(choices)*total
			x.mu.Unlock()
		})
		if err != nil {
			break
		}
		x.mu.Lock()
		l.found = append(slices.Clone(l.found[max(0, len(l.found)+1-looksKept):]), p) // others read the list that was
		x.mu.Unlock()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	l.ended = true
	if err != nil && !errors.Is(err, context.Canceled) {
		l.failed = err.Error()
	}
}

// pick finds one transaction. It waits for the search that this one replaces, which takes a moment to end.
func pick(ctx context.Context, source Source, sys string, c engine.Choice, progress func(done, total int)) (*engine.Picked, error) {
	for {
		p, err := source.TraceOf(ctx, sys, c, progress)
		if !errors.Is(err, engine.ErrTraced) || ctx.Err() != nil {
			return p, err
		}
		time.Sleep(lookAgain)
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
	N       int      `json:"n"`     // which of those that were found, from 1; 0: none is
	Count   int      `json:"count"` // of those
	Words   string   `json:"words,omitempty"`
	SVG     string   `json:"svg,omitempty"`
	Text    string   `json:"text,omitempty"`
}

// transaction answers with the transaction that was found last, or with ?n= the n-th, drawn for ?w= pixels and ?zoom= times as
// wide, and with how far the search for the next one is.
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
	if l := p.looks.all[snap.Sys]; l != nil && l.epoch == snap.Epoch {
		out.Looking, out.Done, out.Total, out.Failed, out.Count = !l.ended, l.done, l.total, l.failed, len(l.found)
	}
	p.looks.mu.Unlock()
	found := p.looks.nth(snap, r)
	if found != nil {
		out.N = numberOf(r, out.Count)
	}
	zoom, _ := strconv.Atoi(r.URL.Query().Get("zoom")) // 0 is once
	if found != nil && r.URL.Query().Get("draw") != "" {
		t := &cluster.Trace{Raw: []engine.TxnTrace{found.Txn}, Picked: found}
		out.Words, out.Text = t.Words(), t.String()
		out.SVG = diagram.Timeline(&found.Txn, diagram.Options{Width: sizeOf(r).Width, Zoom: zoom, Bare: true})
	}
	answer(w, out)
}

// numberOf is the number that a request names of so many, the last where it names none of them.
func numberOf(r *http.Request, of int) int {
	if n, err := strconv.Atoi(r.URL.Query().Get("n")); err == nil && n >= 1 && n <= of {
		return n
	}
	return of
}

// nth is the transaction that a request names, nil if none was found.
func (x *looks) nth(s system.Snapshot, r *http.Request) *engine.Picked {
	all := x.list(s)
	if len(all) == 0 {
		return nil
	}
	return all[numberOf(r, len(all))-1]
}

// list are the transactions that were found in a system since it began.
func (x *looks) list(s system.Snapshot) []*engine.Picked {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.all[s.Sys]; l != nil && l.epoch == s.Epoch {
		return l.found
	}
	return nil
}

// perfetto is a transaction as the file that Perfetto opens.
func (p *page) perfetto(w http.ResponseWriter, r *http.Request) {
	snap, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	found := p.looks.nth(snap, r)
	if found == nil {
		fail(w, errors.New("trace: no transaction was looked for since the system began; Trace one finds one"))
		return
	}
	b, err := (&cluster.Trace{Raw: []engine.TxnTrace{found.Txn}, Picked: found}).Chrome()
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="transaction.json"`)
	w.Header().Set("Cache-Control", "no-store")
	w.Write(b)
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
