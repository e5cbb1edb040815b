package main

import (
	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/kept"
	"drtmx/cluster/drtmx/manual"
	"drtmx/cluster/drtmx/points"
	"drtmx/cluster/drtmx/registry"
	"drtmx/cluster/drtmx/thesis"
)

// commandRow is a row of the table of commands.
type commandRow struct {
	make      func() *cobra.Command // with its name, arguments, line of help and function
	arguments complete              // what the Tab key offers for them
	below     map[string]complete   // likewise, of the commands below it that take arguments
}

// commands is the one list of commands: dispatch, help and completion come from it.
func commands() []commandRow {
	spec := once(specNames)
	return []commandRow{
		{make: upCommand, arguments: spec},
		{make: runCommand, arguments: spec},
		{make: sweepCommand, arguments: spec},
		{make: whyCommand, arguments: spec},
		{make: exploreCommand, arguments: once(explorable)},
		{make: traceCommand, arguments: spec},
		{make: compareCommand, arguments: files},
		{make: replayCommand, arguments: files},
		{make: kept.Command, arguments: none, below: map[string]complete{
			"show": upTo(1, keptIDs), "compare": upTo(2, keptIDs), "note": upTo(1, keptIDs), "gc": upTo(100, keptIDs),
		}},
		{make: registry.KnobsCommand, arguments: specsAndKnobs},
		{make: registry.SpecsCommand, arguments: spec},
		{make: registry.ProfilesCommand, arguments: once(profileNames)},
		{make: thesis.FigureCommand, arguments: once(figureIDs)},
		{make: thesis.VerifyCommand, arguments: none},
		{make: thesis.PredictCommand, arguments: none},
		{make: thesis.FitCommand, arguments: once(profileNames)},
		{make: points.ServeWorkCommand, arguments: none},
		{make: points.WorkerCommand, arguments: none},
		{make: kernelCommand, arguments: none},
		{make: doctorCommand, arguments: none},
	}
}

// addCommands puts the table below the root, and the topics of the handbook behind it.
func addCommands(root *cobra.Command) {
	root.SetHelpCommand(manual.Command())
	root.AddCommand(manual.Topics()...)
	for _, row := range commands() {
		cmd := row.make()
		root.AddCommand(cmd)
		setCompletion(cmd, row.arguments)
		for _, sub := range cmd.Commands() {
			if arguments, ok := row.below[sub.Name()]; ok {
				setCompletion(sub, arguments)
			} else {
				setCompletion(sub, none)
			}
		}
	}
}
