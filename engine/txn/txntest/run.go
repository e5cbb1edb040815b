// Package txntest runs a protocol on a small cluster: a given body, or random transactions which it holds against a
// map. Only tests import it.
package txntest

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/kv"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication/redo"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/txn"
)

// Machines are those of the cluster. All have data; the coroutine that runs is on machine 0.
const Machines = 3

// failing is what a test fails by: testing.TB, or rapid's.
type failing interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// Run runs body on one coroutine with a table, and returns what the checkers find when it has ended: of the history, of
// replicas, locks and rows. The store is DrTM-KV and the logs are rings, if the options name none.
func Run(t failing, frame r2.Config, o txn.Options, spec store.Spec, parts store.Partition, body func(c *r2.Co, cl *txn.Client)) (bad []string) {
	t.Helper()
	profile, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	s := sim.New(sim.Options{Seed: 1})
	f, err := fabric.New(s, fabric.Config{Profile: profile, Machines: Machines})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer s.Close()
	cl, err := r2.New(s, f, frame)
	if err != nil {
		t.Fatal(err)
	}
	if o.Store == nil {
		o.Store = kv.Kind
	}
	if o.Log.Kind.Open == nil {
		o.Log.Kind = redo.Kind
	}
	rec := history.New(history.Options{Initial: record.InitialSeq})
	o.Recorder, o.Log.Check = rec, true
	db, err := txn.Open(cl, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddTable(spec, parts); err != nil {
		t.Fatal(err)
	}
	done := false
	cl.Spawn(0, 0, func(c *r2.Co) {
		body(c, db.Client(c))
		done = true
	})
	for !done {
		if err := s.Run(s.Now() + sim.Millisecond); err != nil {
			t.Fatal(err)
		}
		if s.Now() > sim.Second {
			t.Fatal("does not end")
		}
	}
	if err := s.Run(s.Now() + sim.Millisecond); err != nil {
		t.Fatal(err)
	}
	if n := db.InFlight(); n != 0 {
		bad = append(bad, fmt.Sprintf("%d in flight at the end", n))
	}
	sound := db.CheckReplicas()
	for _, a := range rec.Finish().Anomalies {
		bad = append(bad, a.Kind+": "+a.Text)
	}
	if !sound && len(bad) == 0 {
		bad = append(bad, "replicas differ, locks are left, or rows are not what they should be")
	}
	return bad
}
