package profile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse reads a profile. Unknown and missing fields, wrong units and
// kinds are errors that name the field.
func Parse(b []byte) (*Profile, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("profile: not YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, fmt.Errorf("profile: the file is empty")
	}
	p := new(Profile)
	top, err := fields("profile", doc.Content[0], "name", "version", "title", "cpu", "nic", "wire", "pcie", "memory", "nvm?", "tcp?", "scheduler?", "ssd?", "node_types")
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
	if n := top["scheduler"]; n != nil {
		p.Scheduler = new(SchedulerNumbers)
		if err := numbers(p.Name+": scheduler", n, p.Scheduler, rdma); err != nil {
			return nil, err
		}
	}
	if n := top["ssd"]; n != nil {
		p.SSD = new(SSDNumbers)
		if err := numbers(p.Name+": ssd", n, p.SSD, rdma); err != nil {
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
	return p, p.Check()
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
	case x.Unit != unit:
		return x, fmt.Errorf("%s: unit %q: must be %s", where, x.Unit, unit)
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
