package micro

import (
	"drtmx/engine/knob"
	"drtmx/engine/testbed"
)

// rows are the knobs of the micro-benchmarks alone.
func rows() []knob.Row {
	return append(placeRows(), []knob.Row{
		{Knob: knob.Knob{Name: "workload.objects", Kind: knob.Int, Default: 1, Min: 1, Max: 64, Label: "Objects per request", Section: "2.2.4", Group: knob.Workload,
			Doc: "Number of objects that a request of a micro-benchmark reads or writes, each on a random server; two-sided, each takes an RPC."}},
		{Knob: knob.Knob{Name: "workload.transport", Kind: knob.Choice, Default: "ud", Choices: []string{"ud", "write", "hybrid"}, Label: "RPC implementation", Section: "2.2.2", Group: knob.Workload,
			Doc: "ud: requests and replies by SEND over UD. write: both by WRITE into message buffers that the receiver polls. hybrid: requests by WRITE, replies by SEND over UD."}},
		optRow("or", "Outstanding requests", true, "Posts all requests of the phase before waiting for the first completion. Off: one request at a time."),
		optRow("db", "Doorbell batching", true, "Rings one doorbell for all requests of a queue pair and lets the RNIC fetch them. Off: one MMIO each. Replies too."),
		optRow("pa", "Passive ACK", false, "Does not wait for the acknowledgement: unsignaled for one-sided, replies piggybacked for two-sided."),
	}...)
}

func optRow(name, title string, def bool, doc string) knob.Row {
	return knob.Row{Knob: knob.Knob{Name: "opt.micro." + name, Kind: knob.Bool, Default: def, Label: title + " in a micro-benchmark", Section: "2.2.4", Group: knob.Optimisations, Live: true,
		Doc: doc}, Inactive: func(v knob.Values) string {
		if name != "db" || testbed.HasRDMA(v) {
			return ""
		}
		return testbed.NoDoorbells(v)
	}}
}

// placeRows are those of where requests go, and of what the server does.
func placeRows() []knob.Row {
	return []knob.Row{
		{Knob: knob.Knob{Name: "workload.payload_max", Kind: knob.Bytes, Default: messageRoom, Min: 256, Max: messageRoom, Unit: "bytes", Label: "Largest payload", Section: "2.2.4", Group: knob.Workload,
			Doc: "Largest payload of messages and writes that can be set while the system runs. A smaller one makes receive buffers smaller and the simulation of large clusters faster."}},
		{Knob: knob.Knob{Name: "workload.pad", Kind: knob.Bytes, Default: 1, Min: 1, Max: 256, Unit: "bytes", Label: "Padding", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Writes are padded to a multiple of this, a power of 2, in addition to what the hints do; for two-sided writes the server pads."}},
		{Knob: knob.Knob{Name: "workload.primitive", Kind: knob.Choice, Default: "one-sided", Choices: []string{"one-sided", "two-sided"}, Label: "Primitive of a micro-benchmark", Section: "2.2.4", Group: knob.Workload,
			Doc: "one-sided: by READ or WRITE. two-sided: by an RPC whose reply or request carries the payload."}},
		{Knob: knob.Knob{Name: "workload.copy", Kind: knob.Choice, Default: "none", Choices: Copies(), Label: "What the server does with the bytes", Section: "2.3.4.2", Group: knob.Workload, Live: true,
			Doc: "Of a two-sided read or write. none: it answers at once (the LIMIT of figures 2-9 and 2-11, and what figure 2-4 measures). store: it copies them through its cache. ntstore: it writes them with non-temporal stores."}, Inactive: func(v knob.Values) string {
			if v.Text("workload.primitive") == "one-sided" {
				return "the RNIC copies"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.pattern", Kind: knob.Choice, Default: "random", Choices: []string{"random", "sequential"}, Label: "Pattern", Section: "2.3.3", Group: knob.Workload, Live: true,
			Doc: "random: each request goes to a random place. sequential: each thread goes from place to place in order."}},
		{Knob: knob.Knob{Name: "workload.dimm", Kind: knob.Int, Default: 0, Min: 0, Max: testbed.MostDIMMs, Label: "DIMM", Section: "2.3.4.1", Group: knob.Workload, Live: true,
			Doc: "All requests go to this DIMM of their socket, at most the number that the hardware has. 0: they are interleaved over all."}, Most: testbed.DIMMs, Inactive: func(v knob.Values) string {
			if !testbed.OnNVM(v) {
				return "the places are in DRAM"
			}
			return ""
		}},
		{Knob: knob.Knob{Name: "workload.socket", Kind: knob.Choice, Default: "own", Choices: Sockets(), Label: "Socket", Section: "2.3.4.1", Group: knob.Workload, Live: true,
			Doc: "Whose memory a request goes to. own: that of the socket whose RNIC serves it. other: that of the other socket, across the interconnect. any: either. first: that of the first socket, so that with workload.dimm all requests go to one DIMM."}},
	}
}
