package thesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/job"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/gallery"
)

// pictures are the files of one figure that were asked for.
func (f *figureFlags) pictures() string {
	return f.tables.CSV + f.tables.Parquet + f.svg + f.png + f.pdf + f.pgf + f.tikz
}

// gallery writes every figure into a folder of pages. It goes on to the next figure where one fails, and ends with that. What a lab computes of it comes figure by figure too.
func (f *figureFlags) gallery(cmd *cobra.Command, set experiment.Knobs) error {
	if f.html == "-" {
		return &experiment.SpecError{Field: "--html", Value: f.html, Rule: "all figures do not fit on standard output", Next: "name a folder"}
	}
	g, err := gallery.Open(gallery.Options{Dir: f.html, Scale: f.scale, Set: set, Band: f.band})
	if err != nil {
		return err
	}
	list := figures.List()
	done, err := f.known(cmd, g, list, set)
	if err != nil {
		return err
	}
	var failed []string
	for i, x := range list {
		if slices.ContainsFunc(done, func(fig *figures.Figure) bool { return fig.ID == x.ID }) {
			continue
		}
		fig, err := f.next(cmd, g, i, x, set)
		if errors.Is(err, context.Canceled) {
			there, all := g.Count()
			fmt.Fprintf(cmd.ErrOrStderr(), "%s has %d of %d figures; the same command goes on\n", g.Index(), there, all)
			return err
		}
		if err != nil {
			failed = append(failed, x.ID)
			fmt.Fprintf(cmd.ErrOrStderr(), "figure %s: %v\n", x.ID, err)
			if err := g.Fail(x.ID, err); err != nil {
				return err
			}
			continue
		}
		if err := g.Add(fig); err != nil {
			return err
		}
		done = append(done, fig)
	}
	if f.asJSON {
		err = cli.PrintJSON(cmd.OutOrStdout(), done)
	} else {
		there, all := g.Count()
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "written: %s, %d of %d figures\n", g.Index(), there, all)
	}
	if err == nil && len(failed) > 0 {
		err = errors.New("these figures were not computed, their pages say why: " + strings.Join(failed, ", "))
	}
	return errors.Join(err, checked(done))
}

// known writes the figures that were computed before, and those that take no time, unless all are wanted anew.
func (f *figureFlags) known(cmd *cobra.Command, g *gallery.Gallery, list []job.FigureInfo, set experiment.Knobs) ([]*figures.Figure, error) {
	done := []*figures.Figure{}
	if f.anew || f.record != "" || f.band || f.scale != figures.Quick || len(set) > 0 {
		return done, nil
	}
	for i, x := range list {
		if err := cmd.Context().Err(); err != nil {
			return nil, err
		}
		fig := figures.Known(x.ID)
		if x.Instant {
			var err error
			if fig, err = f.next(cmd, g, i, x, set); err != nil {
				return nil, err
			}
		} else if fig == nil || fig.Scale != f.scale {
			continue
		} else {
			f.report(cmd, len(list), i, fig)
		}
		if err := g.Add(fig); err != nil {
			return nil, err
		}
		done = append(done, fig)
	}
	return done, nil
}

// report says what became of the i-th figure.
func (f *figureFlags) report(cmd *cobra.Command, all, i int, fig *figures.Figure) {
	v, how := fig.Verdicts(), ""
	if fig.Made != nil {
		how = "; " + fig.Made.String()
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%3d of %d  %-14s %7.1f s  %d hold, %d contradicted, %d undecided%s\n", i+1, all, fig.ID, float64(fig.WallMS)/1000, v.Holds, v.Contradicted, v.Undecided, how)
}

// next computes the i-th figure, and says what became of it.
func (f *figureFlags) next(cmd *cobra.Command, g *gallery.Gallery, i int, x job.FigureInfo, set experiment.Knobs) (*figures.Figure, error) {
	_, all := g.Count()
	r, err := f.recipe(cmd, x.ID)
	if err != nil {
		return nil, err
	}
	fig, err := computed(cmd, r, fmt.Sprintf("figure %s, %d of %d", x.ID, i+1, all), f.scale, set, f.banded(r, set, false))
	if err != nil {
		return nil, err
	}
	if err := f.finish(r, fig); err != nil {
		return nil, err
	}
	f.report(cmd, all, i, fig)
	return fig, nil
}
