package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/engine/experiment"
)

// SpecFlags are what every command that runs a spec takes.
type SpecFlags struct {
	Preset string
	Set    []string
	seed   int64
}

func (f *SpecFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Preset, "preset", "", "protocol preset: "+strings.Join(experiment.PresetNames(), ", "))
	cmd.Flags().StringArrayVar(&f.Set, "set", nil, "knob setting `KNOB=VALUE`, any number of times; see drtmx knobs, and for hardware.NUMBER drtmx profiles")
	cmd.Flags().Int64Var(&f.seed, "seed", 0, "seed of all randomness")
}

// Spec is the spec that arguments and flags ask for.
func (f *SpecFlags) Spec(cmd *cobra.Command, args []string) (experiment.Spec, error) {
	name := experiment.SpecNames()[0]
	if len(args) > 0 {
		name = args[0]
	}
	spec, err := experiment.LoadSpec(name)
	if err != nil {
		return spec, err
	}
	return f.Change(cmd, spec)
}

// Change is a spec with what the flags set.
func (f *SpecFlags) Change(cmd *cobra.Command, spec experiment.Spec) (experiment.Spec, error) {
	set, err := SetFlags(f.Set)
	if err != nil {
		return spec, err
	}
	if f.Preset != "" {
		if err := flagged(set, "preset", f.Preset); err != nil {
			return spec, err
		}
	}
	if cmd.Flags().Changed("seed") {
		if err := flagged(set, "seed", int(f.seed)); err != nil {
			return spec, err
		}
	}
	changed, err := spec.With(set)
	return changed, overSeveral(err)
}

// overSeveral says, of several values that were given where a run takes one, which command takes them.
func overSeveral(err error) error {
	e := new(experiment.SpecError)
	if !errors.As(err, &e) || !strings.Contains(e.Value, ",") {
		return err
	}
	if _, unknown := experiment.KnobName(e.Field); unknown != nil {
		return err
	}
	several := *e
	several.Next = fmt.Sprintf("drtmx sweep takes several: --over %s=%s", e.Field, e.Value)
	return &several
}

// SetFlags are the knobs of flags --set.
func SetFlags(flags []string) (experiment.Knobs, error) {
	set := experiment.Knobs{}
	for _, s := range flags {
		k, v, err := experiment.ParseSetting(s)
		if err != nil {
			return nil, err
		}
		if one, more, ok := strings.Cut(v, ","); ok {
			if _, _, err := experiment.ParseSetting(more); err == nil {
				return nil, &experiment.SpecError{Field: k, Value: v, Rule: "has another setting in it", Next: fmt.Sprintf("give each a flag of its own: --set %s=%s --set %s", k, one, more)}
			}
		}
		if old, twice := set[k]; twice && old != v {
			return nil, &experiment.SpecError{Field: k, Value: v, Rule: fmt.Sprintf("is set to %v as well", old), Next: "give it once"}
		}
		set[k] = v
	}
	return set, nil
}

// flagged adds a knob that has a flag of its own, unless --set says something else.
func flagged(set experiment.Knobs, name string, value any) error {
	if old, twice := set[name]; twice && fmt.Sprint(old) != fmt.Sprint(value) {
		return &experiment.SpecError{Field: name, Value: fmt.Sprint(value), Rule: fmt.Sprintf("--set says %v", old), Next: "give it once"}
	}
	set[name] = value
	return nil
}

// OneSystem refuses a flag that is of one run where the spec lists several systems.
func OneSystem(spec experiment.Spec, flag, value, next string) error {
	if len(spec.Systems) == 0 {
		return nil
	}
	return &experiment.SpecError{Field: flag, Value: value, Rule: fmt.Sprintf("is for one system, the spec lists %d", len(spec.Systems)), Next: next}
}
