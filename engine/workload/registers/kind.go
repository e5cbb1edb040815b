package registers

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
)

// Kinds is the workload in the list of parts: it shows what a wrong protocol does.
var Kinds = []workload.Kind{{
	Load:       testbed.Load{Name: "registers", Transactions: true, ReadOnly: true, Pieces: true, Declares: testbed.AllDeclared, LocalLocks: localLocks},
	Doc:        "reads and writes of random registers, to verify protocols",
	Rows:       rows(),
	Knobs:      []string{"workload.keys", "workload.value_bytes", "workload.theta", "workload.reads", "workload.writes", "workload.remote.register", "workload.scale"},
	Defaults:   map[string]any{"workload.keys": 4000, "workload.value_bytes": 24},
	Mix:        []workload.MixType{{Name: TypeNames[0], Weight: Weights[0]}, {Name: TypeNames[1], Weight: Weights[1]}, {Name: TypeNames[2], Weight: Weights[2]}},
	Rules:      []func(knob.Values) error{valid},
	Population: "workload.keys",
	Footprint: func(v knob.Values) workload.Footprint {
		return workload.SmallRecords(v, int64(workload.Scaled(v, "workload.keys")), v.Int("workload.value_bytes"))
	},
	Build: func(v knob.Values) (workload.Bench, error) { return New(optionsOf(v)) },
}}

func optionsOf(v knob.Values) Options {
	return Options{
		Keys: uint64(workload.Scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), Reads: v.Int("workload.reads"), Writes: v.Int("workload.writes"),
		Theta: v.Float("workload.theta"), Remote: v.Int("workload.remote.register"), Seed: testbed.Seed(v),
	}
}

// localLocks is the share of locks on the own machine.
func localLocks(v knob.Values) int {
	remote := v.Int("workload.remote.register")
	if remote == Anywhere || testbed.Asymmetric(v) || v.Int("nodes") == 1 {
		return workload.Anywhere(v)
	}
	return 100 - remote/10
}

// mostRegisters bounds them: the workload keeps a count of each.
const mostRegisters = 100_000_000

// valid holds the rules of how many registers a transaction can take.
func valid(v knob.Values) error {
	reads, writes, keys, bytes := v.Int("workload.reads"), v.Int("workload.writes"), workload.Scaled(v, "workload.keys"), v.Int("workload.value_bytes")
	most := MostWritesOf(bytes)
	switch {
	case reads+writes == 0:
		return knob.Invalid("workload.reads", reads, "set workload.reads or workload.writes to 1 or more", "a transaction has to take at least one register")
	case reads+writes > keys:
		return workload.TooFew(v, "workload.keys", reads+writes, "a transaction takes %d different registers, there are %d", reads+writes, keys)
	case keys > mostRegisters:
		return workload.TooMany(v, "workload.keys", mostRegisters, "registers keeps a count of each of its keys")
	case writes > most:
		return knob.Invalid("workload.writes", writes, fmt.Sprintf("set workload.writes=%d or fewer, or a smaller workload.value_bytes", most), "the log entry of so many registers of %d bytes does not fit into a message", bytes)
	}
	return nil
}

func rows() []knob.Row {
	row := func(k knob.Knob) knob.Row {
		k.Kind, k.Group = knob.Int, knob.Workload
		return knob.Row{Knob: k}
	}
	return []knob.Row{
		row(knob.Knob{Name: "workload.reads", Default: 3, Min: 0, Max: MostReads, Label: "Reads per transaction",
			Doc: "Random registers that a read-write transaction only reads. A read-only one reads as many as workload.reads and workload.writes together. 0 with 1 write or more: write skew cannot happen."}),
		row(knob.Knob{Name: "workload.writes", Default: 2, Min: 0, Max: MostWrites, Label: "Writes per transaction",
			Doc: "Other random registers that a read-write transaction reads and writes."}),
		row(knob.Knob{Name: "workload.remote.register", Default: Anywhere, Min: Anywhere, Max: 1000, Unit: "per mille", Label: "Remote registers", Live: true,
			Doc: "Share of the registers that a transaction draws from machines other than its client's. -1: from all machines alike. Without effect for clients that hold no data."}),
	}
}
