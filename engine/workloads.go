package engine

import (
	"math"

	"drtmx/engine/knob"

	"drtmx/engine/occ"
	"drtmx/engine/r2"
	"drtmx/engine/workload"
	"drtmx/engine/workload/cycle"
	"drtmx/engine/workload/micro"
	"drtmx/engine/workload/octopus"
	"drtmx/engine/workload/registers"
	"drtmx/engine/workload/smallbank"
)

// workloadKind is what the registry has to know of a workload.
type workloadKind struct {
	name         string
	doc          string
	transactions bool              // runs transactions, else raw verbs
	readOnly     bool              // has read-only transactions
	knobs        []string          // of workload.*, those that it reads
	mix          []string          // transaction types with a weight
	local        func(v Knobs) int // per cent of the locks that are of the own machine's records; nil: the run will tell
	build        func(v Knobs) (workload.Bench, error)
	live         func(b workload.Bench, v Knobs) error // what follows from knobs of the hardware; nil: nothing
}

// seedOf is the seed of a run, of what its tables hold too: other seeds are other populations.
func seedOf(v Knobs) uint64 { return uint64(v.Int("seed")) }

var workloads = []workloadKind{
	{
		name: "smallbank", doc: "SmallBank, six short transaction types on bank accounts, 4 % of them hot (section 4.3)",
		transactions: true, readOnly: true,
		knobs: []string{"workload.accounts", "workload.hot", "workload.theta", "workload.scale"},
		mix:   []string{"amalgamate", "balance", "deposit-checking", "send-payment", "transact-savings", "write-check"},
		local: anywhere,
		build: func(v Knobs) (workload.Bench, error) {
			return smallbank.New(smallbank.Options{
				Accounts: scaled(v, "workload.accounts"), HotPercent: v.Int("workload.hot"), Theta: v.Float("workload.theta"), Seed: seedOf(v),
			})
		},
	},
	{
		name: "cycle", doc: "keys form a ring and transactions rotate three of them, a test of serialisability",
		transactions: true,
		knobs:        []string{"workload.keys", "workload.value_bytes", "workload.scale"},
		local:        anywhere,
		build: func(v Knobs) (workload.Bench, error) {
			return cycle.New(cycle.Options{Keys: uint64(scaled(v, "workload.keys")), ValueBytes: v.Int("workload.value_bytes"), Seed: seedOf(v)})
		},
	},
	registersKind,
	{
		name: "tpcc", doc: "TPC-C, the five transactions of a company that takes orders, on nine tables (section 4.3)",
		transactions: true, readOnly: true,
		knobs: tpccKnobNames,
		mix:   tpccMix,
		local: func(v Knobs) int { return localTPCC(v, false) },
		build: func(v Knobs) (workload.Bench, error) { return newTPCC(v, false) },
	},
	{
		name: "tpcc-no", doc: "TPC-C/no, new-order alone, a home warehouse per thread, every order line from a random other warehouse (section 4.3)",
		transactions: true,
		knobs:        append([]string{"workload.variant"}, tpccKnobNames[:7]...),
		local:        func(v Knobs) int { return localTPCC(v, true) },
		build:        func(v Knobs) (workload.Bench, error) { return newTPCC(v, true) },
	},
	{
		name: "tpce", doc: "TPC-E, the ten transactions of a brokerage house, on 33 tables, most of them distributed and read-only (section 4.3.5)",
		transactions: true, readOnly: true,
		knobs: tpceKnobNames,
		mix: []string{"customer-position", "trade-order", "trade-result", "security-detail", "trade-lookup", "trade-status", "broker-volume", "market-feed",
			"market-watch", "trade-update"},
		build: func(v Knobs) (workload.Bench, error) { return newTPCE(v, false) },
	},
	{
		name: "tpce-cp", doc: "TPC-E's customer-position alone, a read-only transaction whose prices come from all machines (section 4.3.5)",
		transactions: true, readOnly: true,
		knobs: tpceKnobNames[:4],
		build: func(v Knobs) (workload.Bench, error) { return newTPCE(v, true) },
	},
	micros("micro-read", "one READ after the other", "workload.primitive", "workload.objects", "workload.copy", "workload.pattern", "workload.dimm", "workload.align"),
	micros("micro-write", "one WRITE after the other", "workload.primitive", "workload.objects", "workload.copy", "workload.pattern", "workload.dimm", "workload.align", "workload.pad", "opt.micro.pa"),
	micros("micro-atomic", "one FETCH-AND-ADD after the other on random words"),
	micros("micro-rpc", "one RPC with a reply of the same size after the other", "workload.transport"),
	{
		name: octopus.Name, doc: "Octopus, writes to random places of random files: an RPC for the blocks, then WRITEs (section 2.3.5)",
		knobs: []string{"workload.files", "workload.payload", "workload.align", "workload.scale"},
		build: func(v Knobs) (workload.Bench, error) {
			return octopus.New(octopus.Options{Payload: v.Int("workload.payload"), Files: scaled(v, "workload.files"), Align: v.Int("workload.align"), Setup: setupOf(v)})
		},
		live: func(b workload.Bench, v Knobs) error { return b.Set("setup", setupOf(v)) },
	},
}

// anywhere is the share of locks on the own machine where records are drawn from all machines alike.
func anywhere(v Knobs) int {
	if asymmetric(v) {
		return 0
	}
	return 100 / v.Int("nodes")
}

// micros is a micro-benchmark of section 2.2.4.
func micros(name, doc string, more ...string) workloadKind {
	return workloadKind{
		name: name, doc: doc + " (figure 2-4)",
		knobs: append([]string{"workload.keys", "workload.payload", "workload.socket", "workload.scale", "opt.micro.or", "opt.micro.db"}, more...),
		build: func(v Knobs) (workload.Bench, error) {
			verb, err := micro.ParseVerb(name)
			if err != nil {
				return nil, err
			}
			socket, err := micro.ParseSocket(v.Text("workload.socket"))
			if err != nil {
				return nil, err
			}
			copied, err := micro.ParseCopy(v.Text("workload.copy"))
			if err != nil {
				return nil, err
			}
			o := micro.Options{
				Hints: hintsOf(v), NVM: onNVM(v), DIMM: v.Int("workload.dimm"), Socket: socket, Copy: copied, Sequential: v.Text("workload.pattern") == "sequential",
				Verb: verb, Payload: v.Int("workload.payload"), Keys: uint64(scaled(v, "workload.keys")),
				TwoSided: twoSided(v),
				Objects:  objects(v),
				Mode:     r2.Mode{Outstanding: v.Bool("opt.micro.or"), Doorbell: v.Bool("opt.micro.db"), Passive: passive(v)},
			}
			if moves(v) {
				o.Align = v.Int("workload.align")
			}
			if verb == micro.Write {
				o.Pad = v.Int("workload.pad")
			}
			return micro.New(o)
		},
		live: func(b workload.Bench, v Knobs) error {
			if err := b.Set("nvm", onNVM(v)); err != nil {
				return err
			}
			return b.Set("hints", hintsOf(v))
		},
	}
}

// moves says that the workload reads or writes places of memory, verb by verb.
func moves(v Knobs) bool {
	w := v.Text("workload")
	return w == "micro-read" || w == "micro-write"
}

// twoSided says that it does so by RPC.
func twoSided(v Knobs) bool { return moves(v) && v.Text("workload.primitive") == "two-sided" }

// passive says that nobody waits for a request.
func passive(v Knobs) bool {
	return v.Text("workload") == "micro-write" && v.Bool("opt.micro.pa")
}

// objects is how many verbs a request is.
func objects(v Knobs) int {
	if !moves(v) {
		return 1
	}
	return v.Int("workload.objects")
}

// transports are the values of workload.transport.
var transports = map[string]r2.Transport{"ud": r2.Datagrams, "write": r2.Writes, "hybrid": r2.Hybrid}

// messageRoom is the largest payload of a message.
const messageRoom = 4080

// microMessages fits r2's messages and RECVs to a micro-benchmark. Its payload
// may rise to the path MTU while it runs, except where every message has a slot
// in memory or many are under way: there what it begins with is the limit.
func microMessages(c *r2.Config, v Knobs) {
	const (
		header = 8 + 8 // of a message, and the address in front of a write's payload
		mtu    = 4096  // what is larger needs no buffer of r2's
	)
	c.RandomQP = true // section 2.2.4
	if workloadOf(v).reads("workload.transport") {
		c.Transport = transports[v.Text("workload.transport")]
	}
	n := objects(v)
	if room := v.Int("workload.payload_max"); c.Transport == r2.Datagrams && n == 1 && !passive(v) {
		if room < messageRoom {
			c.MaxMessage = (room + header + 63) &^ 63
		}
		return
	}
	c.MaxMessage = (min(v.Int("workload.payload"), mtu) + header + 63) &^ 63
	each := n * v.Int("coroutines")
	if passive(v) {
		each = r2.RequestWindow
		// Who never waits keeps the send queues full: short ones, so that what a
		// run counts as done is not far ahead of what is.
		c.SendDepth = 16
	}
	c.RecvDepth = r2.RecvDepths(c.PerMachine, each, each)
}

// leastPopulation is what scaling leaves at least.
const leastPopulation = 8

// scaled is a population times workload.scale.
func scaled(v Knobs, name string) int {
	return max(int(math.Round(float64(v.Int(name))*v.Float("workload.scale"))), min(leastPopulation, v.Int(name)))
}

func workloadNames() []string {
	names := make([]string, len(workloads))
	for i, w := range workloads {
		names[i] = w.name
	}
	return names
}

func (w *workloadKind) reads(name string) bool {
	for _, k := range w.knobs {
		if k == name {
			return true
		}
	}
	return false
}

func workloadKnobs() []knob.Row {
	only := func(name string) func(v Knobs) string {
		return func(v Knobs) string {
			if w := workloadOf(v); !w.reads(name) {
				return "workload " + w.name + " does not use it"
			}
			return ""
		}
	}
	list := []knob.Row{
		{Knob: knob.Knob{Name: "workload", Kind: knob.Choice, Default: defaultWorkload, Choices: workloadNames(), Label: "Workload", Section: "4.3", Group: knob.Workload,
			Doc: "What the cluster does: " + workloadDocs()}},
		{Knob: knob.Knob{Name: "workload.accounts", Kind: knob.Int, Default: 100_000, Min: 100, Max: 10_000_000, Label: "Accounts per thread", Section: "4.3", Group: knob.Workload,
			Doc: "Accounts per worker thread of the data-holding machines; 4 % of them get 90 % of the accesses."}, Inactive: only("workload.accounts")},
		{Knob: knob.Knob{Name: "workload.keys", Kind: knob.Int, Default: 100_000, Min: 8, Max: 1_000_000_000, Label: "Keys", Group: knob.Workload,
			Doc: "Size of the key space."}, Inactive: only("workload.keys"), ByLoad: map[string]any{"cycle": 64, "registers": 4000}},
		{Knob: knob.Knob{Name: "workload.value_bytes", Kind: knob.Bytes, Default: 8, Min: 8, Max: 1024, Unit: "bytes", Label: "Value size", Group: knob.Workload,
			Doc: "Bytes of a record's value, a multiple of 8."}, Inactive: only("workload.value_bytes"), ByLoad: map[string]any{"registers": 24}},
		{Knob: knob.Knob{Name: "workload.hot", Kind: knob.Int, Default: 90, Min: 0, Max: 100, Unit: "%", Label: "Hot transactions", Section: "4.3", Group: knob.Workload, Live: true,
			Doc: "Share of the transactions that go to the hot 4 % of the accounts. Without effect while workload.theta is set."}, Inactive: func(v Knobs) string {
			if why := only("workload.hot")(v); why != "" {
				return why
			}
			if v.Float("workload.theta") > 0 {
				return "workload.theta takes the place of the hot set"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.theta", Kind: knob.Float, Default: 0.0, Min: 0.0, Max: 1.99, Label: "Zipf constant", Section: "4.3", Group: knob.Workload, Live: true,
			Doc: "Draws accounts or registers by a zipfian distribution with this constant. 0: SmallBank has its hot set, registers are all equally popular."}, Inactive: only("workload.theta")},
		{Knob: knob.Knob{Name: "workload.payload", Kind: knob.Bytes, Default: 64, Min: 8, Max: octopus.MaxPayload, Unit: "bytes", Label: "Payload", Section: "2.2.4", Group: knob.Workload, Live: true,
			Doc: "Bytes per request, or per object of one. An RPC carries 4,088 at most, that of a two-sided write 4,080."}, Inactive: func(v Knobs) string {
			if why := only("workload.payload")(v); why != "" || v.Text("workload") != "micro-atomic" {
				return why
			}
			return "an atomic has 8 bytes"
		}, ByLoad: map[string]any{octopus.Name: 4096}},
		{Knob: knob.Knob{Name: "workload.payload_max", Kind: knob.Bytes, Default: messageRoom, Min: 256, Max: messageRoom, Unit: "bytes", Label: "Largest payload", Section: "2.2.4", Group: knob.Workload,
			Doc: "How far the payload of messages and writes may be raised while they run. The less, the smaller are the receive buffers, and the faster is the simulation of large clusters."}, Inactive: func(v Knobs) string {
			if w := workloadOf(v); !w.reads("workload.payload") || w.name == octopus.Name {
				return "workload " + w.name + " has messages of its own size"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.align", Kind: knob.Bytes, Default: 64, Min: 1, Max: 64, Unit: "bytes", Label: "Alignment", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Reads and writes begin at random multiples of it, a power of 2. 64: at the begin of a PCIe data word and cache line, so that only the end can be a part of one. The hints that pad align too."}, Inactive: only("workload.align"), ByLoad: map[string]any{octopus.Name: octopus.MinAlign}},
		{Knob: knob.Knob{Name: "workload.pad", Kind: knob.Bytes, Default: 1, Min: 1, Max: 256, Unit: "bytes", Label: "Padding", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Writes are padded to a multiple of it, a power of 2, beside what the hints do: two-sided by the server."}, Inactive: only("workload.pad")},
		{Knob: knob.Knob{Name: "workload.files", Kind: knob.Int, Default: 256, Min: 8, Max: 16_384, Label: "Files", Section: "2.3.5.3", Group: knob.Workload,
			Doc: "Files of 1 MB on each server."}, Inactive: only("workload.files")},
		{Knob: knob.Knob{Name: "workload.primitive", Kind: knob.Choice, Default: "one-sided", Choices: []string{"one-sided", "two-sided"}, Label: "Primitive of a micro-benchmark", Section: "2.2.4", Group: knob.Workload,
			Doc: "one-sided: by READ or WRITE. two-sided: by an RPC whose reply or request carries the payload."}, Inactive: only("workload.primitive")},
		{Knob: knob.Knob{Name: "workload.copy", Kind: knob.Choice, Default: "none", Choices: micro.Copies(), Label: "What the server does with the bytes", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Of a two-sided read or write. none: it answers at once (the LIMIT of figures 2-9 and 2-11, and what figure 2-4 measures). store: it copies them through its cache. ntstore: it writes them with non-temporal stores."}, Inactive: func(v Knobs) string {
			if why := only("workload.copy")(v); why != "" {
				return why
			}
			if v.Text("workload.primitive") == "one-sided" {
				return "the RNIC copies"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.pattern", Kind: knob.Choice, Default: "random", Choices: []string{"random", "sequential"}, Label: "Pattern", Section: "2.3.3", Group: knob.Workload, Live: true,
			Doc: "random: each request goes to a random place. sequential: each thread goes from place to place in order."}, Inactive: only("workload.pattern")},
		{Knob: knob.Knob{Name: "workload.dimm", Kind: knob.Int, Default: 0, Min: 0, Max: mostDIMMs, Label: "DIMM", Section: "2.3.4.1", Group: knob.Workload, Live: true,
			Doc: "All places are on this DIMM of their socket, of as many as the hardware has. 0: they are interleaved over all."}, Most: dimmsOf, Inactive: func(v Knobs) string {
			if why := only("workload.dimm")(v); why != "" {
				return why
			}
			if !onNVM(v) {
				return "the places are in DRAM"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.socket", Kind: knob.Choice, Default: "own", Choices: micro.Sockets(), Label: "Socket", Section: "2.3.4.1", Group: knob.Workload, Live: true,
			Doc: "Whose memory a request goes to. own: that of the socket whose RNIC serves it. other: that of the other socket, across the interconnect. any: either. first: that of the first socket, so that with workload.dimm all requests go to one DIMM."}, Inactive: only("workload.socket")},
		{Knob: knob.Knob{Name: "workload.scale", Kind: knob.Float, Default: 1.0, Min: 0.0001, Max: 1.0, Label: "Scale of populations", Group: knob.Workload,
			Doc: "Multiplies populations only; caches that matter relative to them shrink by the same factor."}, Inactive: only("workload.scale")},
	}
	list = append(list, microKnobs(only)...)
	list = append(list, tpccKnobs(only)...)
	list = append(list, tpceKnobs(only)...)
	list = append(list, registersKnobs(only)...)
	return append(list, mixKnobs()...)
}

// microKnobs are those of the micro-benchmarks alone.
func microKnobs(only func(name string) func(v Knobs) string) []knob.Row {
	row := func(o occ.Optimisation, def bool, doc string) knob.Row {
		name := "opt.micro." + o.Name
		return knob.Row{Knob: knob.Knob{Name: name, Kind: knob.Bool, Default: def, Label: o.Title + " in a micro-benchmark", Section: "2.2.4", Group: knob.Optimisations, Live: true,
			Doc: o.Doc + doc}, Inactive: func(v Knobs) string {
			if why := only(name)(v); why != "" || o.Name != "db" || hasRDMA(v) {
				return why
			}
			return noDoorbells(v)
		}}
	}
	return []knob.Row{
		{Knob: knob.Knob{Name: "workload.objects", Kind: knob.Int, Default: 1, Min: 1, Max: 64, Label: "Objects per request", Section: "2.2.4", Group: knob.Workload,
			Doc: "A request of a micro-benchmark reads or writes so many objects, each on a random server; two-sided by an RPC each."}, Inactive: only("workload.objects")},
		{Knob: knob.Knob{Name: "workload.transport", Kind: knob.Choice, Default: "ud", Choices: []string{"ud", "write", "hybrid"}, Label: "RPC implementation", Section: "2.2.2", Group: knob.Workload,
			Doc: "ud: requests and replies by SEND over UD. write: both by WRITE into message buffers that the receiver polls. hybrid: requests by WRITE, replies by SEND over UD."}, Inactive: only("workload.transport")},
		row(opts[0], true, ""),
		row(opts[1], true, " Replies too."),
		row(opts[2], false, ""),
	}
}

// mixWeights are the default weights, where they are not 15.
var mixWeights = map[string]int{"send-payment": 25, "new-order": 45, "payment": 43, "order-status": 4, "delivery": 4, "stock-level": 4,
	"customer-position": 13, "trade-order": 10, "trade-result": 10, "security-detail": 14, "trade-lookup": 8, "trade-status": 19, "broker-volume": 5,
	"market-feed": 1, "market-watch": 18, "trade-update": 2,
	registers.TypeNames[0]: registers.Weights[0], registers.TypeNames[1]: registers.Weights[1], registers.TypeNames[2]: registers.Weights[2]}

// mixDocs is what else there is to say of a weight.
var mixDocs = map[string]string{
	"delivery":     " A delivery is a transaction per district.",
	"trade-result": " One for which no trade waits is a trade-order in its place.",
}

// mixKnobs has one weight for each type of each workload.
func mixKnobs() []knob.Row {
	var list []knob.Row
	seen := map[string]bool{}
	for _, w := range workloads {
		for _, typ := range w.mix {
			if seen[typ] {
				continue
			}
			seen[typ] = true
			weight, ok := mixWeights[typ]
			if !ok {
				weight = 15
			}
			list = append(list, knob.Row{Knob: knob.Knob{Name: "workload.mix." + typ, Kind: knob.Int, Default: weight, Min: 0, Max: 1000, Label: "Weight of " + typ, Section: "4.3", Group: knob.Workload, Live: true,
				Doc: "Share of this transaction type relative to the sum of all weights." + mixDocs[typ]}, Inactive: func(v Knobs) string {
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
