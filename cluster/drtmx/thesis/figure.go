package thesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"drtmx/cluster"
	"drtmx/cluster/drtmx/cli"
	"drtmx/cluster/drtmx/output"
	"drtmx/cluster/drtmx/progress"
	"drtmx/cluster/keep"
	"drtmx/cluster/lab"
	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/notebooks/figures"
	"drtmx/notebooks/figures/record"
)

type figureFlags struct {
	scale               string
	band                bool
	set                 []string
	asJSON              bool
	tables              cli.TableFlags
	html, svg, png, pdf string
	pgf, tikz           string
	width, font         string
	lab                 cli.LabFlags
	on                  *cluster.Lab // nil: this process
	style               charts.Style // what width and font say
	keep                cli.KeepFlags
	record              string
	anew                bool
}

func FigureCommand() *cobra.Command {
	var f figureFlags
	cmd := &cobra.Command{
		Use:        "figure ID | list | all",
		Short:      "A figure or table of the thesis from runs of the simulator",
		SuggestFor: []string{"plot", "figures", "reproduce"},
		Long: "Computes a figure, panel by letter as 2-4a, or all of them, and measures the thesis's claims about it. Its runs are kept, so a second time is quick. The figure itself is in drtmx runs; the same one takes its place there.\n\n" +
			"drtmx figure all --html DIR writes a gallery: a folder with an index and a page for each figure, which need no network. At quick scale it shows at once what is recorded in the program and what the run store has, each with its date and code; --anew computes all of it. Pages come one by one; after an interrupt the same command goes on.",
		Args: cli.Exactly(1, "the id of a figure; drtmx figure list shows them"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.figure(cmd, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.scale, "scale", figures.Quick, figures.Quick+" shrinks populations, and on TPC-C/no machines to a socket; "+figures.Paper+" is as in the thesis")
	fl.StringArrayVar(&f.set, "set", nil, "knob setting `KNOB=VALUE` for all runs of the figure")
	fl.BoolVar(&f.band, "band", false, "run the figure again with 1/1.4 and 1.4 of the coordinator's cycles (coordinator.scale), in chapter 5 with half and twice of each cost that is assumed: points and claims get a band")
	fl.BoolVar(&f.asJSON, "json", false, "print the figure as JSON")
	f.tables.Add(cmd, "each point")
	fl.StringVar(&f.html, "html", "", "write an interactive page to `FILE`; of all, a gallery to the folder FILE")
	fl.StringVar(&f.svg, "svg", "", "write the picture to `FILE`")
	fl.StringVar(&f.png, "png", "", "write the picture to `FILE`")
	fl.StringVar(&f.pdf, "pdf", "", "write the picture to `FILE`")
	fl.StringVar(&f.pgf, "pgf", "", "write the picture for LaTeX to `FILE`: \\usepackage{pgf}, \\input{FILE}")
	fl.StringVar(&f.tikz, "tikz", "", "the same as --pgf, to `FILE`")
	fl.StringVar(&f.width, "width", "", "make the picture as wide as `LENGTH`, such as the 84mm of a column (mm, cm, in, pt)")
	f.lab.Add(cmd, "runs are computed by the workers")
	fl.StringVar(&f.font, "font", "", "font of the picture: sans, serif or mono, a size, or both, as in \"serif 8pt\"")
	fl.StringVar(&f.record, "record", "", "write what is computed at quick scale into the folder `DIR` as well, as the repository's record (make gallery)")
	fl.BoolVar(&f.anew, "anew", false, "all --html: compute figures that are recorded or kept too")
	f.keep.Always(cmd, "the figure")
	list := &cobra.Command{
		Use:   "list",
		Short: "The figures there are",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), figures.List())
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, x := range figures.List() {
				fmt.Fprintf(t, "%s\t%s\t%s\n", x.ID, x.State, x.Title)
			}
			return t.Flush()
		},
	}
	list.Flags().BoolVar(&f.asJSON, "json", false, "print the list as JSON")
	cmd.AddCommand(list)
	return cmd
}

func (f *figureFlags) figure(cmd *cobra.Command, id string) error {
	err := checkScale(f.scale)
	if err != nil {
		return err
	}
	if f.width+f.font != "" && f.svg+f.png+f.pdf+f.pgf+f.tikz == "" {
		return cli.Usage("--width and --font are about a picture; name its file with --svg, --png, --pdf or --pgf")
	}
	if f.style, err = parseStyle(f.width, f.font); err != nil {
		return err
	}
	set, err := cli.SetFlags(f.set)
	if err != nil {
		return err
	}
	ids, whole := []string{id}, id == "all" && f.html != ""
	if id == "all" {
		if f.pictures() != "" {
			return cli.Usage("figure all prints JSON or text, or writes a gallery with --html DIR; give one figure for another file")
		}
		ids = nil
		for _, x := range figures.List() {
			ids = append(ids, x.ID)
		}
	}
	files := append(f.tables.Outputs(), output.To("--html", f.html), output.To("--svg", f.svg), output.To("--png", f.png), output.To("--pdf", f.pdf),
		output.To("--pgf", f.pgf), output.To("--tikz", f.tikz))
	if !whole { // a gallery is a folder, which it sees to itself
		if err := output.Check(output.JSON(f.asJSON), files...); err != nil {
			return err
		}
	}
	if err := cli.OpenStore(cmd); err != nil {
		return err
	}
	if f.on, err = f.lab.Open(cmd); err != nil {
		return err
	}
	if f.on != nil {
		defer f.on.Close()
	}
	if id == "all" && (f.on != nil || f.scale == figures.Paper) {
		if err := f.foresee(cmd, ids, set); err != nil {
			return err
		}
	}
	if f.record != "" && (f.scale != figures.Quick || len(set) > 0 || f.band) {
		return cli.Usage("--record is about figures as they are at quick scale; leave out --set, --scale and --band")
	}
	if whole {
		return f.gallery(cmd, set)
	}
	done, err := f.compute(cmd, ids, set)
	if err != nil {
		return err
	}
	if id == "all" && f.asJSON {
		if err := cli.PrintJSON(cmd.OutOrStdout(), done); err != nil {
			return err
		}
	} else {
		for _, fig := range done {
			if err := f.write(cmd, fig); err != nil {
				return err
			}
		}
	}
	return checked(done)
}

func checkScale(scale string) error {
	if scale != figures.Quick && scale != figures.Paper {
		return &experiment.SpecError{Field: "scale", Value: scale, Rule: "must be " + figures.Quick + " or " + figures.Paper, Next: "as --scale " + figures.Quick}
	}
	return nil
}

// foresee says what figures are going to take.
func (f *figureFlags) foresee(cmd *cobra.Command, ids []string, set experiment.Knobs) (err error) {
	cache := keep.Cache()
	var list []figures.Needs
	for _, id := range ids {
		r, err := figures.Find(id)
		if err != nil {
			return err
		}
		n, err := r.Needs(f.scale, set, cache)
		if err != nil {
			return err
		}
		if n.Runs > 0 { // others are computed without
			list = append(list, n)
		}
	}
	var workers *lab.Workers
	if f.on != nil {
		if workers, err = f.on.Ask(cmd.Context()); err != nil {
			return err
		}
	}
	return estimates(cmd.ErrOrStderr(), f.scale, list, workers)
}

// compute computes figures in their order, each under a bar. Of a lab two are under way at a time, under a bar for all: while one
// waits for its last runs, the workers have those of the other.
func (f *figureFlags) compute(cmd *cobra.Command, ids []string, set experiment.Knobs) ([]*figures.Figure, error) {
	if f.on == nil || len(ids) == 1 {
		var done []*figures.Figure
		for _, id := range ids {
			r, err := f.recipe(cmd, id)
			if err != nil {
				return nil, err
			}
			fig, err := computed(cmd, r, "figure "+r.ID(), f.scale, set, f.banded(r, set, len(ids) == 1))
			if err != nil {
				return nil, err
			}
			if err := f.finish(r, fig); err != nil {
				return nil, err
			}
			done = append(done, fig)
		}
		return done, nil
	}
	const atOnce = 2
	b := progress.New(cmd.ErrOrStderr(), "figures")
	defer b.End()
	defer cli.FollowLab(cmd.Context(), f.on, b)()
	shares := shares{of: make([]float64, len(ids)), report: b.Update}
	done, errs := make([]*figures.Figure, len(ids)), make([]error, len(ids))
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, id := range ids {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, err := f.recipe(cmd, id)
			if err == nil {
				done[i], err = compute(ctx, r, f.scale, set, f.banded(r, set, false), func(done, total int) { shares.set(i, done, total) })
			}
			if err == nil {
				err = f.finish(r, done[i])
			}
			if errs[i] = err; err != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return done, ctx.Err()
}

// finish keeps a figure, and records it if that is wanted.
func (f *figureFlags) finish(r *figures.Recipe, fig *figures.Figure) error {
	fig.Keep(f.keep.Note)
	if f.record == "" || fig.Form == figures.FormDots { // what is recorded has no record
		return nil
	}
	if err := record.Write(f.record, r, fig, time.Now()); err != nil {
		return fmt.Errorf("%s: %w", f.record, err)
	}
	return nil
}

// shares are how far each of several works is.
type shares struct {
	mu     sync.Mutex
	of     []float64
	report func(done, total int)
}

func (s *shares) set(i, done, total int) {
	const whole = 10_000
	s.mu.Lock()
	defer s.mu.Unlock()
	if total > 0 {
		s.of[i] = float64(done) / float64(total)
	}
	sum := 0.0
	for _, x := range s.of {
		sum += x
	}
	s.report(int(whole*sum/float64(len(s.of))), whole)
}

// recipe finds a figure, whose runs the lab computes if there is one.
func (f *figureFlags) recipe(cmd *cobra.Command, id string) (*figures.Recipe, error) {
	r, err := figures.Find(id)
	if err != nil {
		return nil, err
	}
	if own := r.ID(); own != id {
		fmt.Fprintf(cmd.ErrOrStderr(), "figure %s has several panels, this is %s; there is also %s\n", id, own, strings.Join(slices.DeleteFunc(figures.Panels(id), func(x string) bool { return x == own }), ", "))
	}
	return r.On(f.on), nil
}

// banded says whether a figure gets a band: if that is wanted, and of several those that have one.
func (f *figureFlags) banded(r *figures.Recipe, set experiment.Knobs, alone bool) bool {
	return f.band && (alone || r.Bandable(f.scale, set) == nil)
}

// computed computes a figure under a bar, and its band if that is wanted.
func computed(cmd *cobra.Command, r *figures.Recipe, title, scale string, set experiment.Knobs, band bool) (*figures.Figure, error) {
	b := progress.New(cmd.ErrOrStderr(), title)
	defer b.End()
	defer cli.FollowLab(cmd.Context(), r.Lab(), b)()
	return compute(cmd.Context(), r, scale, set, band, b.Update)
}

func compute(ctx context.Context, r *figures.Recipe, scale string, set experiment.Knobs, band bool, progress func(done, total int)) (*figures.Figure, error) {
	if band {
		return r.RunBand(ctx, scale, set, progress)
	}
	return r.Run(ctx, scale, set, progress)
}

// checked makes figures with an incorrect run failed ones, and those with one that did not come to rest.
func checked(done []*figures.Figure) error {
	for _, fig := range done {
		if bad := fig.Failed(); len(bad) > 0 {
			return fmt.Errorf("figure %s: checks failed: %s; run one of them to see why", fig.ID, strings.Join(bad, ", "))
		}
		if open := fig.Undrained(); len(open) > 0 {
			return fmt.Errorf("figure %s: the drain was given up: %s; run one of them to see what was under way, or raise drain_ns", fig.ID, strings.Join(open, ", "))
		}
	}
	return nil
}

// write puts a figure into the forms that were asked for, and says what it is unless
// one of them is on standard output.
func (f *figureFlags) write(cmd *cobra.Command, fig *figures.Figure) error {
	out := cmd.OutOrStdout()
	text := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	picture := fig.Picture(f.style)
	taken := f.asJSON
	var files []string
	for _, x := range []struct {
		path string
		make func() ([]byte, error)
	}{
		{f.tables.CSV, text(fig.CSV())}, {f.tables.Parquet, fig.Rows().Parquet}, {f.svg, picture.SVG}, {f.png, picture.PNG}, {f.pdf, picture.PDF}, {f.pgf, picture.PGF}, {f.tikz, picture.PGF},
		{f.html, func() ([]byte, error) { return cli.HTMLPage("drtmx figure "+fig.ID, fig.HTML()), nil }},
	} {
		if x.path == "" {
			continue
		}
		if x.path == "-" {
			taken = true
		} else {
			files = append(files, x.path)
		}
		b, err := x.make()
		if err != nil {
			return fmt.Errorf("figure %s: %w", fig.ID, err)
		}
		if len(b) == 0 {
			return errors.New("figure " + fig.ID + " has no such form")
		}
		if err := output.Write(out, x.path, b); err != nil {
			return err
		}
	}
	switch {
	case f.asJSON:
		return cli.PrintJSON(out, fig)
	case taken:
		return nil
	}
	if _, err := fmt.Fprintln(out, fig); err != nil {
		return err
	}
	if n := len(fig.Runs); n > 0 { // beside the output, which is the same each time
		fmt.Fprintf(cmd.ErrOrStderr(), "%d runs in %.1f s\n", n, float64(fig.WallMS)/1000)
	}
	for _, path := range files {
		if _, err := fmt.Fprintf(out, "written: %s\n", path); err != nil {
			return err
		}
	}
	return nil
}
