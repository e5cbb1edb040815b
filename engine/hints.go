package engine

import (
	"fmt"

	"drtmx/engine/knob"

	"drtmx/engine/workload/micro"
	"drtmx/engine/workload/octopus"
	"drtmx/rdpma"
)

// The hints of Table 2-4 as they apply to the benchmark of remote writes (§2.3.3), where
// they are knobs. rdpma applies the same ones to systems that use it.

// hint is one of them.
type hint struct {
	n     int
	label string
	doc   string
	one   bool // applies to one-sided requests
	two   bool // applies to two-sided ones
}

var hints = []hint{
	{1, "H1: no cross-socket accesses", "Requests go to the memory of the socket whose RNIC serves them.", true, true},
	{2, "H2: few threads per DIMM", "Each server thread writes to one DIMM, so that few meet on it.", false, true},
	{3, "H3: DDIO off", "The RNIC's writes go to memory, not to the cache: switches ddio off.", true, false},
	{4, "H4: ntstore for large writes", "The server stores 256 bytes and more with non-temporal stores.", false, true},
	{5, "H5: whole XLines", "Writes are aligned and padded to 256 bytes.", true, true},
	{6, "H6: 64 bytes for small one-sided writes", "One-sided writes below 256 bytes are aligned and padded to the 64 bytes of a PCIe data word.", true, false},
	{7, "H7: 64 bytes and ntstore for small two-sided writes", "The server pads writes below 256 bytes to a cache line and stores it with non-temporal stores.", false, true},
	{8, "H8: atomics in DRAM", "The words of micro-atomic lie in DRAM.", true, false},
	{9, "H9: one round trip for a persistent write", "WRITE and the READ that flushes it share one doorbell and one wait.", true, false},
}

func (h hint) knob() string { return fmt.Sprintf("nvm.h%d", h.n) }

// inactive says why a hint has no effect in v.
func (h hint) inactive(v Knobs) string {
	w := workloadOf(v)
	two := twoSided(v)
	switch {
	case !onNVM(v):
		return "nothing is in NVM"
	case w.transactions:
		return "workload " + w.name + " keeps its data in DRAM"
	case h.n == 8 && w.name != "micro-atomic":
		return "it is about atomics"
	case h.n != 8 && h.n != 1 && !writes(v):
		return "it is about writes"
	case w.name == octopus.Name && (h.n == 5 || h.n == 6):
		return "what is behind a write belongs to the file: nothing is padded"
	case two && !h.two:
		return "it is about one-sided requests"
	case !two && !h.one:
		return "it is about two-sided requests"
	case h.n == 9 && !v.Bool("nvm.persist"):
		return "writes are not persistent: set nvm.persist"
	}
	return ""
}

// writes says that requests are writes.
func writes(v Knobs) bool {
	w := workloadOf(v).name
	return w == "micro-write" || w == octopus.Name
}

func hintKnobs() []knob.Row {
	list := []knob.Row{
		{Knob: knob.Knob{Name: "nvm.persist", Kind: knob.Bool, Default: false, Label: "Persistent writes", Section: "2.3.4.3", Group: knob.Hardware, Live: true,
			Doc: "A write counts when its bytes are in the persistent domain: one-sided by a READ behind it that flushes it, two-sided by a fence of the server."},
			Inactive: func(v Knobs) string {
				if !onNVM(v) || !writes(v) {
					return "nothing is written to NVM"
				}
				return ""
			}},
	}
	for _, h := range hints {
		section := "2.3.4.1"
		switch {
		case h.n >= 9:
			section = "2.3.4.3"
		case h.n >= 4:
			section = "2.3.4.2"
		}
		list = append(list, knob.Row{Knob: knob.Knob{Name: h.knob(), Kind: knob.Bool, Default: false, Label: h.label, Doc: h.doc, Section: section, Group: knob.Hardware, Live: true}, Inactive: h.inactive})
	}
	return list
}

// validHints refuses contradictions. nvm.h3 alone implies ddio=false, see apply.
func validHints(v Knobs) error {
	if v.Bool("nvm.h3") && v.Bool("ddio") {
		return knob.Invalid("ddio", true, "leave it out, or set nvm.h3=false", "nvm.h3 says that DDIO is off")
	}
	if v.Bool("nvm.h9") && !v.Bool("nvm.persist") {
		return knob.Invalid("nvm.h9", true, "set nvm.persist=true", "it is about persistent writes")
	}
	// The library refuses such writes, one by one.
	if v.Text("workload") == octopus.Name && durable(v) && v.Bool("ddio") && v.Text("nvm.generation") == "first" {
		return knob.Invalid("nvm.persist", true, "set nvm.h3=true", "with DDIO on, what the RNIC writes stays in a cache that a crash loses")
	}
	return nil
}

// durable says whether a write counts when it is persistent.
func durable(v Knobs) bool { return v.Bool("nvm.persist") && onNVM(v) }

// hintsOf is what the knobs say; which of them apply to its requests the benchmark
// knows.
func hintsOf(v Knobs) micro.Hints {
	on := func(n int) bool { return v.Bool(hints[n-1].knob()) && onNVM(v) }
	return micro.Hints{OwnSocket: on(1), DIMMPerThread: on(2), LargeNT: on(4), XLines: on(5), Words: on(6), LinesNT: on(7), AtomicsInDRAM: on(8),
		Persist: durable(v), OneRoundTrip: on(9)}
}

// setupOf is what the knobs say for Octopus.
func setupOf(v Knobs) octopus.Setup {
	on := func(n int) bool { return v.Bool(hints[n-1].knob()) && onNVM(v) }
	return octopus.Setup{DRAM: !onNVM(v), Durable: durable(v),
		Hints: rdpma.Hints{H1: on(1), H2: on(2), H3: on(3), H4: on(4), H5: on(5), H6: on(6), H7: on(7), H8: on(8), H9: on(9)}}
}
