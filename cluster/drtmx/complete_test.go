package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"drtmx/engine/batch"
)

// What the Tab key offers, as cobra's scripts ask for it.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		typed []string // the last may be empty
		want  []string // some of what is offered
	}{
		{[]string{"run", "--set", "phase.va"}, []string{"phase.validation="}},
		{[]string{"run", "--set", "phase.commit="}, []string{"phase.commit=one-sided", "phase.commit=two-sided", "phase.commit=auto"}},
		{[]string{"run", "--set", "ddio="}, []string{"ddio=true", "ddio=false"}},
		{[]string{"run", "--set", "workload="}, []string{"workload=tpcc", "workload=registers"}},
		{[]string{"run", "--set", "hardware.nic.qp"}, []string{"hardware.nic.qp_contexts="}},
		{[]string{"sweep", "--over", "phase.lock=one-sided,"}, []string{"phase.lock=one-sided,two-sided"}},
		{[]string{"run", "--preset", ""}, []string{"farm", "drtm+h"}},
		{[]string{"run", ""}, []string{"phases", "nvm", "registers"}},
		{[]string{"up", "n"}, []string{"nvm"}},
		{[]string{"figure", "2-4"}, []string{"2-4a", "2-4b"}},
		{[]string{"figure", "2-4a", "--scale", ""}, []string{"quick", "paper"}},
		{[]string{"profiles", ""}, []string{"val", "r74v"}},
		{[]string{"knobs", "coro"}, []string{"coroutines"}},
		{[]string{"why", ""}, []string{"phases"}},
		{[]string{"runs", ""}, []string{"list", "show", "compare", "note", "query", "export", "gc"}},
		{[]string{"runs", "list", "--kind", ""}, []string{"run", "sweep", "figure", "session"}},
		{[]string{"runs", "--workload", ""}, []string{"smallbank", "tpcc"}},
		{[]string{"explore", ""}, []string{"transactions", "xstore", "phases"}},
		{[]string{"run", "tp"}, []string{"tpcc"}},
		{[]string{"run", "rivals", "--system", ""}, []string{"occ", "nowait"}},
		{[]string{"trace", "--type", ""}, []string{"balance"}},
		{[]string{"trace", "tpcc", "--type", ""}, []string{"new-order"}},
		{[]string{"trace", "--set", "workload=tpce", "--type", ""}, []string{"trade-order"}},
		{[]string{"why", "--group", ""}, batch.CauseGroups()},
		{[]string{"verify", "--rows", "f2-2b-order,f2-4a-r"}, []string{"f2-2b-order,f2-4a-read-peak"}},
		{[]string{"explore", "--set", "workload.var"}, []string{"workload.variant="}},
	} {
		out := ok(t, append([]string{"__complete"}, c.typed...)...)
		var offered []string
		for _, line := range strings.Split(out, "\n") {
			name, _, _ := strings.Cut(line, "\t")
			offered = append(offered, name)
		}
		for _, want := range c.want {
			if !slices.Contains(offered, want) {
				t.Errorf("%q: %q is not offered, only %q", c.typed, want, offered)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := ok(t, "completion", shell); !strings.Contains(out, "drtmx") {
			t.Errorf("no script for %s", shell)
		}
	}
}

// Every flag that takes a text offers what it can be, or lets the shell offer files where it wants one.
func TestFlagsComplete(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind := f.Value.Type()
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); !ok && !takesFile(f) && (kind == "string" || strings.HasPrefix(kind, "string")) && f.Name != "resume" {
				t.Errorf("%s --%s offers files: %s", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand())
}

// The table and the commands that it makes agree: each of them that takes a spec is offered one, and no row names a command that is
// not below its own.
func TestTableFitsItsCommands(t *testing.T) {
	for _, row := range commands() {
		cmd := row.make()
		if offered, _ := row.arguments(cmd, nil, ""); strings.Contains(cmd.Use, "[SPEC]") && !slices.Contains(offered, described("phases", "a shipped spec")) {
			t.Errorf("%q is not offered the spec phases, only %q", cmd.Use, offered)
		}
		for name := range row.below {
			if !slices.ContainsFunc(cmd.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name }) {
				t.Errorf("the table has a completion of %s %s, which is no command", cmd.Name(), name)
			}
		}
	}
}
