package explore_test

import (
	"context"
	"fmt"

	"drtmx/engine/experiment"
	"drtmx/engine/explore"
)

// A switch of the released code, under which transactions commit whatever they meet, shows itself when one message is held back.
func ExampleRun() {
	spec, err := explore.DefaultSpec().With(experiment.Knobs{"workload.script": "w0 w1; r0 r1", "workload.variant": "as-published"})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := explore.Run(context.Background(), spec, explore.Options{Steps: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d runs, %d orders\n", r.Runs, r.Orders)
	for _, x := range r.Found {
		fmt.Printf("%s: %s\n\n%s", x.Kind, x.Text, x.Spec.YAML())
	}
	// Output:
	// 10 runs, 6 orders
	// G-single: T2 (r0 r1) read record/0 at version 2, which T1 (w0 w1) overwrote with version 4; T1 (w0 w1) wrote record/1 at version 4, which T2 (r0 r1) read: each would have to come before the other
	//
	// name: explore
	// preset: drtm+h
	// workload: script
	// set:
	//   2pl.timeout_ns: 500us
	//   coroutines: 1
	//   drain_ns: 5ms
	//   duration_ns: 100us
	//   explore.delays: "2:3"
	//   nodes: 3
	//   replicas: 2
	//   threads: 1
	//   warmup_ns: 1us
	//   workload.scale: 0.0001
	//   workload.script: w0 w1; r0 r1
	//   workload.variant: as-published
}
