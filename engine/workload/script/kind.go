package script

import (
	"fmt"
	"slices"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: "script", Transactions: true, ReadOnly: true, Pieces: true, Unpieced: unpieced, Inserts: func(v knob.Values) bool { return slices.ContainsFunc(clientsOf(v), grows) },
		Declares: declares, LocalLocks: workload.Anywhere,
		IgnoresAborts: func(v knob.Values) bool { return v.Text("workload.variant") == "as-published" }},
	Doc:      "a few written transactions, for drtmx explore",
	Rows:     rows(),
	Knobs:    []string{"workload.keys", "workload.value_bytes", "workload.scale", "workload.script", "workload.variant"},
	Defaults: map[string]any{"workload.keys": 8, "workload.value_bytes": 24},
	Rules:    []func(knob.Values) error{valid},
	Empty:    []workload.Empty{{When: "each of its records is missing, or there where it inserts"}},

	Population: "workload.keys",
	Footprint: func(v knob.Values) workload.Footprint {
		f := workload.SmallRecords(v, int64(workload.Scaled(v, "workload.keys")), v.Int("workload.value_bytes"))
		f.PerSecond = 0
		return f
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{Script: v.Text("workload.script"), Keys: uint64(workload.Scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), Seed: testbed.Seed(v)})
	},
}}

// unpieced says what a read-write transaction has that is no piece: a record that is not there from the start, or one that depends on
// what it finds. Inserts and deletes run whole on a server, so all records of their transaction are there.
func unpieced(v knob.Values) string {
	keys := uint64(workload.Scaled(v, "workload.keys"))
	_, servers := testbed.Machines(v)
	clients := clientsOf(v)
	for c, list := range clients {
		for n, t := range list {
			if t.readOnly() {
				continue
			}
			for _, o := range t {
				switch {
				case o.follows():
					return fmt.Sprintf("step %v of workload.script depends on what a read-write transaction finds", o)
				case t.inPieces() && o.key >= keys:
					return fmt.Sprintf("step %v of workload.script is of a record that is not there: they are numbered 0 to %d", o, keys-1)
				case t.inPieces() && mayBeGone(clients, c, n, o.key):
					return fmt.Sprintf("step %v of workload.script is of a record that another transaction deletes", o)
				case !t.inPieces() && o.key%uint64(servers) != t[0].key%uint64(servers):
					return fmt.Sprintf("transaction %v of workload.script inserts or deletes a record, and has records of several servers", t)
				}
			}
		}
	}
	return ""
}

// declares says which step's record depends on what another one finds.
func declares(v knob.Values) (whyNot string) {
	for _, list := range clientsOf(v) {
		for _, t := range list {
			if i := slices.IndexFunc(t, op.follows); i >= 0 {
				return fmt.Sprintf("step %v of workload.script depends on what a transaction finds", t[i])
			}
		}
	}
	return ""
}

// mayBeGone says that a record may be deleted when the n-th transaction of a client runs: by one of another client, or one before it.
func mayBeGone(clients [][]transaction, client, n int, key uint64) bool {
	for c, list := range clients {
		if c == client {
			list = list[:n]
		}
		if slices.ContainsFunc(list, func(t transaction) bool { return slices.Contains(t, op{'d', key}) }) {
			return true
		}
	}
	return false
}

// clientsOf is the script of resolved values.
func clientsOf(v knob.Values) [][]transaction {
	list, err := parse(v.Text("workload.script"))
	if err != nil {
		panic("script: resolved workload.script: " + err.Error())
	}
	return list
}

func valid(v knob.Values) error {
	if n := v.Int("workload.keys"); n > MostKeys {
		return knob.Invalid("workload.keys", n, "set workload.keys=8, or another workload", "a script names keys below %d", MostKeys)
	}
	list := clientsOf(v)
	if _, threads, _ := testbed.ThreadCounts(v); len(list) > threads*testbed.Coroutines(v) {
		return knob.Invalid("workload.script", v.Text("workload.script"), "write fewer, or set nodes, threads or coroutines higher", "of %d clients, and there are %d", len(list), threads*testbed.Coroutines(v))
	}
	return nil
}

func rows() []knob.Row {
	return []knob.Row{{Knob: knob.Knob{Name: "workload.script", Kind: knob.Text, Default: "w0 r1; w1 r0; r0 r1", Unit: "r1 w0; r0 w1; ...", Label: "Script", Group: knob.Workload,
		Doc: "Transactions, each of steps on numbered records: r1 reads record 1, w1 adds one to it, i1 inserts it, d1 deletes it, f1 reads it and then the record as many further on as its value says, a1 announces it and does not wait. Those below workload.keys, scaled, exist at the start. What stands between semicolons runs on a client of its own, once: one transaction, or with | several, one after the other."}, Normal: normal}}
}
