package registry

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/handbook"
	"drtmx/engine/experiment"
	"drtmx/engine/fabric/profile"
)

func KnobsCommand() *cobra.Command {
	var f cli.SpecFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "knobs [SPEC] [KNOB]...",
		Short: "The registry: every knob with value, range and meaning",
		Long: "Lists every knob with its value in the spec, or tells all about the knobs that are named. The first part of a name, as in drtmx knobs phase, lists all knobs that begin with it; another word those that have it in their name, label or help. With --preset alone: the knobs that the preset sets. " +
			"The numbers of the hardware profile are knobs too, hardware.NUMBER; they are listed where the spec sets them, or when they are named.",
		RunE: func(cmd *cobra.Command, args []string) error {
			var names []string
			args, names = specThenKnobs(args)
			if len(args) == 1 && len(names) == 0 && notSpec(args[0]) && !strings.ContainsAny(args[0], `/\`) && !strings.HasSuffix(args[0], ".yaml") {
				args, names = nil, args // a word to search for
			}
			spec, err := f.Spec(cmd, args)
			if err != nil {
				return err
			}
			ks, err := experiment.Describe(spec, hardwareOf(names)...)
			if err != nil {
				return err
			}
			var several bool
			if len(names) == 1 {
				ks, several, err = search(ks, names[0])
			} else if len(names) > 0 {
				ks, err = chosen(ks, names)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), ks)
			}
			if several {
				return listKnobs(cmd.OutOrStdout(), ks)
			}
			if len(names) > 0 {
				return tellKnobs(cmd.OutOrStdout(), ks)
			}
			if f.Preset != "" && len(args) == 0 && len(f.Set) == 0 {
				return printPreset(cmd.OutOrStdout(), f.Preset, ks)
			}
			return printKnobs(cmd.OutOrStdout(), ks)
		},
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the registry as JSON")
	return cmd
}

// specThenKnobs parts the arguments: what comes first is a spec unless it is a knob.
func specThenKnobs(args []string) (spec, knobs []string) {
	if len(args) == 0 {
		return nil, nil
	}
	if _, err := experiment.KnobName(args[0]); err == nil || experiment.IsHardware(args[0]) {
		return nil, args
	}
	if ks, err := experiment.Describe(experiment.Spec{}); err == nil && isFamily(ks, args[0]) && notSpec(args[0]) {
		return nil, args
	}
	return args[:1], args[1:]
}

// notSpec says that an argument names neither a shipped spec nor a file. A folder, such as this repository's xstore, is none.
func notSpec(arg string) bool {
	if _, err := experiment.LoadSpec(arg); err == nil {
		return false
	}
	info, err := os.Stat(arg)
	return err != nil || info.IsDir()
}

// inFamily says that a knob's name begins with some parts, as phase.lock does with phase.
func inFamily(name, parts string) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(parts, ".")+".")
}

// isFamily says that there are knobs whose names begin so, and none that is called so.
func isFamily(ks []experiment.KnobState, parts string) bool {
	if _, err := experiment.KnobName(parts); err == nil {
		return false
	}
	return slices.ContainsFunc(ks, func(k experiment.KnobState) bool { return inFamily(k.Name, parts) })
}

// listKnobs prints a line for each knob.
func listKnobs(w io.Writer, ks []experiment.KnobState) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	before := ""
	for _, k := range ks {
		before = printKnob(t, k, shortRange(k), before)
	}
	return t.Flush()
}

// search are the knobs that a word stands for: the one of that name, else the several whose names begin with it, else those that have it in
// their name, label or help. Without any it is the error of a knob that does not exist.
func search(ks []experiment.KnobState, word string) (found []experiment.KnobState, several bool, err error) {
	one, err := chosen(ks, []string{word})
	if err == nil {
		return one, false, nil
	}
	within := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(word)) }
	family := isFamily(ks, word)
	for _, k := range ks {
		if family && inFamily(k.Name, word) || !family && word != "" && (within(k.Name) || within(k.Label) || within(k.Doc)) {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return nil, false, err
	}
	return found, true, nil
}

// hardwareOf are those of some names that are numbers of the hardware.
func hardwareOf(names []string) (out []string) {
	for _, called := range names {
		if name, err := experiment.KnobName(called); err == nil && experiment.IsHardware(name) {
			out = append(out, name)
		}
	}
	return out
}

// printPreset prints the knobs that a preset sets: its row of Table 4-3.
func printPreset(w io.Writer, name string, ks []experiment.KnobState) error {
	sets, err := experiment.PresetKnobs(name)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range ks {
		if v, ok := sets[k.Name]; ok {
			fmt.Fprintf(t, "%s\t%s\t%s\n", k.Name, experiment.Format(k.Name, v), k.Label)
		}
	}
	return t.Flush()
}

// printKnobs prints the registry by group. The groups come in the order in which the registry
// first names them, which is by floor; it comes back to some of them later.
func printKnobs(w io.Writer, ks []experiment.KnobState) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var groups []string
	for _, k := range ks {
		if !slices.Contains(groups, k.Group) {
			groups = append(groups, k.Group)
		}
	}
	for _, group := range groups {
		fmt.Fprintf(t, "\n%s\n", strings.ToUpper(group))
		before := ""
		for _, k := range ks {
			if k.Group == group {
				before = printKnob(t, k, shortRange(k), before)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	profile := ks[slices.IndexFunc(ks, func(k experiment.KnobState) bool { return k.Name == "profile" })].Value
	_, err := fmt.Fprintf(w, "\ndrtmx knobs KNOB tells more of one; a reset knob cannot be changed while a system runs\n"+
		"hardware.NUMBER=VALUE sets a number of the profile, as hardware.wire.switch=500; drtmx profiles %v lists them\n", profile)
	return err
}

// printKnob prints a knob's line and returns why it has no effect, which needs no saying where it was said before.
func printKnob(w io.Writer, k experiment.KnobState, values, before string) (inactive string) {
	live := "reset"
	if k.Live {
		live = "live"
	}
	note := k.Label
	if experiment.IsHardware(k.Name) {
		note = "in " + k.Unit
		if k.Unit == "count" {
			note = "number"
		}
	}
	switch {
	case k.Active:
	case k.InactiveBecause == before:
		note += " (inactive too)"
	default:
		note += " (inactive: " + k.InactiveBecause + ")"
	}
	if k.Auto != nil {
		note += " (" + k.Auto.Primitive + ": " + k.Auto.Because + ")"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.Name, experiment.Format(k.Name, k.Value), values, live, note)
	return k.InactiveBecause
}

// shortRange is a knob's range as a column of a list has room for it: drtmx knobs KNOB has all choices.
func shortRange(k experiment.KnobState) string {
	const most = 44
	r := k.Range()
	if len(r) <= most || len(k.Choices) == 0 {
		return r
	}
	return r[:strings.LastIndexByte(r[:most], '|')+1] + "…"
}

// chosen are the knobs of the given names.
func chosen(ks []experiment.KnobState, names []string) ([]experiment.KnobState, error) {
	var out []experiment.KnobState
	for _, called := range names {
		name, err := experiment.KnobName(called)
		if err != nil {
			return nil, err
		}
		out = append(out, ks[slices.IndexFunc(ks, func(k experiment.KnobState) bool { return k.Name == name })])
	}
	return out, nil
}

// tellKnobs prints all that the registry has about some knobs.
func tellKnobs(w io.Writer, ks []experiment.KnobState) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.DiscardEmptyColumns)
	for _, k := range ks {
		printKnob(t, k, k.Range(), "")
		fmt.Fprintf(t, "  %s\n  default %s", k.Doc, experiment.Format(k.Name, k.Default))
		if k.Section != "" {
			fmt.Fprintf(t, "; thesis %s", k.Section)
		}
		if topic := handbook.TopicOf(k.Name); topic != "" {
			fmt.Fprintf(t, "; drtmx help %s", topic)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func SpecsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "specs [NAME]",
		Short:      "The shipped specs, or one of them as YAML",
		SuggestFor: []string{"list", "ls", "workloads"},
		Args:       cli.AtMost(1, "one name at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				spec, err := experiment.LoadSpec(args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return cli.PrintJSON(out, spec)
				}
				_, err = fmt.Fprint(out, spec.YAML())
				return err
			}
			var specs []experiment.Spec
			t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			for i, name := range experiment.SpecNames() {
				spec, err := experiment.LoadSpec(name)
				if err != nil {
					return err
				}
				specs = append(specs, spec)
				note := ""
				if i == 0 {
					note = "(default)"
				}
				if n := len(spec.Systems); n > 0 {
					note = fmt.Sprintf("(%d systems)", n)
				}
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", name, spec.Workload, spec.Preset, note)
			}
			if asJSON {
				return cli.PrintJSON(out, specs)
			}
			return t.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func ProfilesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "profiles [NAME]",
		Short: "The hardware profiles, or the numbers of one with unit, meaning, source and kind",
		Args:  cli.AtMost(1, "one name at most"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				return printProfile(out, args[0], asJSON)
			}
			if asJSON {
				return cli.PrintJSON(out, profile.Names())
			}
			for _, name := range profile.Names() {
				p, err := profile.Load(name)
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
