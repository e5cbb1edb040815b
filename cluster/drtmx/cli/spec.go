package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// SpecFlags are what every command that runs a spec takes.
type SpecFlags struct {
	Preset string
	Set    []string
	system string
	seed   int64
}

func (f *SpecFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Preset, "preset", "", "protocol preset: "+strings.Join(experiment.PresetNames(), ", "))
	cmd.Flags().StringArrayVar(&f.Set, "set", nil, "knob setting `KNOB=VALUE`, any number of times; see drtmx knobs, and for hardware.NUMBER drtmx profiles")
	cmd.Flags().StringVar(&f.system, "system", "", "the one system of this `NAME`, of a spec that lists several")
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
	set, err := f.changes()
	if err != nil {
		return spec, err
	}
	if cmd.Flags().Changed("seed") {
		if err := flagged(set, "seed", int(f.seed)); err != nil {
			return spec, err
		}
	}
	changed, err := spec.With(set)
	if err == nil && cmd.Flags().Changed("system") {
		changed, err = oneOf(changed, f.system)
	}
	return changed, overSeveral(err)
}

// changes are the knobs that --set and --preset set.
func (f *SpecFlags) changes() (experiment.Knobs, error) {
	set, err := SetFlags(f.Set)
	if err == nil && f.Preset != "" {
		err = flagged(set, "preset", f.Preset)
	}
	return set, err
}

// oneOf is one of the systems of a spec.
func oneOf(spec experiment.Spec, name string) (experiment.Spec, error) {
	list, err := spec.Each()
	if err != nil {
		return spec, err
	}
	var names []string
	for i := range spec.Systems {
		if list[i].Name == name {
			return list[i], nil
		}
		names = append(names, list[i].Name)
	}
	e := &experiment.SpecError{Field: "system", Value: name, Rule: "the spec has no such system", Next: "it has " + strings.Join(names, ", ")}
	if len(names) == 0 {
		e.Rule, e.Next = "the spec is of one system", "leave it out"
	}
	return spec, e
}

// Beside is a spec of two systems: what the arguments name without the settings of the flags, and with them. The seed is that of both.
func (f *SpecFlags) Beside(cmd *cobra.Command, args []string) (experiment.Spec, error) {
	base := SpecFlags{system: f.system, seed: f.seed}
	spec, err := base.Spec(cmd, args)
	if err != nil {
		return spec, err
	}
	set, err := f.changes()
	if err != nil {
		return spec, err
	}
	both := experiment.Knobs{}
	for name, v := range set { // order-free: how long is measured is the same for both
		if k := knob.Find(name); k != nil && k.Group == knob.Measurement {
			both[name] = v
			delete(set, name)
		}
	}
	switch {
	case len(set) == 0:
		return spec, &experiment.SpecError{Field: "beside", Rule: "no knob is set, so both systems would be the same", Next: "set one, as --set coroutines=16"}
	case len(spec.Systems) > 0:
		return spec, OneSystem(spec, "beside", "", "choose one by --system, or leave --beside out")
	}
	spec.Systems = []experiment.Spec{{Name: "without"}, {Name: "with", Set: set}}
	return spec.With(both)
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
