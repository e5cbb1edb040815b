package tsmicro

import (
	"drtmx/dst/oracle"
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds are the micro-benchmarks in the list of parts.
var Kinds = []workload.Kind{
	kind(Spin, "transactions that only spin (figure 5-6b)", "workload.spin_ns"),
	kind(Read, "read-only transactions of ten records (figure 5-6c)", "workload.tuples", "workload.local", "workload.keys", "workload.value_bytes"),
	kind(Block, "readers against writers of the same records (figure 5-15a)", "workload.tuples", "workload.local", "workload.value_bytes"),
	kind(Update, "ten records read or written (figure 5-15b)", "workload.tuples", "workload.read_share", "workload.local", "workload.keys", "workload.value_bytes"),
	asking,
}

func kind(l Load, doc string, knobs ...string) workload.Kind {
	types := typesOf(l)
	return workload.Kind{
		Load:       testbed.Load{Name: loadNames[l], Transactions: true, ReadOnly: types[0].ReadOnly, LocalLocks: func(v knob.Values) int { return localLocks(l, v) }},
		Doc:        doc,
		Rows:       rows(),
		Knobs:      append(knobs, "workload.scale"),
		Rules:      []func(knob.Values) error{func(v knob.Values) error { return validTuples(l, v) }},
		Population: map[bool]string{true: "workload.keys", false: ""}[l == Read || l == Update],
		Footprint: func(v knob.Values) workload.Footprint {
			taken, updated := tuplesOf(l, v)
			f := workload.Records{
				Count: int64(keysOf(l, v)), Bytes: v.Int("workload.value_bytes"), Fixed: true,
				Accessed: taken, Updated: updated, Local: localLocks(l, v),
			}.Footprint(v)
			if taken > 0 {
				f.PerSecond = 1e9 / (readNS*taken + updateNS*updated)
			}
			return f
		},
		Build: func(v knob.Values) (workload.Bench, error) {
			return New(Options{Load: l, SpinNS: v.Int("workload.spin_ns"), Tuples: v.Int("workload.tuples"), ValueBytes: v.Int("workload.value_bytes"),
				Keys: uint64(workload.Scaled(v, "workload.keys")), Local: v.Int("workload.local"), ReadShare: v.Int("workload.read_share"), Coroutines: v.Int("coroutines"), Seed: testbed.Seed(v)})
		},
	}
}

// keysOf is how many records there are.
func keysOf(l Load, v knob.Values) int {
	switch l {
	case Spin:
		return 1
	case Block:
		_, threads, _ := testbed.ThreadCounts(v)
		_, servers := testbed.Machines(v)
		return int(blockKeys(uint64(threads), uint64(servers), v.Int("coroutines")*v.Int("workload.tuples")))
	}
	return workload.Scaled(v, "workload.keys")
}

// What a record takes of a thread's time, and what more if it is updated. Measured with DST over RDMA, three machines of four threads
// with eight coroutines: a transaction of ts-read takes 6.1 us, one of ts-update 23 us.
const (
	readNS   = 610
	updateNS = 1700
)

// tuplesOf is how many records a transaction takes and updates on average.
func tuplesOf(l Load, v knob.Values) (taken, updated float64) {
	n := float64(v.Int("workload.tuples"))
	switch l {
	case Read:
		return n, 0
	case Block:
		return n, n / 2 // one of two reads
	case Update:
		return n, n * float64(100-v.Int("workload.read_share")) / 100
	}
	return 0, 0
}

// localLocks is the share of locks on the own machine.
func localLocks(l Load, v knob.Values) int {
	if l == Spin || testbed.Asymmetric(v) || v.Int("nodes") == 1 {
		return workload.Anywhere(v)
	}
	return v.Int("workload.local")
}

// validTuples wants as many records as a transaction takes.
func validTuples(l Load, v knob.Values) error {
	if n, keys := v.Int("workload.tuples"), workload.Scaled(v, "workload.keys"); (l == Read || l == Update) && n > keys {
		return workload.TooFew(v, "workload.keys", n, "a transaction takes %d different records, there are %d", n, keys)
	}
	return nil
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Group = knob.Workload
		return knob.Row{Knob: k}
	}
	return []knob.Row{
		row(knob.Knob{Name: "workload.spin_ns", Kind: knob.Duration, Default: 50_000, Min: 0, Max: 10_000_000, Unit: "ns", Label: "Time that a transaction spins", Section: "5.1.3", Live: true,
			Doc: "What a transaction of ts-spin takes of its core. Read-write ones take about 50 µs in TPC-C, and 470 to 1,400 µs in TPC-E."}),
		row(knob.Knob{Name: "workload.tuples", Kind: knob.Int, Default: 10, Min: 1, Max: MostTuples, Label: "Records of a transaction", Section: "5.1.3",
			Doc: "Number of distinct records that a transaction accesses."}),
		row(knob.Knob{Name: "workload.local", Kind: knob.Int, Default: 90, Min: 0, Max: 100, Unit: "%", Label: "Local records", Section: "5.1.3", Live: true,
			Doc: "Share of the records that are on the client's own machine. Without effect for clients that hold no data."}),
		row(knob.Knob{Name: "workload.read_share", Kind: knob.Int, Default: 0, Min: 0, Max: 100, Unit: "%", Label: "Records that are only read", Section: "5.5.4", Live: true,
			Doc: "Share of a read-write transaction's records that it only reads."}),
	}
}

// asking is the workload of requests to a timestamp oracle.
var asking = workload.Kind{
	Load: testbed.Load{Name: OracleName},
	Doc:  "requests to a timestamp oracle (figure 5-6a)",
	Rows: []knob.Row{
		{Knob: knob.Knob{Name: "workload.oracle", Kind: knob.Choice, Default: oracle.GTS.Name, Choices: []string{oracle.GTS.Name, oracle.VTS.Name}, Label: "Timestamp oracle", Section: "5.1.3", Group: knob.Workload,
			Doc: "Timestamps that are requested, without any optimisation: global (gts) or vector (vts)."}},
		{Knob: knob.Knob{Name: "workload.oracle_op", Kind: knob.Choice, Default: opNames[Install], Choices: OpNames(), Label: "Request to the oracle", Section: "5.1.3", Group: knob.Workload,
			Doc: "network: what a read-write transaction asks, to draw a number and to install it, gts by two round trips and vts by one. network-point: the stable timestamp. Without a message, by the threads of each machine on an oracle of its own: count: a number without stable timestamps; install: with them; point: the stable timestamp."}},
	},
	Knobs: []string{"workload.oracle", "workload.oracle_op"},
	Rules: []func(knob.Values) error{validPlace},
	Footprint: func(v knob.Values) workload.Footprint {
		f := workload.RawFootprint(1<<20, 0)
		if opOf(v).Alone() {
			f.Calls = 0
		}
		return f
	},
	Requests: func(v knob.Values) workload.Requests {
		return workload.Requests{TwoSided: true, Silent: opOf(v).Alone()}
	},
	Build: func(v knob.Values) (workload.Bench, error) {
		return NewOracle(OracleOptions{Scheme: v.Text("workload.oracle"), Op: opOf(v)})
	},
}

func opOf(v knob.Values) Op {
	op, err := ParseOp(v.Text("workload.oracle_op"))
	if err != nil {
		panic("tsmicro: resolved " + err.Error())
	}
	return op
}

// validPlace wants an oracle to ask.
func validPlace(v knob.Values) error {
	if opOf(v).Alone() || v.Bool("oracle") {
		return nil
	}
	return knob.Invalid("workload.oracle_op", v.Text("workload.oracle_op"), "set oracle=true, or workload.oracle_op=install", "there is no machine for the timestamp oracle")
}
