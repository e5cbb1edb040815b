package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"drtmx/cluster/runs"
	"drtmx/engine/experiment"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// Exit statuses.
const (
	success = 0
	failed  = 1
	misused = 2
)

// run is main for tests.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	code := runUntil(ctx, args, stdout, stderr)
	if !closeRuns(stderr) && code == success {
		return failed
	}
	return code
}

// closeRuns closes the run store, if one was opened, and says what it could not keep meanwhile. It reports whether all was kept.
func closeRuns(stderr io.Writer) bool {
	err := runs.CloseDefault()
	if err != nil {
		fmt.Fprintln(stderr, "drtmx: not kept: "+line(err)+" (what was printed is whole)")
	}
	runs.Use("")
	return err == nil
}

// runUntil runs until it is done or interrupted.
func runUntil(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	out := &watched{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(withArgs(ctx, args))
	if err == nil {
		err = out.err
	}
	if err == nil {
		return success
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintln(stderr, "drtmx: "+line(err))
	var u *usageError
	if errors.As(err, &u) || experiment.IsSpecError(err) {
		return misused
	}
	return failed
}

// usageError is a command line that cannot be understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// line makes one line of an error. What a person mistyped may come with
// suggestions on lines of their own; a simulator bug comes with a stack, which
// DRTMX_STACK=1 shows.
func line(err error) string {
	text := err.Error()
	var u *usageError
	if !errors.As(err, &u) && !experiment.IsSpecError(err) {
		if os.Getenv("DRTMX_STACK") != "" {
			return text
		}
		text, _, _ = strings.Cut(text, "\n")
	}
	return strings.Join(strings.Fields(text), " ")
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "drtmx",
		Short:         "A workbench for distributed transactions over RDMA and NVM",
		Long:          "drtmx runs the systems of the thesis on simulated hardware: live with a page (up), as batch runs (run, sweep, figure), and again (replay).",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage("%s: no such command; %s", args[0], meant(cmd, args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if strings.HasSuffix(err.Error(), "--spec") {
			return usage("%v; a spec has no flag, as in %s nvm", err, cmd.CommandPath())
		}
		if strings.HasSuffix(err.Error(), "--port") && cmd.Flags().Lookup("listen") != nil {
			return usage("%v; the port is part of the address, as in %s --listen 127.0.0.1:7071", err, cmd.CommandPath())
		}
		return usage("%v; see %s --help", mistyped(cmd, err), cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(upCommand(), runCommand(), sweepCommand(), whyCommand(), exploreCommand(), compareCommand(), knobsCommand(), specsCommand(),
		profilesCommand(), replayCommand(), traceCommand(), figureCommand(), runsCommand(), verifyCommand(), predictCommand(), fitCommand(), workerCommand(), serveWorkCommand(), kernelCommand(), doctorCommand(), resultsTopic())
	addCompletions(root)
	return root
}

// meant guesses which command a person meant who typed a name: one that other programs have for it, or one with a letter wrong.
func meant(root *cobra.Command, name string) string {
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, name) {
			return "did you mean " + c.Name() + "?"
		}
	}
	if s := root.SuggestionsFor(name); len(s) > 0 {
		return "did you mean " + s[0] + "?"
	}
	return "drtmx --help lists the commands"
}

// atMost is cobra.MaximumNArgs with our exit status.
func atMost(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("%s: %s takes %s", args[n], cmd.CommandPath(), what)
		}
		return nil
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%s takes %s", cmd.CommandPath(), what)
		}
		return nil
	}
}

// specFlags are what every command that runs a spec takes.
type specFlags struct {
	preset string
	set    []string
	seed   int64
}

func (f *specFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.preset, "preset", "", "protocol preset: "+strings.Join(experiment.PresetNames(), ", "))
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "knob setting `KNOB=VALUE`, any number of times; see drtmx knobs, and for hardware.NUMBER drtmx profiles")
	cmd.Flags().Int64Var(&f.seed, "seed", 0, "seed of all randomness")
}

// spec is the spec that arguments and flags ask for.
func (f *specFlags) spec(cmd *cobra.Command, args []string) (experiment.Spec, error) {
	name := experiment.SpecNames()[0]
	if len(args) > 0 {
		name = args[0]
	}
	spec, err := experiment.LoadSpec(name)
	if err != nil {
		return spec, err
	}
	return f.change(cmd, spec)
}

// change is a spec with what the flags set.
func (f *specFlags) change(cmd *cobra.Command, spec experiment.Spec) (experiment.Spec, error) {
	set, err := setFlags(f.set)
	if err != nil {
		return spec, err
	}
	if f.preset != "" {
		if err := flagged(set, "preset", f.preset); err != nil {
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

// setFlags are the knobs of flags --set.
func setFlags(flags []string) (experiment.Knobs, error) {
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

// pflagSays is how pflag refuses a value. What follows it is for those who wrote the program.
var pflagSays = regexp.MustCompile(`^invalid argument ("(?:[^"\\]|\\.)*") for "(?:-\w, )?--([\w-]+)" flag: `)

// mistyped says of a flag's value what pflag says, in the form of all errors here.
func mistyped(cmd *cobra.Command, err error) error {
	m := pflagSays.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	value, uerr := strconv.Unquote(m[1])
	flag := cmd.Flags().Lookup(m[2])
	if uerr != nil || flag == nil {
		return err
	}
	if value == "" {
		value = m[1]
	}
	rule, ok := map[string]string{"int": "must be a whole number such as 5", "int64": "must be a whole number such as 5",
		"duration": "must be a time such as 30s or 5m", "bool": "must be true or false"}[flag.Value.Type()]
	if !ok {
		return err
	}
	return &experiment.SpecError{Field: flag.Name, Value: value, Rule: rule}
}

// flagged adds a knob that has a flag of its own, unless --set says something else.
func flagged(set experiment.Knobs, name string, value any) error {
	if old, twice := set[name]; twice && fmt.Sprint(old) != fmt.Sprint(value) {
		return &experiment.SpecError{Field: name, Value: fmt.Sprint(value), Rule: fmt.Sprintf("--set says %v", old), Next: "give it once"}
	}
	set[name] = value
	return nil
}

// printJSON writes one JSON value.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
