package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/manual"
	"drtmx/cluster/drtmx/output"
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
		fmt.Fprintln(stderr, "drtmx: not kept: "+cli.Line(err)+" (what was printed is whole)")
	}
	runs.Use("")
	return err == nil
}

// runUntil runs until it is done or interrupted.
func runUntil(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	out := &output.Watched{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(withArgs(ctx, args))
	if err == nil {
		err = out.Err
	}
	if err == nil {
		return success
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	fmt.Fprintln(stderr, "drtmx: "+cli.Line(err)+manual.Pointer(err))
	var u *cli.UsageError
	if errors.As(err, &u) || experiment.IsSpecError(err) {
		return misused
	}
	return failed
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "drtmx",
		Short:         "A workbench for distributed transactions over RDMA and NVM",
		Long:          "drtmx runs the systems of the thesis on simulated hardware: live with a page (up), as batch runs (run, sweep, figure), and again (replay). The handbook is a topic a page: begin with drtmx help recipes.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usage("%s: no such command; %s", args[0], meant(cmd, args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(cli.WrongFlag)
	root.SuggestionsMinimumDistance = 2
	addCommands(root)
	return root
}

// meant guesses which command was meant by a name: one that other programs have for it, or one with a letter wrong.
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
