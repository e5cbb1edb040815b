package workload

import (
	"fmt"

	"drtmx/engine/knob"
	"drtmx/engine/testbed"
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
func (h hint) inactive(v knob.Values, k *Kind) string {
	r := k.RequestsOf(v)
	switch {
	case !testbed.OnNVM(v):
		return "nothing is in NVM"
	case k.Transactions || k.Ordered:
		return "workload " + k.Name + " keeps its data in DRAM"
	case h.n == 8 && !r.Atomics:
		return "it is about atomics"
	case h.n != 8 && h.n != 1 && !r.Writes:
		return "it is about writes"
	case !r.Padded && (h.n == 5 || h.n == 6):
		return "what is behind a write belongs to the file: nothing is padded"
	case r.TwoSided && !h.two:
		return "it is about one-sided requests"
	case !r.TwoSided && !h.one:
		return "it is about two-sided requests"
	case h.n == 9 && !v.Bool("nvm.persist"):
		return "writes are not persistent: set nvm.persist"
	}
	return ""
}

// HintKnobs are the hints, and what counts as persistent.
func HintKnobs(of func(v knob.Values) *Kind) []knob.Row {
	list := []knob.Row{
		{Knob: knob.Knob{Name: "nvm.persist", Kind: knob.Bool, Default: false, Label: "Persistent writes", Section: "2.3.4.3", Group: knob.Hardware, Live: true,
			Doc: "A write counts when its bytes are in the persistent domain: one-sided by a READ after it that flushes it, two-sided by a fence of the server."},
			Inactive: func(v knob.Values) string {
				if !testbed.OnNVM(v) || !of(v).RequestsOf(v).Writes {
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
		row := knob.Row{Knob: knob.Knob{Name: h.knob(), Kind: knob.Bool, Default: false, Label: h.label, Doc: h.doc, Section: section, Group: knob.Hardware, Live: true},
			Inactive: func(v knob.Values) string { return h.inactive(v, of(v)) }}
		if h.n == 3 {
			row.Sets = setDDIO
		}
		list = append(list, row)
	}
	return list
}

// setDDIO is what H3 says of DDIO: it changes with the hint, unless the same change says it too.
func setDDIO(v knob.Values, on any) knob.Values {
	if (on == true) == (v["nvm.h3"] == true) {
		return nil
	}
	return knob.Values{"ddio": on != true}
}

// ValidHints refuses contradictions.
func ValidHints(v knob.Values) error {
	if v.Bool("nvm.h3") && v.Bool("ddio") {
		return knob.Invalid("ddio", true, "leave it out, or set nvm.h3=false", "nvm.h3 says that DDIO is off")
	}
	if v.Bool("nvm.h9") && !v.Bool("nvm.persist") {
		return knob.Invalid("nvm.h9", true, "set nvm.persist=true", "it is about persistent writes")
	}
	return nil
}

// Durable says whether a write counts when it is persistent.
func Durable(v knob.Values) bool { return v.Bool("nvm.persist") && testbed.OnNVM(v) }

// HintOn says whether hint n is on, and there is NVM for it.
func HintOn(v knob.Values, n int) bool { return v.Bool(hints[n-1].knob()) && testbed.OnNVM(v) }
