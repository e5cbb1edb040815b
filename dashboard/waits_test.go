package dashboard

import (
	"strings"
	"testing"

	"drtmx/engine"
)

// Requests wait at a part of a machine by the milestones that they spend there, those that it sends and those that it serves.
func TestWaitsAtAPart(t *testing.T) {
	m := func(name string, ns float64) engine.MilestoneTrace {
		return engine.MilestoneTrace{Milestone: name, NS: ns}
	}
	all := []*engine.Picked{
		{Txn: engine.TxnTrace{Type: "balance", Verbs: []engine.VerbTrace{
			{Verb: "READ", Phase: "ro_read", From: 0, To: 2, Bytes: 24, EndNS: 1000, Milestones: []engine.MilestoneTrace{m("nic_send", 100), m("nic_receive", 300), m("memory", 50), m("poll", 20)}},
			{Verb: "CAS", Phase: "lock", From: 0, To: 1, EndNS: 500, Milestones: []engine.MilestoneTrace{m("nic_receive", 200)}},
		}}},
		{Txn: engine.TxnTrace{Type: "deposit", Verbs: []engine.VerbTrace{{Verb: "rpc", Phase: "commit", From: 2, To: 0, EndNS: 2000, Milestones: []engine.MilestoneTrace{m("nic_receive", 900), m("handler_queue", 400)}}}}},
	}
	for _, c := range []struct {
		part string
		node int
		want []float64
	}{
		{"receive", 2, []float64{900, 300}}, {"receive", 1, []float64{200}}, {"atomics", 1, []float64{200}}, {"atomics", 2, nil}, {"memory", 2, []float64{50}}, {"memory", 0, nil}, {"cores", 0, []float64{400, 20}}, {"link", 0, nil},
	} {
		at, err := partOf(c.part)
		if err != nil {
			t.Fatal(err)
		}
		rows, passed := waitsAt(all, at, c.node)
		var got []float64
		for _, r := range rows {
			got = append(got, r.NS)
		}
		if passed != 3 || len(got) != len(c.want) || len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1]) {
			t.Errorf("%s of node %d: %v of %d, want %v", c.part, c.node, got, passed, c.want)
		}
	}
	at, _ := partOf("receive")
	if rows, _ := waitsAt(all, at, 2); rows[0].N != 2 || rows[1].Verb != 0 || rows[1].Text != "READ of 24 B from node 0 to node 2, phase ro read of balance" || rows[1].Share != 0.3 {
		t.Errorf("%+v", rows)
	}
	h := Handler(newFake(t))
	for url, code := range map[string]int{"/page/waits?sys=a&node=0&part=receive": 200, "/page/waits?sys=a&node=0&part=engine": 400, "/page/waits?sys=a&node=x&part=link": 400, "/page/waits?sys=z&node=0&part=link": 404, "/page/transaction/trace.json?sys=a": 400} {
		if w := get(t, h, url); w.Code != code {
			t.Errorf("%s: %d, want %d: %s", url, w.Code, code, strings.TrimSpace(w.Body.String()))
		}
	}
}
