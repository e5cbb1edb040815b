package agent

import (
	"context"
	"fmt"
	"slices"

	"drtmx/cluster/words"
	"drtmx/engine/experiment"
)

// Command is a request to a system, or of all (POST /api/control).
type Command struct {
	Action    string           `json:"action"`
	VirtualNS *int64           `json:"virtual_ns,omitempty"`
	Set       experiment.Knobs `json:"set,omitempty"`
	Seed      any              `json:"seed,omitempty"`
}

// check refuses what is no action, knobs that the action would leave as they are
// without a word, and a seed of which there are two.
func (b *Command) check() error {
	twice, ok := b.Set["seed"]
	switch {
	case !slices.Contains([]string{"pause", "resume", "step", "pace", "reset"}, b.Action):
		return &experiment.SpecError{Field: "action", Value: words.Clip(b.Action), Rule: "must be pause, resume, step, pace or reset", Next: `as {"action": "pause"}`}
	case (b.Action == "step" || b.Action == "pace") && b.VirtualNS == nil:
		return &experiment.SpecError{Field: "virtual_ns", Rule: "is missing", Next: `as {"action": "` + b.Action + `", "virtual_ns": 1000000}`}
	case b.Action != "reset" && len(b.Set) > 0:
		return &experiment.SpecError{Field: "set", Rule: "goes with the action reset alone", Next: "PATCH /api/knobs changes live knobs"}
	case b.Action != "reset" && b.Seed != nil && b.Seed != 0: // a zero of a client that sends all fields
		return &experiment.SpecError{Field: "seed", Rule: "goes with the action reset alone", Next: "leave it out"}
	case ok && b.Seed != nil && twice != b.Seed:
		return &experiment.SpecError{Field: "seed", Value: fmt.Sprint(b.Seed), Rule: fmt.Sprintf("set says %v", twice), Next: "give it once"}
	}
	return nil
}

// Control does what a command asks for.
func (a *Agent) Control(ctx context.Context, sys string, b Command, by string) error {
	if err := b.check(); err != nil {
		return err
	}
	switch b.Action {
	case "pause":
		return a.Pause(ctx, sys)
	case "resume":
		return a.Resume(ctx, sys)
	case "step":
		return a.Step(ctx, sys, *b.VirtualNS)
	case "pace":
		return a.Pace(ctx, sys, *b.VirtualNS)
	}
	return a.Reset(ctx, sys, b.Set, b.Seed, by)
}
