package manual

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/handbook"
	"drtmx/engine/experiment"
)

// Topics are commands that only have help: a page of the handbook each. Cobra lists them below the commands.
func Topics() (out []*cobra.Command) {
	for _, p := range handbook.Pages() {
		cmd := &cobra.Command{Use: p.Name, Short: p.Summary, Long: p.Title, DisableFlagsInUseLine: true}
		cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
			wide, colour := terminal(cmd)
			fmt.Fprint(cmd.OutOrStdout(), p.Terminal(wide, colour))
		})
		out = append(out, cmd)
	}
	return out
}

// Lines are wrapped at the width of the terminal, and at most at that which reads well.
const (
	leastWide = 40
	mostWide  = 100
)

// terminal says how wide a page is printed, and whether in colour.
func terminal(cmd *cobra.Command) (wide int, colour bool) {
	wide = mostWide
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil {
		wide = min(max(n, leastWide), mostWide)
	}
	w := cmd.OutOrStdout()
	if o, ok := w.(*output.Watched); ok {
		w = o.Writer
	}
	return wide, progress.IsTerminal(w) && os.Getenv("NO_COLOR") == ""
}

// mostHits are as many places as fit on a screen.
const mostHits = 8

// Command is drtmx help.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC | WORD...]",
		Short: "Help of a command, a page of the handbook, or where the handbook says some words",
		Long:  "Without arguments lists commands and topics. With the name of one shows it. With other words lists the places of the handbook that have all of them.",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && len(rest) == 0 && found != nil {
				found.InitDefaultHelpFlag()
				return found.Help()
			}
			return search(cmd, strings.Join(args, " "))
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) (out []string, _ cobra.ShellCompDirective) {
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range at.Commands() {
				if (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) && strings.HasPrefix(c.Name(), typed) {
					out = append(out, c.Name()+"\t"+c.Short)
				}
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// search prints the places of the handbook that have some words.
func search(cmd *cobra.Command, words string) error {
	hits := handbook.Search(words, mostHits)
	if len(hits) == 0 {
		return cli.Usage("%s: no command, no topic, and no page of the handbook has it; drtmx help lists commands and topics, drtmx knobs the knobs", words)
	}
	for _, h := range hits {
		where := "drtmx help " + h.Page
		if h.Heading != "" {
			where += ", " + h.Heading
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n    %s\n", where, strings.Join(strings.Fields(h.Excerpt), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Pointer is the end of an error's line that names the page that explains its knob. It is empty where the error names a command itself,
// and where the value alone is wrong: drtmx knobs says what can be set.
func Pointer(err error) string {
	e := new(experiment.SpecError)
	if !errors.As(err, &e) || strings.Contains(e.Next, "drtmx ") || strings.HasPrefix(e.Rule, "must be ") || strings.HasPrefix(e.Rule, "has no effect") {
		return ""
	}
	name, _, _ := strings.Cut(e.Field, " ")
	if topic := handbook.TopicOf(name); topic != "" {
		return "; drtmx help " + topic + " explains it"
	}
	return ""
}
