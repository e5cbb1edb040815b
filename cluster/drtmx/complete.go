package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/runs"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/explore"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/calibration"
	"drtmx/notebooks/figures/prediction"
)

// Completion on the Tab key: what a command takes, with a word on each. Cobra writes the scripts of the
// shells (drtmx completion bash|zsh|fish|powershell).

// complete is what cobra asks: the arguments so far and what is typed of the next.
type complete func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// flagValues completes the values of flags, which mean the same in every command that has them.
var flagValues = map[string]complete{
	"set": settings(false), "over": settings(true), "preset": always(presetNames), "scale": always(scales),
	"kind": always(func() []string { return runs.Kinds }), "workload": always(workloadNames),
	"type": ofSpec(typesOf), "system": ofSpec(systemsOf), "group": always(batch.CauseGroups),
	"rows": commas(rowIDs), "params": commas(numberNames), "figures": commas(figureIDs), "as": always(func() []string { return []string{prediction.Now} }),
	"pace": values("max", "100us/s", "1ms/s", "10ms/s"), "width": values("84mm", "178mm"), "font": values("sans", "serif", "mono"),
	"since": values("1d", "7d", "30d"), "older": values("7d", "30d", "90d"), "memory": values("2GB", "8GB"), "max-store": values("2GB", "8GB"),
	"budget": values("10s", "1m", "10m"), "name": none, "note": none, "listen": none, "host": none, "server": none,
}

// setCompletion gives a command what its arguments and flags can be.
func setCompletion(cmd *cobra.Command, arguments complete) {
	cmd.ValidArgsFunction = arguments
	for name, values := range flagValues { // order-free: each flag once
		if f := cmd.Flags().Lookup(name); f != nil && !takesFile(f) {
			if err := cmd.RegisterFlagCompletionFunc(name, values); err != nil {
				panic(err) // a flag twice: ours
			}
		}
	}
}

// takesFile says that a flag's value is a file or a folder, whose names the shell completes.
func takesFile(f *pflag.Flag) bool {
	what, _ := pflag.UnquoteUsage(f)
	return strings.HasPrefix(what, "FILE") || strings.HasPrefix(what, "DIR")
}

// values completes a flag with examples of what it takes.
func values(list ...string) complete { return always(func() []string { return list }) }

// commas completes each name of a list with commas between them.
func commas(list func() []string) complete {
	return func(_ *cobra.Command, _ []string, typed string) (out []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		for _, name := range list() {
			out = append(out, before+name)
		}
		return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}

// ofSpec completes a flag with what the spec has that the command names.
func ofSpec(list func(spec experiment.Spec) []string) complete {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		name := ""
		if len(args) > 0 {
			name = args[0]
		}
		spec, err := experiment.LoadSpec(name)
		if sets, setErr := cmd.Flags().GetStringArray("set"); err == nil && setErr == nil {
			if set, err := cli.SetFlags(sets); err == nil {
				if changed, err := spec.With(set); err == nil {
					spec = changed
				}
			}
		}
		return list(spec), cobra.ShellCompDirectiveNoFileComp
	}
}

func systemsOf(spec experiment.Spec) (out []string) {
	for _, s := range spec.Systems {
		out = append(out, s.Name)
	}
	return out
}

// typesOf are the transaction types of a spec's workload.
func typesOf(spec experiment.Spec) (out []string) {
	v, err := experiment.Resolve(spec)
	if err != nil {
		return nil
	}
	for _, t := range experiment.Workloads.Of(v).Mix {
		out = append(out, t.Name)
	}
	return out
}

// rowIDs are the rows of the calibration table.
func rowIDs() (out []string) {
	rows, _ := calibration.List() // of a table that cannot be read there are none
	for _, r := range rows {
		out = append(out, described(r.ID, r.Claim))
	}
	return out
}

// numberNames are the numbers of a hardware profile.
func numberNames() (out []string) {
	if p, err := profile.Load("val"); err == nil {
		p.Each(func(number string, n *profile.Number) { out = append(out, described(number, n.Unit)) })
	}
	return out
}

// described is a completion as cobra has it, with a word on it.
func described(name, what string) string { return name + "\t" + what }

// none completes nothing, not even files.
func none(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// files lets the shell complete names of files.
func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// once completes the first argument, of which a file is one too.
func once(list func() []string) complete {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), cobra.ShellCompDirectiveDefault
	}
}

// always completes the value of a flag.
func always(list func() []string) complete {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

// explorable are specs to explore: those that are small enough come first.
func explorable() (out []string) {
	for _, n := range explore.Names {
		out = append(out, described(n, "a small system"))
	}
	return append(out, specNames()...)
}

func specNames() (out []string) {
	for _, n := range experiment.SpecNames() {
		out = append(out, described(n, "a shipped spec"))
	}
	for _, n := range knob.Find("workload").Choices {
		if !slices.Contains(experiment.SpecNames(), n) {
			out = append(out, described(n, "a workload"))
		}
	}
	return append(out, presetNames()...)
}

func presetNames() (out []string) {
	for _, n := range experiment.PresetNames() {
		out = append(out, described(n, "a preset"))
	}
	return out
}

func profileNames() (out []string) {
	for _, n := range profile.Names() {
		out = append(out, described(n, "a hardware profile"))
	}
	return out
}

func workloadNames() []string { return valuesOf("workload") }

// keptIDs are the runs that were kept last.
func keptIDs() (out []string) {
	if f, err := runs.File(); err != nil || !fileExists(f) { // the Tab key makes no store
		return nil
	}
	s, err := runs.Default()
	if err != nil {
		return nil
	}
	list, _ := s.List(runs.Filter{Limit: 50}) // of a store that cannot be read there are none
	for _, k := range list {
		out = append(out, described(k.ID.String(), k.Kind+" "+cmp.Or(k.Note, k.About)))
	}
	return out
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// upTo completes each of the first n arguments from a list, files not among them.
func upTo(n int, list func() []string) complete {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), cobra.ShellCompDirectiveNoFileComp
	}
}

func scales() []string { return []string{figures.Quick, figures.Paper} }

func figureIDs() (out []string) {
	for _, f := range figures.List() {
		out = append(out, described(f.ID, f.Title))
	}
	return append(out, described("all", "every figure"), described("list", "the figures there are"))
}

// specsAndKnobs are what drtmx knobs takes: knobs, and a spec before them.
func specsAndKnobs(_ *cobra.Command, args []string, typed string) (out []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		out = specNames()
	}
	return append(out, knobNames(typed, "")...), cobra.ShellCompDirectiveDefault
}

// settings completes KNOB=VALUE: the knob, then its value; with several, the next value after a comma.
func settings(several bool) complete {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		name, given, ok := strings.Cut(typed, "=")
		if !ok {
			return knobNames(typed, "="), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		before := name + "="
		if i := strings.LastIndexByte(given, ','); several && i >= 0 {
			before += given[:i+1]
		}
		var out []string
		for _, v := range valuesOf(name) {
			out = append(out, before+v)
		}
		if several {
			return out, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// knobNames are the knobs, and once hardware. is typed the numbers of the default profile.
func knobNames(typed, end string) (out []string) {
	for _, k := range experiment.Registry() {
		out = append(out, described(k.Name+end, k.Label))
	}
	if !strings.HasPrefix(typed, "hardware.") {
		return append(out, described("hardware.", "a number of the hardware profile"))
	}
	p, err := profile.Load("val")
	if err != nil {
		return out
	}
	p.Each(func(number string, n *profile.Number) {
		out = append(out, described("hardware."+number+end, fmt.Sprintf("%v %s", n.Value, n.Unit)))
	})
	return out
}

// valuesOf are the values of a knob that can be listed; of a number it is the default.
func valuesOf(name string) []string {
	for _, k := range experiment.Registry() {
		switch {
		case k.Name != name:
		case len(k.Choices) > 0:
			return k.Choices
		case k.Kind == knob.Bool:
			return []string{"true", "false"}
		case k.Default != nil && k.Default != "":
			return []string{experiment.Format(name, k.Default)}
		}
	}
	return nil
}
