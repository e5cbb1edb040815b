package profile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// NumberError says which number of a profile breaks which rule.
type NumberError struct {
	Profile string
	Name    string // as of Each
	Value   float64
	Rule    string
	// Bound is the number that this one must at least be, "" where that is not the rule.
	Bound string
}

func (e *NumberError) Error() string {
	return fmt.Sprintf("profile %s: %s: value %v: %s", e.Profile, e.Name, e.Value, e.Rule)
}

// limits are what the model can work with. Times and bandwidths have ends because
// virtual time is in picoseconds: faster and it takes none, slower and what queues
// behind each other overflows.
type limits struct {
	min, max float64
	power    bool // of two
}

const maxNS = 1e9

// unitLimits are those of the numbers that nothing more is said of.
var unitLimits = map[string]limits{
	"ns":    {min: 0, max: maxNS},
	"GB/s":  {min: 0.001, max: 10_000},
	"count": {min: 0, max: 1 << 20},
	"bytes": {min: 0, max: 4096},
	"MHz":   {min: 100, max: 10_000},
	"MB":    {min: 1, max: 512},
	"GB":    {min: 1, max: 1024},
}

// numberLimits are those of single numbers. Numbers of node types are the same for
// all of them.
var numberLimits = map[string]limits{
	"cpu.poll_empty":              {min: 1, max: maxNS}, // a core that spins has to get on
	"nic.conflict_slots":          {min: 1, max: 1 << 20, power: true},
	"nic.conflict_granule":        {min: 8, max: 4096, power: true},
	"nic.qp_contexts":             {min: 1, max: 1 << 20},
	"nic.translations":            {min: 4, max: 1 << 20},
	"nic.max_inline":              {min: 0, max: 1024},
	"nic.sge_max":                 {min: 1, max: 255},
	"nic.send_depth":              {min: 1, max: 32768},
	"nic.recv_depth":              {min: 1, max: 32768},
	"nic.outstanding":             {min: 1, max: 128},
	"nic.mmio_dedicated":          {min: 0, max: 128},
	"nic.mmio_shared":             {min: 1, max: 64},
	"nic.timeout_exponent":        {min: 1, max: 31},
	"nic.retry_count":             {min: 0, max: 7},
	"nic.rnr_retry":               {min: 0, max: 7},
	"nic.rnr_timer":               {min: 100, max: maxNS},
	"wire.mtu":                    {min: 256, max: 4096},
	"pcie.max_payload":            {min: 64, max: 4096, power: true},
	"pcie.wqe":                    {min: 16, max: 1024},
	"pcie.recv_wqe":               {min: 1, max: 64},
	"memory.tlb_entries":          {min: 4, max: 1 << 20},
	"node_types.sockets":          {min: 1, max: 8},
	"node_types.cores_per_socket": {min: 1, max: 128},
	"node_types.nics":             {min: 1, max: 8},
	"node_types.llc_ways":         {min: 1, max: MaxWays},
	"node_types.ddio_ways":        {min: 1, max: MaxWays},
	"node_types.channels":         {min: 1, max: 16},
}

// Limits are the least and the largest value that a number of the profile may have.
func (p *Profile) Limits(name string) (min, max float64) {
	n := p.Number(name)
	if n == nil {
		return 0, 0
	}
	l := p.limits(name, n)
	return l.min, l.max
}

func (p *Profile) limits(name string, n *Number) limits {
	if rest, ok := strings.CutPrefix(name, "node_types."); ok {
		name = "node_types" + rest[strings.LastIndexByte(rest, '.'):]
	}
	for _, of := range []map[string]limits{numberLimits, nvmLimits, tcpLimits, schedulerLimits, ssdLimits} {
		if l, ok := of[name]; ok {
			if name == "wire.mtu" && p.TCP != nil { // of Ethernet
				l.max = 9000
			}
			return l
		}
	}
	if name == "node_types.nvm_generation" {
		return limits{max: float64(p.nvmGenerations())}
	}
	return unitLimits[n.Unit]
}

// Check refuses values that the model cannot work with. What it returns is a
// *NumberError.
func (p *Profile) Check() error {
	var first error
	p.Each(func(name string, n *Number) {
		if rule := p.limits(name, n).broken(n); rule != "" && first == nil {
			first = &NumberError{Profile: p.Name, Name: name, Value: n.Value, Rule: rule}
		}
	})
	if first != nil {
		return first
	}
	return p.agree()
}

// broken is the rule that a number breaks, "" for none.
func (l limits) broken(n *Number) string {
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	switch x := n.Value; {
	case math.IsNaN(x) || x < l.min || x > l.max:
		return strings.TrimSuffix(fmt.Sprintf("must be from %s to %s %s", text(l.min), text(l.max), n.Unit), " count")
	case n.Whole() && x != math.Trunc(x):
		return "must be a whole number"
	case l.power && int(x)&(int(x)-1) != 0:
		return "must be a power of two"
	}
	return ""
}

// Whole says that the number is one of things that have no parts.
func (n *Number) Whole() bool { return n.Unit != "ns" && n.Unit != "GB/s" }

// agree holds the rules between numbers.
func (p *Profile) agree() error {
	type rule struct {
		name  string
		n     Number
		than  string
		other Number
	}
	var atLeast []rule
	for _, t := range p.NodeTypes {
		at := "node_types." + t.Name + "."
		atLeast = append(atLeast, rule{at + "llc_ways", t.LLCWays, at + "ddio_ways", t.DDIOWays},
			rule{at + "sockets", t.Sockets, at + "nics", t.NICs}) // an RNIC's home is the socket of its number
	}
	if n := p.NVM; n != nil {
		atLeast = append(atLeast, rule{"nvm.interleave", n.Interleave, "nvm.xline", n.XLine}, rule{"nvm.translation_page", n.TranslationPage, "nvm.xline", n.XLine})
	}
	for _, r := range atLeast {
		if r.n.Value < r.other.Value {
			return &NumberError{p.Name, r.name, r.n.Value, fmt.Sprintf("must be at least %s, which is %v", r.than, r.other.Value), r.than}
		}
	}
	return nil
}

// MaxWays are those of an LLC: what the host has of a set, 24 tags and three words of bits, is one line of its own cache.
const MaxWays = 24
