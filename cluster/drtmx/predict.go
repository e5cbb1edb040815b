package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
)

func predictCommand() *cobra.Command {
	var chapter int
	var scale string
	var only []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "predict",
		Short: "The thesis's system-level numbers and what this simulator predicts for them",
		Long: "Computes the figures about systems and lists every number and order that the thesis has of them, the published one where it is open. " +
			"Nothing is fitted to these. Runs are kept, so a second time is quick.",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := named(cmd, "figures", only); err != nil {
				return err
			}
			recipes, err := predicting(chapter, only)
			if err != nil {
				return err
			}
			var done []*figures.Figure
			for _, r := range recipes {
				f, err := computed(cmd, r, scale, nil)
				if err != nil {
					return err
				}
				done = append(done, f)
			}
			if err := show(cmd, figures.PredictionsOf(done...), asJSON); err != nil {
				return err
			}
			return checked(done)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&chapter, "chapter", 0, "only the rows of chapter `N`")
	fl.StringVar(&scale, "scale", figures.Quick, figures.Quick+" or "+figures.Paper+", as in drtmx figure")
	fl.StringSliceVar(&only, "figures", nil, "only the rows of these figures, by `ID,ID`")
	fl.BoolVar(&asJSON, "json", false, "print the rows as JSON")
	return cmd
}

// predicting are the figures that were asked for.
func predicting(chapter int, only []string) ([]*figures.Recipe, error) {
	all := figures.Predicting(chapter)
	if len(all) == 0 {
		return nil, &experiment.SpecError{Field: "chapter", Value: fmt.Sprint(chapter), Rule: "there are no figures about its systems", Next: "as --chapter 3"}
	}
	if only == nil {
		return all, nil
	}
	var out []*figures.Recipe
	for _, id := range only {
		r, err := figures.Find(id)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(x *figures.Recipe) bool { return x.ID() == r.ID() }) {
			return nil, &experiment.SpecError{Field: "figures", Value: id, Rule: "no row of it is among those that were asked for", Next: "verify has the rows of chapter 2"}
		}
		out = append(out, r)
	}
	return out, nil
}
