package ycsb

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: "ycsb", Transactions: true, ReadOnly: true, Declares: testbed.AllDeclared, LocalLocks: localLocks},
	Doc:  "transactions of ten reads and updates of 1 KB records",
	Rows: rows(),
	Knobs: []string{"workload.keys", "workload.value_bytes", "workload.field_bytes", "workload.ops", "workload.write_share", "workload.theta", "workload.distributed",
		"workload.nodes_per_txn", "workload.scale"},
	Defaults:   map[string]any{"workload.value_bytes": 1024, "workload.theta": 0.6},
	Rules:      []func(knob.Values) error{valid},
	Population: "workload.keys",
	Footprint:  footprint,
	Build:      func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v)) },
}}

func optionsOf(v knob.Values) Options {
	return Options{
		Keys: uint64(workload.Scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), FieldBytes: fieldBytes(v), Ops: v.Int("workload.ops"),
		WriteShare: v.Float("workload.write_share"), Theta: v.Float("workload.theta"), Nodes: v.Int("workload.nodes_per_txn"), Distributed: v.Float("workload.distributed"),
		Seed: testbed.Seed(v),
	}
}

// fieldBytes is what an update writes: records that are shorter than a field are written whole.
func fieldBytes(v knob.Values) int {
	return min(v.Int("workload.field_bytes"), v.Int("workload.value_bytes"))
}

// localLocks is the share of locks on the own machine.
func localLocks(v knob.Values) int {
	n := v.Int("workload.nodes_per_txn")
	if n == 0 || testbed.Asymmetric(v) {
		return workload.Anywhere(v)
	}
	far := float64(100 * v.Float("workload.distributed"))
	return int(100 - far + far/float64(n))
}

// mostRecords bounds them: the workload keeps a count of each.
const mostRecords = 100_000_000

// valid holds the rules of which records a transaction can take.
func valid(v knob.Values) error {
	_, servers := testbed.Machines(v)
	ops, keys, n := v.Int("workload.ops"), workload.Scaled(v, "workload.keys"), v.Int("workload.nodes_per_txn")
	least, on := ops, ""
	if n > 0 {
		least, on = ops*servers, " of one machine"
	}
	most := MostOpsOf(fieldBytes(v))
	switch {
	case keys < least:
		return workload.TooFew(v, "workload.keys", least, "a transaction takes %d different records%s, there are %d", ops, on, keys)
	case keys > mostRecords:
		return workload.TooMany(v, "workload.keys", mostRecords, "ycsb keeps a count of each of its records")
	case n > servers:
		return knob.Invalid("workload.nodes_per_txn", n, fmt.Sprintf("set workload.nodes_per_txn=%d or fewer", servers), "more than the %d machines that hold data", servers)
	case n > ops:
		return knob.Invalid("workload.nodes_per_txn", n, fmt.Sprintf("set workload.nodes_per_txn=%d or fewer, or more workload.ops", ops), "a transaction has %d operations", ops)
	case ops > most:
		return knob.Invalid("workload.ops", ops, fmt.Sprintf("set workload.ops=%d or fewer, or a smaller workload.field_bytes", most), "the log entry of so many updates of %d bytes does not fit into a message", fieldBytes(v))
	}
	return nil
}

// footprint is what the records and the counts of them need. What a commit takes was measured with 4 and 8 machines.
func footprint(v knob.Values) workload.Footprint {
	const count = 8
	ops := float64(v.Int("workload.ops"))
	r := workload.Records{
		Count: int64(workload.Scaled(v, "workload.keys")), Bytes: v.Int("workload.value_bytes"), Written: fieldBytes(v), Fixed: true,
		Accessed: ops, Updated: ops * v.Float("workload.write_share"), Local: localLocks(v),
	}
	f := r.Footprint(v)
	f.Bytes += count * r.Count
	f.PerSecond, f.PerWallMS = 90_000, 5
	return f
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group = knob.Workload
		return knob.Row{Knob: k}
	}
	distributed := row(knob.Knob{Name: "workload.distributed", Kind: knob.Float, Default: 1.0, Min: 0.0, Max: 1.0, Unit: "share", Label: "Distributed transactions", Live: true,
		Doc: "Share of the transactions that go to several machines: with ycsb to workload.nodes_per_txn of them, with smallbank to those of any two accounts. The others go to one, the client's own if it holds data."})
	distributed.Inactive = func(v knob.Values) string {
		if v.Text("workload") != "ycsb" || v.Int("workload.nodes_per_txn") > 0 {
			return ""
		}
		return "workload.nodes_per_txn is 0: records come from all machines alike"
	}
	machines := row(knob.Knob{Name: "workload.nodes_per_txn", Kind: knob.Int, Default: 0, Min: 0, Max: MostOps, Label: "Machines per transaction", Live: true,
		Doc: "Machines whose records a distributed transaction takes, the client's own among them if it holds data. 0: each record comes from any machine."})
	machines.Most = func(v knob.Values) any {
		_, servers := testbed.Machines(v)
		return min(servers, v.Int("workload.ops"))
	}
	return []knob.Row{
		row(knob.Knob{Name: "workload.ops", Kind: knob.Int, Default: 10, Min: 1, Max: MostOps, Label: "Operations per transaction",
			Doc: "Each reads or updates another record, one after the other in the order drawn."}),
		row(knob.Knob{Name: "workload.write_share", Kind: knob.Float, Default: 0.5, Min: 0.0, Max: 1.0, Unit: "share", Label: "Write share", Live: true,
			Doc: "Share of the operations that update their record; the others read it. YCSB-A has 0.5, YCSB-B 0.05. A transaction without an update runs as read-only."}),
		row(knob.Knob{Name: "workload.field_bytes", Kind: knob.Bytes, Default: 100, Min: 8, Max: 1024, Unit: "bytes", Label: "Field size",
			Doc: "Bytes of the field that an update writes, logs and replicates, at most the record's. Reads take the whole record."}),
		distributed, machines,
	}
}
