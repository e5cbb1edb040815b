package agent

import (
	"context"
	"fmt"

	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

func ExampleAgent() {
	a, err := New(experiment.Spec{Preset: "drtm+h", Workload: "smallbank"}, Options{Paused: true, Open: systemtest.Opener(systemtest.Options{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	if err := a.Step(context.Background(), "a", 1_000_000); err != nil {
		fmt.Println(err)
	}
	s, _ := a.State("a")
	fmt.Println(s.State, s.VirtualNS)
	// Output: paused 1000000
}
