package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"drtmx/cluster/words"
	"drtmx/dashboard/windows"
	"drtmx/engine"
	"drtmx/engine/experiment"
)

// part is a part of a machine at which requests wait: the milestones of their way that are spent there, by those that the machine
// sends and by those that are sent to it. Milestones are there and back together, so a pipeline has both.
type part struct {
	name         string
	sent, served []string
	verbs        []string // nil: all
}

// parts are those that the drawing of a machine names in data-part.
var parts = map[string]part{
	"send":     {"the send pipeline", []string{"nic_send"}, []string{"nic_send"}, nil},
	"receive":  {"the receive pipeline", []string{"nic_receive"}, []string{"nic_receive"}, nil},
	"atomics":  {"atomics", nil, []string{"nic_receive"}, []string{"CAS", "FAA"}},
	"contexts": {"the context fetches", []string{"nic_send", "nic_receive"}, []string{"nic_send", "nic_receive"}, nil},
	"link":     {"the link", []string{"wire"}, []string{"wire"}, nil},
	"pcie":     {"PCIe", []string{"doorbell", "completion"}, []string{"pcie"}, nil},
	"cores":    {"the cores", []string{"post", "poll"}, []string{"handler_queue", "handler"}, nil},
	"memory":   {"memory", nil, []string{"memory"}, nil},
}

func partOf(name string) (part, error) {
	p, ok := parts[name]
	if !ok {
		return p, &experiment.SpecError{Field: "part", Value: fmt.Sprintf("%.20s", name), Rule: "no such part of a machine", Next: "there is atomics, contexts, cores, link, memory, pcie, receive and send"}
	}
	return p, nil
}

// spent is how long a request was at a part of a machine.
func (p part) spent(v *engine.VerbTrace, node int) (ns float64) {
	if p.verbs != nil && !slices.Contains(p.verbs, v.Verb) {
		return 0
	}
	for _, m := range v.Milestones {
		if v.From == node && slices.Contains(p.sent, m.Milestone) || v.To == node && slices.Contains(p.served, m.Milestone) {
			ns += m.NS
		}
	}
	return ns
}

// waitRow is a request that waits at a part.
type waitRow struct {
	N     int     `json:"n"`    // its transaction, of those that were found
	Verb  int     `json:"verb"` // its place in it
	Text  string  `json:"text"`
	NS    float64 `json:"ns"`
	Share float64 `json:"share"` // of its time
}

// waitsShown is how many requests are listed, the longest first.
const waitsShown = 12

// waits lists the requests of the transactions that were followed by how long they were at ?part= of ?node=.
func (p *page) waits(w http.ResponseWriter, r *http.Request) {
	at, err := partOf(r.URL.Query().Get("part"))
	node, bad := strconv.Atoi(r.URL.Query().Get("node"))
	if err == nil && (bad != nil || node < 0) {
		err = fmt.Errorf("node = %q: must be the number of a machine, from 0", r.URL.Query().Get("node"))
	}
	if err != nil {
		fail(w, err)
		return
	}
	snap, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	all := p.looks.list(snap)
	rows, passed := waitsAt(all, at, node)
	out := struct {
		Words string    `json:"words"`
		Rows  []waitRow `json:"rows"`
	}{Rows: rows[:min(len(rows), waitsShown)]}
	out.Words = fmt.Sprintf("None of the %s that were followed waited at %s of node %d.", words.Counted(passed, "request"), at.name, node)
	if len(rows) > 0 {
		out.Words = fmt.Sprintf("%d of the %s that were followed were at %s of node %d, there and back together; the longest first.", len(rows), words.Counted(passed, "request"), at.name, node)
	}
	answer(w, out)
}

// waitsAt are the requests that were at a part of a machine, and how many there are in all.
func waitsAt(all []*engine.Picked, at part, node int) (rows []waitRow, passed int) {
	rows = []waitRow{}
	for n, x := range all {
		for i := range x.Txn.Verbs {
			v := &x.Txn.Verbs[i]
			passed++
			if ns := at.spent(v, node); ns > 0 {
				text := fmt.Sprintf("%s of %d B from node %d to node %d, phase %s of %s", v.Verb, v.Bytes, v.From, v.To, strings.ReplaceAll(v.Phase, "_", " "), x.Txn.Type)
				rows = append(rows, waitRow{n + 1, i, text, ns, ns / max(v.EndNS-v.BeginNS, 1)})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b waitRow) int { return cmp.Compare(b.NS, a.NS) })
	return rows, passed
}
