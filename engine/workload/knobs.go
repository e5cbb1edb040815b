package workload

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// MaxPayload bounds what a raw request carries.
const MaxPayload = 256 << 10

// shared are the knobs that several workloads read. Each says in its Kind which it reads.
func shared() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "workload.keys", Kind: knob.Int, Default: 100_000, Min: 8, Max: 1_000_000_000, Label: "Keys", Group: knob.Workload,
			Doc: "Size of the key space."}},
		{Knob: knob.Knob{Name: "workload.value_bytes", Kind: knob.Bytes, Default: 8, Min: 8, Max: 1024, Unit: "bytes", Label: "Value size", Group: knob.Workload,
			Doc: "Bytes of a record's value, a multiple of 8."}},
		{Knob: knob.Knob{Name: "workload.theta", Kind: knob.Float, Default: 0.0, Min: 0.0, Max: 1.99, Label: "Zipf constant", Section: "4.3", Group: knob.Workload, Live: true,
			Doc: "Draws accounts, registers or records by a zipfian distribution with this constant. 0: SmallBank uses its hot set; registers and YCSB's records are equally popular."}},
		{Knob: knob.Knob{Name: "workload.payload", Kind: knob.Bytes, Default: 64, Min: 8, Max: MaxPayload, Unit: "bytes", Label: "Payload", Section: "2.2.4", Group: knob.Workload, Live: true,
			Doc: "Payload in bytes, per request or per object of a batched one. At most 4,088 by RPC, 4,080 for a two-sided write."}, Inactive: func(v knob.Values) string {
			if v.Text("workload") == "micro-atomic" {
				return "an atomic has 8 bytes"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.align", Kind: knob.Bytes, Default: 64, Min: 1, Max: 64, Unit: "bytes", Label: "Alignment", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Reads and writes begin at random multiples of it, a power of 2. 64: at the start of a PCIe data word and cache line, so that only the last word can be partial. The hints that pad align too."}},
		{Knob: knob.Knob{Name: "workload.scale", Kind: knob.Float, Default: 1.0, Min: 0.0001, Max: 1.0, Label: "Scale of populations", Group: knob.Workload,
			Doc: "Multiplies the sizes of tables only; caches whose size matters relative to them shrink by the same factor."}},
	}
}

// Parts are the workloads of a list, and how resolved values name one of them.
type Parts []Kind

// Of is the workload of resolved values.
func (p Parts) Of(v knob.Values) *Kind {
	k := p.Named(v.Text("workload"))
	if k == nil {
		panic("workload: resolved spec with workload " + v.Text("workload"))
	}
	return k
}

// Load is what the rooms below have to know of it.
func (p Parts) Load(v knob.Values) *testbed.Load { return &p.Of(v).Load }

// Indexed are the names of those whose transactions have ordered tables.
func (p Parts) Indexed() (names []string) {
	for _, k := range p {
		if k.Indexes {
			names = append(names, k.Name)
		}
	}
	return names
}

// Named is the workload of a name, nil if there is none.
func (p Parts) Named(name string) *Kind {
	for i := range p {
		if p[i].Name == name {
			return &p[i]
		}
	}
	return nil
}

// Rows are the knobs of all workloads: which of them runs, those that several read, and each one's own.
func (p Parts) Rows(def string) []knob.Row {
	names, docs := make([]string, len(p)), ""
	for i, k := range p {
		names[i] = k.Name
		docs += map[bool]string{true: "; ", false: ""}[i > 0] + k.Name + " = " + k.Doc
	}
	list := shared()
	seen := map[string]bool{}
	for i := range p {
		for _, r := range p[i].Rows {
			if !seen[r.Name] {
				list = append(list, r)
			}
			seen[r.Name] = true
		}
	}
	for i := range list {
		p.adopt(&list[i])
	}
	which := knob.Row{Knob: knob.Knob{Name: "workload", Kind: knob.Choice, Default: def, Choices: names, Label: "Workload", Section: "4.3", Group: knob.Workload,
		Doc: "What the cluster does: " + docs + "."}}
	return append(append([]knob.Row{which}, list...), p.mixRows()...)
}

// adopt gives a knob its defaults by workload, and has it say where it has no effect.
func (p Parts) adopt(r *knob.Row) {
	for _, k := range p {
		if d, ok := k.Defaults[r.Name]; ok {
			if r.ByLoad == nil {
				r.ByLoad = map[string]any{}
			}
			r.ByLoad[k.Name] = d
		}
	}
	name, own := r.Name, r.Inactive
	r.Inactive = func(v knob.Values) string {
		if k := p.Of(v); !k.Reads(name) {
			return "workload " + k.Name + " does not use it"
		}
		if own != nil {
			if why := own(v); why != "" {
				return why
			}
		}
		if f := p.Of(v).Unused; f != nil {
			return f(name, v)
		}
		return ""
	}
}

// mixRows has one weight for each type of each workload.
func (p Parts) mixRows() []knob.Row {
	var list []knob.Row
	at := map[string]int{}
	for _, k := range p {
		for _, t := range k.Mix {
			if i, ok := at[t.Name]; ok {
				if r := &list[i]; r.Default != t.Weight {
					if r.ByLoad == nil {
						r.ByLoad = map[string]any{}
					}
					r.ByLoad[k.Name] = t.Weight
				}
				continue
			}
			at[t.Name] = len(list)
			list = append(list, knob.Row{Knob: knob.Knob{Name: "workload.mix." + t.Name, Kind: knob.Int, Default: t.Weight, Min: 0, Max: 1000, Label: "Weight of " + t.Name, Section: "4.3", Group: knob.Workload, Live: true,
				Doc: "Share of this transaction type relative to the sum of all weights." + t.Doc}, Inactive: func(v knob.Values) string {
				k := p.Of(v)
				for _, own := range k.Mix {
					if own.Name == t.Name {
						return ""
					}
				}
				return "workload " + k.Name + " has no such type"
			}})
		}
	}
	return list
}
