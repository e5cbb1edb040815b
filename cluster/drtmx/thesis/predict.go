package thesis

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/prediction"
)

type predictFlags struct {
	chapter int
	scale   string
	only    []string
	with    []string
	run     bool
	band    bool
	record  string
	as      string
	asJSON  bool
}

func PredictCommand() *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict",
		Short: "The thesis's system-level numbers and what this simulator predicts for them",
		Long: "Lists every number and order that chapters 3 to 5 have of systems, with the predictions that are recorded in the repository: blind, which was made before the number was read, " +
			"and today, by the present structure. Nothing is fitted to these numbers. A star marks what another version of the code recorded.\n\n" +
			"--run computes the figures in place of what is recorded, one after another; runs are kept, so a second time is quick. " +
			"--record keeps what is computed in a file, figure by figure: what an interrupt leaves is there. " +
			"Rows of other figures, and other columns of the file, stay. At paper scale figures have the points alone that they have at quick scale too, which the claims are measured on. `make predictions` records into the repository.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return f.predict(cmd) },
	}
	fl := cmd.Flags()
	fl.IntVar(&f.chapter, "chapter", 0, "only the rows of chapter `N`")
	fl.StringVar(&f.scale, "scale", "", "only predictions at this scale, "+figures.Quick+" or "+figures.Paper+"; --run computes at "+figures.Quick+" if none is given")
	fl.StringSliceVar(&f.only, "figures", nil, "only the rows of these figures, by `ID,ID`")
	fl.StringSliceVar(&f.with, "with", nil, "more columns from `FILE,FILE`: what --record or --json wrote")
	fl.BoolVar(&f.run, "run", false, "compute the figures and their claims anew")
	fl.BoolVar(&f.band, "band", false, "with --run: the figures' bands too, as drtmx figure --band; it takes three times as long, in chapter 5 more")
	fl.StringVar(&f.record, "record", "", "with --run: keep what is computed in `FILE`")
	fl.StringVar(&f.as, "as", prediction.Now, "with --run: the name of the column that is computed")
	fl.BoolVar(&f.asJSON, "json", false, "print the rows as JSON")
	return cmd
}

func (f *predictFlags) predict(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	recipes, err := predicting(f.chapter, f.only)
	if err != nil {
		return err
	}
	of := func(r *prediction.Row) bool {
		return slices.ContainsFunc(recipes, func(x *figures.Recipe) bool { return x.ID() == r.Figure })
	}
	t := figures.Recorded(f.chapter).Only(of)
	for _, path := range f.with {
		more, err := columns(path, t)
		if err != nil {
			return err
		}
		t.Put(more.Only(of))
	}
	var failed error
	if f.run {
		failed = f.compute(cmd, recipes, t)
	}
	if f.scale != "" {
		t = t.At(f.scale)
	}
	if err := cli.Show(cmd, figures.Report(t, f.as), f.asJSON); err != nil {
		return err
	}
	return failed
}

// check finds out before a long run what is wrong with the flags.
func (f *predictFlags) check(cmd *cobra.Command) error {
	if err := cli.Named(cmd, "figures", f.only); err != nil {
		return err
	}
	if err := cli.Named(cmd, "with", f.with); err != nil {
		return err
	}
	if f.scale != "" {
		if err := checkScale(f.scale); err != nil {
			return err
		}
	}
	switch {
	case !f.run && (f.band || f.record != "" || cmd.Flags().Changed("as")):
		return cli.Usage("--band, --record and --as are about what is computed; add --run")
	case f.as == "" || f.as == prediction.First:
		return &experiment.SpecError{Field: "as", Value: f.as, Rule: "what was predicted blind never changes", Next: "name the column as in --as " + prediction.Now}
	}
	if f.record == "-" {
		return cli.Usage("--record adds to a file; --json prints what is computed")
	}
	if err := output.Check("", output.To("--record", f.record)); err != nil || f.record == "" {
		return err
	}
	_, err := f.recorded()
	return err
}

// predictionsLimit bounds a file of predictions: that of all figures, in three columns, has 0.3 MB.
const predictionsLimit = 16 << 20

func predictionsError(flag, path string, err error) error {
	return &experiment.SpecError{Field: flag, Value: path, Rule: err.Error(), Next: "name a file that drtmx predict --record or --json wrote"}
}

// columns are those of a file. A name that is there already gets that of the file.
func columns(path string, have *prediction.Table) (*prediction.Table, error) {
	text, err := atomicfile.Read(path, predictionsLimit)
	if err != nil {
		return nil, predictionsError("with", path, err)
	}
	file := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	t, err := prediction.Read(text, file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	taken := have.Columns()
	return t.Named(func(old string) string {
		if slices.ContainsFunc(taken, func(c prediction.Column) bool { return c.Name == old }) {
			return file + " " + old
		}
		return old
	}), nil
}

// compute puts what the figures predict now into the table and into the file. It goes on to the next figure where a check
// failed, and ends with that.
func (f *predictFlags) compute(cmd *cobra.Command, recipes []*figures.Recipe, t *prediction.Table) error {
	scale := f.scale
	if scale == "" {
		scale = figures.Quick
	}
	var failed error
	for _, r := range recipes {
		r = r.ForClaims()
		fig, err := computed(cmd, r, "figure "+r.ID(), scale, nil, f.band && r.Bandable(scale, nil) == nil)
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				err = fmt.Errorf("figure %s: %w", r.ID(), err)
			}
			return errors.Join(failed, err)
		}
		now := figures.PredictionsOf(f.as, fig)
		t.Put(now)
		if err := f.keep(now); err != nil {
			return err
		}
		failed = errors.Join(failed, checked([]*figures.Figure{fig}))
	}
	return failed
}

// keep adds predictions to the file, which is there as it was or as it will be at any time.
func (f *predictFlags) keep(now *prediction.Table) error {
	if f.record == "" {
		return nil
	}
	t, err := f.recorded()
	if err != nil {
		return err
	}
	t.Put(now)
	figures.InOrder(t)
	text, err := t.JSON()
	if err != nil {
		return err
	}
	return output.WriteFile(f.record, text)
}

// recorded is what is in the file.
func (f *predictFlags) recorded() (*prediction.Table, error) {
	text, err := atomicfile.Read(f.record, predictionsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return &prediction.Table{Rows: []prediction.Row{}}, nil
	}
	if err != nil {
		return nil, predictionsError("record", f.record, err)
	}
	t, err := prediction.Read(text, prediction.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.record, err)
	}
	return t, nil
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
