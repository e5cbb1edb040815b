package fabric

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// ParseProfile reads a profile. Unknown and missing fields, wrong units and
// kinds are errors that name the field.
func ParseProfile(b []byte) (*Profile, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("profile: not YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("profile: the file is empty")
	}
	p := new(Profile)
	top, err := fields("profile", doc.Content[0], "name", "version", "title", "cpu", "nic", "wire", "pcie", "memory", "nvm?", "tcp?", "node_types")
	if err != nil {
		return nil, err
	}
	p.Name, p.Title = top["name"].Value, top["title"].Value
	if p.Version, err = strconv.Atoi(top["version"].Value); err != nil || p.Version < 1 {
		return nil, fmt.Errorf("profile: version is %q, must be a positive integer", top["version"].Value)
	}
	rdma := top["tcp"] == nil
	sections := []struct {
		name string
		into any
	}{{"cpu", &p.CPU}, {"nic", &p.NIC}, {"wire", &p.Wire}, {"pcie", &p.PCIe}, {"memory", &p.Memory}}
	for _, s := range sections {
		if err := numbers(p.Name+": "+s.name, top[s.name], s.into, rdma); err != nil {
			return nil, err
		}
	}
	if n := top["nvm"]; n != nil {
		p.NVM = new(NVMNumbers)
		if err := numbers(p.Name+": nvm", n, p.NVM, rdma); err != nil {
			return nil, err
		}
	}
	if !rdma {
		p.TCP = new(TCPNumbers)
		if err := numbers(p.Name+": tcp", top["tcp"], p.TCP, rdma); err != nil {
			return nil, err
		}
	}
	types := top["node_types"]
	if types.Kind != yaml.MappingNode || len(types.Content) == 0 {
		return nil, fmt.Errorf("profile %s: node_types must map at least one name to its numbers", p.Name)
	}
	for i := 0; i < len(types.Content); i += 2 {
		t := &NodeType{Name: types.Content[i].Value}
		if err := numbers(p.Name+": node_types."+t.Name, types.Content[i+1], t, rdma); err != nil {
			return nil, err
		}
		p.NodeTypes = append(p.NodeTypes, t)
	}
	return p, p.check()
}

// fields are the values of a mapping that must have exactly the named keys, but
// those whose name ends in ? may be missing.
func fields(where string, n *yaml.Node, names ...string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: line %d: must be a mapping of %s", where, n.Line, strings.Join(names, ", "))
	}
	got := make(map[string]*yaml.Node, len(names))
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i].Value
		known := false
		for _, name := range names {
			known = known || strings.TrimSuffix(name, "?") == k
		}
		if !known {
			return nil, fmt.Errorf("%s: unknown field %q (line %d); fields are %s", where, k, n.Content[i].Line, strings.Join(names, ", "))
		}
		if got[k] != nil {
			return nil, fmt.Errorf("%s: field %q twice (line %d)", where, k, n.Content[i].Line)
		}
		got[k] = n.Content[i+1]
	}
	for _, name := range names {
		if got[name] == nil && !strings.HasSuffix(name, "?") {
			return nil, fmt.Errorf("%s: field %q is missing", where, name)
		}
	}
	return got, nil
}

// numbers fills a struct of Numbers from a mapping. Without rdma those of RNICs
// alone must not be there.
func numbers(where string, n *yaml.Node, into any, rdma bool) error {
	v := reflect.ValueOf(into).Elem()
	var names []string
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if key, ok := tag.Lookup("yaml"); ok && (rdma || tag.Get("rdma") == "") {
			if tag.Get("optional") != "" {
				key += "?"
			}
			names = append(names, key)
		}
	}
	got, err := fields("profile "+where, n, names...)
	if err != nil {
		return err
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, ok := f.Tag.Lookup("yaml")
		if !ok || got[key] == nil {
			continue
		}
		x, err := number("profile "+where+"."+key, got[key], f.Tag.Get("unit"))
		if err != nil {
			return err
		}
		v.Field(i).Set(reflect.ValueOf(x))
	}
	return nil
}

func number(where string, n *yaml.Node, unit string) (Number, error) {
	got, err := fields(where, n, "value", "unit", "meaning", "source", "kind")
	if err != nil {
		return Number{}, err
	}
	x := Number{
		Unit: got["unit"].Value, Meaning: got["meaning"].Value, Source: got["source"].Value,
		Kind: NumberKind(got["kind"].Value),
	}
	x.Value, err = strconv.ParseFloat(got["value"].Value, 64)
	switch {
	case err != nil || math.IsNaN(x.Value) || math.IsInf(x.Value, 0):
		return x, fmt.Errorf("%s: value %q is not a number", where, got["value"].Value)
	case x.Value < 0 || x.Value > 1e12:
		return x, fmt.Errorf("%s: value %v: must be between 0 and 1e12", where, x.Value)
	case x.Unit != unit:
		return x, fmt.Errorf("%s: unit %q: must be %s", where, x.Unit, unit)
	case (unit == "count" || unit == "bytes" || unit == "MHz") && x.Value != math.Trunc(x.Value):
		return x, fmt.Errorf("%s: value %v: must be a whole number of %s", where, x.Value, unit)
	case unit == "GB/s" && x.Value == 0:
		return x, fmt.Errorf("%s: value 0: a bandwidth must be positive", where)
	case x.Meaning == "":
		return x, fmt.Errorf("%s: meaning is empty", where)
	case x.Source == "":
		return x, fmt.Errorf("%s: source is empty", where)
	}
	switch x.Kind {
	case Physics, Datasheet, Fitted, Assumed:
		return x, nil
	}
	return x, fmt.Errorf("%s: kind %q: must be physics, datasheet, fitted or assumed", where, x.Kind)
}

type bound struct {
	name     string
	n        Number
	min, max int
}

// check refuses values that the model cannot work with.
func (p *Profile) check() error {
	bounds := []bound{
		{"nic.send_depth", p.NIC.SendDepth, 1, 32768},
		{"nic.recv_depth", p.NIC.RecvDepth, 1, 32768},
		{"pcie.max_payload", p.PCIe.MaxPayload, 64, 4096},
		{"pcie.recv_wqe", p.PCIe.RecvWQE, 1, 64},
		{"memory.tlb_entries", p.Memory.TLBEntries, 4, 1 << 20},
	}
	if p.TCP == nil {
		bounds = append(bounds, p.rdmaBounds()...)
	} else {
		bounds = append(bounds, p.tcpBounds()...)
	}
	for _, t := range p.NodeTypes {
		at := "node_types." + t.Name + "."
		bounds = append(bounds,
			bound{at + "sockets", t.Sockets, 1, 8}, bound{at + "cores_per_socket", t.CoresPerSocket, 1, 128},
			bound{at + "frequency", t.Frequency, 100, 10000}, bound{at + "dram", t.DRAM, 1, 1024},
			bound{at + "nics", t.NICs, 1, 8}, bound{at + "llc", t.LLC, 1, 512},
			bound{at + "llc_ways", t.LLCWays, 1, maxWays}, bound{at + "ddio_ways", t.DDIOWays, 1, t.LLCWays.Int()},
			bound{at + "channels", t.Channels, 1, 16}, bound{at + "nvm_generation", t.NVMGeneration, 0, p.nvmGenerations()})
	}
	bounds = append(bounds, p.nvmBounds()...)
	for _, b := range bounds {
		if v := b.n.Int(); v < b.min || v > b.max {
			return fmt.Errorf("profile %s: %s.value is %d: must be between %d and %d", p.Name, b.name, v, b.min, b.max)
		}
	}
	if n := p.PCIe.MaxPayload.Int(); n&(n-1) != 0 {
		return fmt.Errorf("profile %s: pcie.max_payload.value is %d: must be a power of two", p.Name, n)
	}
	return nil
}

func (p *Profile) rdmaBounds() []bound {
	n := &p.NIC
	return []bound{
		{"nic.conflict_slots", n.ConflictSlots, 1, 1 << 20},
		{"nic.conflict_granule", n.ConflictGranule, 8, 4096},
		{"nic.qp_contexts", n.QPContexts, 1, 1 << 20},
		{"nic.translations", n.Translations, 4, 1 << 20},
		{"nic.max_inline", n.MaxInline, 0, 1024},
		{"nic.outstanding", n.Outstanding, 1, 128},
		{"nic.mmio_dedicated", n.MMIODedicated, 0, 128},
		{"nic.mmio_shared", n.MMIOShared, 1, 64},
		{"nic.timeout_exponent", n.TimeoutExponent, 1, 31},
		{"nic.retry_count", n.RetryCount, 0, 7},
		{"nic.rnr_retry", n.RNRRetry, 0, 7},
		{"wire.mtu", p.Wire.MTU, 256, 4096},
	}
}
