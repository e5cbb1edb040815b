package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drtmx/engine"
	"drtmx/engine/fabric"
)

func knobsCommand() *cobra.Command {
	var f specFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "knobs [SPEC]",
		Short: "The registry: every knob with value, range and meaning",
		Long:  "Lists every knob with its value in the spec. With --preset alone: the knobs that the preset sets.",
		Args:  atMost(1, "one spec at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := f.spec(cmd, args)
			if err != nil {
				return err
			}
			ks, err := engine.Describe(spec)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), ks)
			}
			if f.preset != "" && len(args) == 0 && len(f.set) == 0 {
				return printPreset(cmd.OutOrStdout(), f.preset, ks)
			}
			return printKnobs(cmd.OutOrStdout(), ks)
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the registry as JSON")
	return cmd
}

// printPreset prints the knobs that a preset sets: its row of Table 4-3.
func printPreset(w io.Writer, name string, ks []engine.KnobState) error {
	sets, err := engine.PresetKnobs(name)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range ks {
		if v, ok := sets[k.Name]; ok {
			fmt.Fprintf(t, "%s\t%s\t%s\n", k.Name, engine.Format(k.Name, v), k.Label)
		}
	}
	return t.Flush()
}

func printKnobs(w io.Writer, ks []engine.KnobState) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	group := ""
	for _, k := range ks {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(t, "\n%s\n", strings.ToUpper(group))
		}
		live := "reset"
		if k.Live {
			live = "live"
		}
		note := k.Label
		if !k.Active {
			note += " (inactive: " + k.InactiveBecause + ")"
		}
		if k.Auto != nil {
			note += " (" + k.Auto.Primitive + ": " + k.Auto.Because + ")"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.Name, engine.Format(k.Name, k.Value), rangeOf(k), live, note)
	}
	return t.Flush()
}

// rangeOf is what a knob takes.
func rangeOf(k engine.KnobState) string {
	switch {
	case len(k.Choices) > 0:
		return strings.Join(k.Choices, "|")
	case k.Kind == engine.KindBool:
		return "true|false"
	case k.Min != nil && k.Max != nil:
		return engine.Format(k.Name, k.Min) + ".." + engine.Format(k.Name, k.Max)
	}
	return k.Kind
}

func specsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "specs [NAME]",
		Short: "The shipped specs, or one of them as YAML",
		Args:  atMost(1, "one name at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				spec, err := engine.LoadSpec(args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(out, spec)
				}
				_, err = fmt.Fprint(out, spec.YAML())
				return err
			}
			var specs []engine.Spec
			t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for i, name := range engine.SpecNames() {
				spec, err := engine.LoadSpec(name)
				if err != nil {
					return err
				}
				specs = append(specs, spec)
				note := ""
				if i == 0 {
					note = "(default)"
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, spec.Workload, spec.Preset, note)
			}
			if asJSON {
				return printJSON(out, specs)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func profilesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "profiles [NAME]",
		Short: "The hardware profiles, or the numbers of one with unit, meaning, source and kind",
		Args:  atMost(1, "one name at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				return printProfile(out, args[0], asJSON)
			}
			if asJSON {
				return printJSON(out, fabric.Profiles())
			}
			for _, name := range fabric.Profiles() {
				p, err := fabric.LoadProfile(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s  %s\n", p.ID(), p.Title)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
