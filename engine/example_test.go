package engine_test

import (
	"context"
	"fmt"
	"log"

	"drtmx/engine"
	"drtmx/engine/experiment"
)

// A batch run: a preset, a few knobs, everything else as the registry says.
func ExampleRun() {
	spec := experiment.Spec{Preset: "farm", Workload: "smallbank", Set: experiment.Knobs{
		"nodes": 3, "threads": 2, "coroutines": 2, "workload.accounts": 1000, "warmup_ns": "50us", "duration_ns": "200us",
	}}
	r, err := engine.Run(context.Background(), spec, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Commits > 0, r.Checks.Passed(), len(r.Digest))
	// Output: true true 64
}

// Virtual time moves only when asked, and knobs change where it stands.
func ExampleSystem_Set() {
	s, err := engine.Open(experiment.Spec{Set: experiment.Knobs{"nodes": 3, "threads": 1, "workload.accounts": 1000}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Advance(100_000); err != nil {
		log.Fatal(err)
	}
	c, err := s.Set(experiment.Knobs{"phase.validation": "two-sided"}, "example")
	fmt.Println(c.Version, c.VirtualNS, c.Pending, err)
	_, err = s.Set(experiment.Knobs{"phase.comit": "two-sided"}, "example")
	fmt.Println(err)
	// Output:
	// 2 100000 false <nil>
	// phase.comit: unknown knob, did you mean phase.commit? `drtmx knobs` lists them all
}

// A spec is YAML and back.
func ExampleParseSpec() {
	spec, err := experiment.ParseSpec([]byte("preset: fasst\nset: {cache.bytes: 64MB, duration_ns: 2ms}"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(spec)
	// Output:
	// preset: fasst
	// set:
	//   cache.bytes: 64MB
	//   duration_ns: 2ms
}
