package engine

// workloadKind is what the registry has to know of a workload.
type workloadKind struct {
	name         string
	doc          string
	transactions bool     // runs transactions (else raw verbs)
	readOnly     bool     // has read-only transactions
	knobs        []string // of workload.*, those that it reads
	mix          []string // transaction types with a weight
}

var workloads = []workloadKind{
	{name: "smallbank", doc: "SmallBank (section 4.3)", transactions: true, readOnly: true,
		knobs: []string{"workload.accounts", "workload.scale"},
		mix:   []string{"amalgamate", "balance", "deposit-checking", "send-payment", "transact-savings", "write-check"}},
	{name: "cycle", doc: "keys form a ring, transactions rotate three: a serialisability test", transactions: true,
		knobs: []string{"workload.keys"}},
	{name: "micro-read", doc: "one-sided READs of random addresses (figure 2-4)",
		knobs: []string{"workload.keys", "workload.payload"}},
}

func workloadNames() []string {
	names := make([]string, len(workloads))
	for i, w := range workloads {
		names[i] = w.name
	}
	return names
}

func (w *workloadKind) reads(knob string) bool {
	for _, k := range w.knobs {
		if k == knob {
			return true
		}
	}
	return false
}

func workloadKnobs() []entry {
	only := func(name string) func(v Knobs) string {
		return func(v Knobs) string {
			if w := workloadOf(v); !w.reads(name) {
				return "workload " + w.name + " does not use it"
			}
			return ""
		}
	}
	list := []entry{
		{Knob: Knob{Name: "workload", Kind: KindChoice, Default: defaultWorkload, Choices: workloadNames(), Label: "Workload", Section: "4.3", Group: groupWorkload,
			Doc: "What the cluster does: " + workloadDocs()}},
		{Knob: Knob{Name: "workload.accounts", Kind: KindInt, Default: 100_000, Min: 100, Max: 10_000_000, Label: "Accounts per thread", Section: "4.3", Group: groupWorkload,
			Doc: "Accounts per worker thread of the data-holding machines; 4 % of them get 90 % of the accesses."}, inactive: only("workload.accounts")},
		{Knob: Knob{Name: "workload.keys", Kind: KindInt, Default: 100_000, Min: 8, Max: 1_000_000_000, Label: "Keys", Group: groupWorkload,
			Doc: "Size of the key space."}, inactive: only("workload.keys"), byLoad: map[string]any{"cycle": 64}},
		{Knob: Knob{Name: "workload.payload", Kind: KindBytes, Default: 64, Min: 8, Max: 4096, Unit: "bytes", Label: "Payload", Section: "2.2.4", Group: groupWorkload, Live: true,
			Doc: "Bytes per request."}, inactive: only("workload.payload")},
		{Knob: Knob{Name: "workload.scale", Kind: KindFloat, Default: 1.0, Min: 0.0001, Max: 1.0, Label: "Scale of populations", Group: groupWorkload,
			Doc: "Multiplies populations only; caches that matter relative to them shrink by the same factor."}, inactive: only("workload.scale")},
	}
	return append(list, mixKnobs()...)
}

// mixKnobs has one weight for each type of each workload.
func mixKnobs() []entry {
	var list []entry
	seen := map[string]bool{}
	for _, w := range workloads {
		for _, typ := range w.mix {
			if seen[typ] {
				continue
			}
			seen[typ] = true
			weight := 15
			if typ == "send-payment" {
				weight = 25
			}
			list = append(list, entry{Knob: Knob{Name: "workload.mix." + typ, Kind: KindInt, Default: weight, Min: 0, Max: 1000, Label: "Weight of " + typ, Section: "4.3", Group: groupWorkload, Live: true,
				Doc: "Share of this transaction type relative to the sum of all weights."}, inactive: func(v Knobs) string {
				w := workloadOf(v)
				for _, t := range w.mix {
					if t == typ {
						return ""
					}
				}
				return "workload " + w.name + " has no such type"
			}})
		}
	}
	return list
}

func workloadDocs() string {
	var s string
	for i, w := range workloads {
		if i > 0 {
			s += "; "
		}
		s += w.name + " = " + w.doc
	}
	return s + "."
}
