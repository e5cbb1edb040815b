package engine

import (
	"fmt"

	"drtmx/engine/knob"

	"drtmx/engine/workload"
	"drtmx/engine/workload/registers"
)

// registersKind is the workload that shows what a wrong protocol does.
var registersKind = workloadKind{
	name: "registers", doc: "transactions that read some random registers and write others, so that a wrong protocol shows write skew, torn values and stale reads",
	transactions: true, readOnly: true,
	knobs: []string{"workload.keys", "workload.value_bytes", "workload.theta", "workload.reads", "workload.writes", "workload.remote.register", "workload.scale"},
	mix:   registers.TypeNames,
	local: localRegisters,
	build: func(v Knobs) (workload.Bench, error) { return registers.New(registersOptions(v)) },
}

func registersOptions(v Knobs) registers.Options {
	return registers.Options{
		Keys: uint64(scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), Reads: v.Int("workload.reads"), Writes: v.Int("workload.writes"),
		Theta: v.Float("workload.theta"), Remote: v.Int("workload.remote.register"), Seed: seedOf(v),
	}
}

// localRegisters is the share of locks on the own machine.
func localRegisters(v Knobs) int {
	remote := v.Int("workload.remote.register")
	if remote == registers.Anywhere || asymmetric(v) || v.Int("nodes") == 1 {
		return anywhere(v)
	}
	return 100 - remote/10
}

// mostRegisters bounds them: the workload keeps a count of each.
const mostRegisters = 100_000_000

// validRegisters holds the rules of how many registers a transaction can take.
func validRegisters(v Knobs) error {
	if workloadOf(v).name != registersKind.name {
		return nil
	}
	reads, writes, keys, bytes := v.Int("workload.reads"), v.Int("workload.writes"), scaled(v, "workload.keys"), v.Int("workload.value_bytes")
	most := registers.MostWritesOf(bytes)
	switch {
	case reads+writes == 0:
		return knob.Invalid("workload.reads", reads, "set workload.reads or workload.writes to 1 or more", "a transaction has to take at least one register")
	case reads+writes > keys:
		return knob.Invalid("workload.keys", v.Int("workload.keys"), fmt.Sprintf("set workload.keys=%d or more, or a larger workload.scale", reads+writes), "a transaction takes %d different registers, there are %d", reads+writes, keys)
	case keys > mostRegisters:
		return knob.Invalid("workload.keys", v.Int("workload.keys"), fmt.Sprintf("set workload.keys=%d or fewer", mostRegisters), "registers keeps a count of each of its keys")
	case writes > most:
		return knob.Invalid("workload.writes", writes, fmt.Sprintf("set workload.writes=%d or fewer, or a smaller workload.value_bytes", most), "the log entry of so many registers of %d bytes does not fit into a message", bytes)
	}
	return nil
}

func registersKnobs(only func(name string) func(v Knobs) string) []knob.Row {
	row := func(k Knob) knob.Row {
		k.Kind, k.Group = knob.Int, knob.Workload
		return knob.Row{Knob: k, Inactive: only(k.Name)}
	}
	return []knob.Row{
		row(Knob{Name: "workload.reads", Default: 3, Min: 0, Max: registers.MostReads, Label: "Reads per transaction",
			Doc: "Random registers that a read-write transaction only reads. A read-only one reads as many as workload.reads and workload.writes together. 0 with 1 write or more: write skew cannot happen."}),
		row(Knob{Name: "workload.writes", Default: 2, Min: 0, Max: registers.MostWrites, Label: "Writes per transaction",
			Doc: "Other random registers that a read-write transaction reads and writes."}),
		row(Knob{Name: "workload.remote.register", Default: registers.Anywhere, Min: registers.Anywhere, Max: 1000, Unit: "per mille", Label: "Remote registers", Live: true,
			Doc: "Share of the registers that a transaction draws from machines other than its client's. -1: from all machines alike. Without effect for clients that hold no data."}),
	}
}
