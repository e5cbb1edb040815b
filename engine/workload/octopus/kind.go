package octopus

import (
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/testbed"
	"drtmx/engine/workload"
	"drtmx/rdpma"
)

// Kinds is the workload in the list of parts.
var Kinds = []workload.Kind{{
	Load: testbed.Load{Name: Name},
	Doc:  "Octopus, writes to random places of files: an RPC, then WRITEs (section 2.3.5)",
	Rows: []knob.Row{
		{Knob: knob.Knob{Name: "workload.files", Kind: knob.Int, Default: 256, Min: 8, Max: 16_384, Label: "Files", Section: "2.3.5.3", Group: knob.Workload,
			Doc: "Files of 1 MB on each server."}},
	},
	Knobs:    []string{"workload.files", "workload.payload", "workload.align", "workload.scale"},
	Defaults: map[string]any{"workload.payload": 4096, "workload.align": MinAlign},
	Rules:    []func(knob.Values) error{workload.ValidOneSided(Name), validAlign, validPersist},
	Footprint: func(v knob.Values) workload.Footprint {
		_, servers := testbed.Machines(v)
		return workload.RawFootprint(int64(servers)*int64(workload.Scaled(v, "workload.files"))*FileBytes, int64(v.Int("workload.payload")))
	},
	Messages: func(c *r2.Config, v knob.Values) {
		c.RandomQP = true // section 2.2.4
		c.RecvDepth = r2.RecvDepths(c.PerMachine, v.Int("coroutines"), v.Int("coroutines"))
	},
	Requests: func(v knob.Values) workload.Requests { return workload.Requests{Writes: true} },
	Build: func(v knob.Values) (workload.Bench, error) {
		return New(Options{Payload: v.Int("workload.payload"), Files: workload.Scaled(v, "workload.files"), Align: v.Int("workload.align"), Setup: setupOf(v)})
	},
	Live: func(b workload.Bench, v knob.Values) error { return b.Set("setup", setupOf(v)) },
}}

// setupOf is what the knobs of the hardware say.
func setupOf(v knob.Values) Setup {
	on := func(n int) bool { return workload.HintOn(v, n) }
	return Setup{DRAM: !testbed.OnNVM(v), Durable: workload.Durable(v),
		Hints: rdpma.Hints{H1: on(1), H2: on(2), H3: on(3), H4: on(4), H5: on(5), H6: on(6), H7: on(7), H8: on(8), H9: on(9)}}
}

func validAlign(v knob.Values) error {
	if n := v.Int("workload.align"); n < MinAlign {
		return knob.Invalid("workload.align", n, "use 8 or more", "the library below Octopus takes offsets in words of %d bytes", MinAlign)
	}
	return nil
}

// validPersist refuses writes that the library would refuse one by one.
func validPersist(v knob.Values) error {
	if workload.Durable(v) && v.Bool("ddio") && v.Text("nvm.generation") == "first" {
		return knob.Invalid("nvm.persist", true, "set nvm.h3=true", "with DDIO on, what the RNIC writes stays in a cache that a crash loses")
	}
	return nil
}
