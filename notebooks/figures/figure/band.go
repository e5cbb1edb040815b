package figure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"drtmx/cluster"
	"drtmx/cluster/keep"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// It is not published what the coordinator of a transaction and the reclaims of its log take of the cores, nor what a server over kernel
// TCP does. A band says how much a figure depends on such a cost: its runs again with each of the assumed ones divided and
// multiplied by a factor, and what its points and claims come to. Of several costs each point and each claim has the one that moves it most.
//
// Kernel TCP has a dozen of assumed costs, and a run of chapter 5 takes half a minute. So those that the same core or the same
// wait pays move together (groups), which moves a claim at least as far as one of them; and where a figure keeps the
// peak over several loads, only the runs of the peaks are done again, at the load of the figure itself.

// Cost is an assumed one: a knob that is a factor on it, or a number of the hardware profile.
type Cost struct {
	knob   string
	what   string // in words
	Factor float64
	also   []string // numbers of the profile that move with it
}

// BandFactor is that of the coordinator's cycles; the knob says why. Of numbers that are not measured on such a machine it is two.
const BandFactor = 1.4

const AssumedFactor = 2

// CoordinatorCost is the one of figures that name no other.
var CoordinatorCost = Cost{knob: txn.KnobCoordinator, what: "the coordinator's cycles", Factor: BandFactor}

// Assumed is a cost that has not been measured.
func Assumed(knob, what string, also ...string) Cost { return Cost{knob, what, AssumedFactor, also} }

// knobs are all that it moves.
func (c Cost) knobs() []string { return append([]string{c.knob}, c.also...) }

// String is how far it goes.
func (c Cost) String() string {
	return fmt.Sprintf("%s from 1/%g to %g", strings.Join(c.knobs(), ", "), c.Factor, c.Factor)
}

// At are the knobs' values at a factor in the runs of a spec.
func (c Cost) At(factor float64, v experiment.Knobs) (experiment.Knobs, error) {
	set := experiment.Knobs{}
	for _, knob := range c.knobs() {
		if !testbed.IsHardware(knob) {
			set[knob] = factor
			continue
		}
		n := testbed.Shipped(v).Number(strings.TrimPrefix(knob, testbed.NumberPrefix))
		if n == nil {
			return nil, &experiment.SpecError{Field: "band", Value: knob, Rule: "profile " + v.Text("profile") + " has no such number", Next: "see drtmx profiles " + v.Text("profile")}
		}
		set[knob] = factor * n.Value
	}
	return set, nil
}

// BandCosts are those of the figure's band.
func (d *Definition) BandCosts() []Cost {
	if d.Costs != nil {
		return d.Costs
	}
	return []Cost{CoordinatorCost}
}

// PointBand is where a point is with less of a cost and with more.
type PointBand struct {
	Cost  string `json:"cost,omitempty"` // where the figure has several: the one that moves it most
	Fewer Place  `json:"fewer"`
	More  Place  `json:"more"`
}

// width is how far apart they are.
func (b *PointBand) width() float64 {
	if b == nil {
		return -1
	}
	return math.Abs(b.More.Y-b.Fewer.Y) + math.Abs(b.More.X-b.Fewer.X)
}

// Place is one on both axes.
type Place struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// ClaimBand is what a claim comes to with less of a cost and with more.
type ClaimBand struct {
	Cost   string    `json:"cost"` // the knob
	What   string    `json:"what"` // in words
	Factor float64   `json:"factor"`
	Fewer  BandClaim `json:"fewer"`
	More   BandClaim `json:"more"`
}

// width is how much they differ; by their verdicts, where the claim has no number.
func (b *ClaimBand) width() float64 {
	switch {
	case b == nil:
		return -1
	case b.Fewer.Measured != nil && b.More.Measured != nil:
		return math.Abs(*b.More.Measured - *b.Fewer.Measured)
	case b.Fewer.Status != b.More.Status:
		return 1
	}
	return 0
}

// BandClaim is a claim with other costs.
type BandClaim struct {
	Measured *float64 `json:"measured"`
	Largest  *float64 `json:"largest,omitempty"`
	Smallest *float64 `json:"smallest,omitempty"`
	Status   string   `json:"status"`
	Says     string   `json:"says"` // its number in words, "–" without one
}

// Band computes the figure at quick scale with its band, for notebooks.
func (r *Recipe) Band() *Figure {
	f, err := r.RunBand(charts.Context(), Quick, nil, charts.Progress("figure "+r.Definition.ID))
	Must(err)
	f.Keep("")
	return f
}

// RunBand is Run with a band. It takes three times as long, and with each cost more twice.
func (r *Recipe) RunBand(ctx context.Context, scale string, set cluster.Knobs, progress func(done, total int)) (*Figure, error) {
	return r.RunBandWith(ctx, scale, set, keep.Cache(), progress)
}

// RunBandWith is RunBand with a run store of one's own, or nil for none.
func (r *Recipe) RunBandWith(ctx context.Context, scale string, set cluster.Knobs, cache batch.Cache, progress func(done, total int)) (*Figure, error) {
	if err := r.Bandable(scale, set); err != nil {
		return nil, err
	}
	costs := r.Definition.BandCosts()
	part := func(k int) func(done, total int) {
		return func(done, total int) {
			if progress != nil {
				progress(k*total+done, (1+2*len(costs))*total)
			}
		}
	}
	f, err := r.RunWith(ctx, scale, set, cache, part(0))
	if err != nil {
		return nil, err
	}
	for i, c := range costs {
		fewer, err := r.scaled(ctx, f, set, c, 1/c.Factor, cache, part(2*i+1))
		if err != nil {
			return nil, err
		}
		more, err := r.scaled(ctx, f, set, c, c.Factor, cache, part(2*i+2))
		if err != nil {
			return nil, err
		}
		f.band(c, len(costs) > 1, fewer, more)
		f.WallMS += fewer.WallMS + more.WallMS
	}
	return f, nil
}

// Bandable refuses a figure without transactions whose costs are not the hardware's, for they have no effect on it, and one whose runs are of several
// hardware profiles, for the costs of a band are those of one.
func (r *Recipe) Bandable(scale string, set cluster.Knobs) error {
	refused := func(rule, next string) error {
		return &experiment.SpecError{Field: "band", Value: r.Definition.ID, Rule: rule, Next: next}
	}
	all := r.And(set)
	for _, c := range r.Definition.BandCosts() {
		for _, knob := range c.knobs() {
			if _, own := all.Changed[knob]; own {
				return refused(knob+" is set, and a band sets it", "leave one of them out")
			}
		}
	}
	specs, err := all.Specs(scale)
	if err != nil {
		return err
	}
	moved := len(specs) > 0
	profile, hardware := "", !slices.ContainsFunc(r.Definition.BandCosts(), func(c Cost) bool { return !testbed.IsHardware(c.knob) })
	for _, s := range specs {
		v, err := experiment.Resolve(s)
		if err != nil {
			return err
		}
		if profile = cmp.Or(profile, v.Text("profile")); v.Text("profile") != profile {
			return refused(fmt.Sprintf("its runs compare hardware (%s, %s), and a band is about the costs of one profile", profile, v.Text("profile")),
				"set a number of the hardware for all runs, as --set hardware.wire.switch=...")
		}
		moved = moved && (hardware || experiment.Workloads.Of(v).Transactions)
	}
	if !moved {
		return refused("the figure takes no runs of transactions", "figures of chapters 4 and 5 have a band")
	}
	return nil
}

// scaled is a figure with more or less of a cost, without a point at paper scale.
func (r *Recipe) scaled(ctx context.Context, of *Figure, set cluster.Knobs, c Cost, factor float64, cache batch.Cache, progress func(done, total int)) (*Figure, error) {
	specs, err := r.And(set).Specs(of.Scale)
	if err != nil {
		return nil, err
	}
	v, err := experiment.Resolve(specs[0])
	if err != nil {
		return nil, err
	}
	values, err := c.At(factor, v)
	if err != nil {
		return nil, err
	}
	all := r.And(set, values)
	if specs, err = all.Specs(of.Scale); err != nil {
		return nil, err
	}
	runs := r.Definition.bandRuns(of, len(specs))
	chosen := make([]experiment.Spec, len(runs))
	again := MeasureAgain
	if of.Scale == Paper || len(r.Definition.BandCosts()) > 1 {
		again = nil // with several costs there are a hundred runs: they are as long as the figure's, steady or not
	}
	for i, run := range runs {
		if chosen[i] = specs[run]; again == nil {
			if chosen[i], err = asLong(specs[run], of.Runs[run]); err != nil {
				return nil, err
			}
		}
	}
	runner, end := r.lab.Use()
	defer end()
	results, err := batch.RunAll(ctx, chosen, batch.SweepOptions{Cache: cache, Repeat: again, Progress: progress, Runner: runner})
	if err != nil {
		return nil, err
	}
	placed := make([]*result.Result, len(specs))
	for i, run := range runs {
		placed[run] = results[i]
	}
	return all.From(of.Scale, placed), nil
}

// asLong is a spec that is measured for as long as a run, which may have been measured again. Where a spec leaves that to the run, so
// it does here.
func asLong(s experiment.Spec, run *result.Result) (experiment.Spec, error) {
	if run == nil { // it has failed
		return s, nil
	}
	own, ok := s.Set["duration_ns"].(int)
	duration, also := run.Spec["duration_ns"].(int)
	if !ok || !also || own == duration {
		return s, nil
	}
	return s.With(experiment.Knobs{"warmup_ns": run.Spec["warmup_ns"], "duration_ns": duration})
}

// bandRuns are the runs that a band does again: all of them, or of a figure that keeps peaks (chapter 5) those of its points.
func (d *Definition) bandRuns(f *Figure, runs int) (list []int) {
	if d.Chapter != 5 || d.Arrange == nil {
		for run := range runs {
			list = append(list, run)
		}
		return list
	}
	for _, s := range f.Series {
		for _, p := range s.Points {
			list = append(list, p.Run)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// band puts the numbers of two other figures beside those of this one, where another cost has not moved them more. named: there
// are several costs.
func (f *Figure) band(c Cost, named bool, fewer, more *Figure) {
	f.BandFactor = max(f.BandFactor, c.Factor)
	f.BandCosts = append(f.BandCosts, c.String())
	for i := range f.Series {
		s := &f.Series[i]
		for k := range s.Points {
			p := &s.Points[k]
			low, ok := fewer.like(s).of(p)
			high, also := more.like(s).of(p)
			if !ok || !also {
				continue
			}
			b := &PointBand{Fewer: Place{low.X, low.Y}, More: Place{high.X, high.Y}}
			if named {
				b.Cost = c.knob
			}
			if b.width() > p.Band.width() {
				p.Band = b
			}
		}
	}
	for i := range f.Claims {
		claim := &f.Claims[i]
		low, high := fewer.claim(claim), more.claim(claim)
		if low == nil || high == nil {
			continue
		}
		b := &ClaimBand{Cost: c.knob, What: c.what, Factor: c.Factor, Fewer: low.inBand(), More: high.inBand()}
		if b.width() > claim.Band.width() {
			claim.Band = b
		}
	}
	for _, other := range []*Figure{fewer, more} {
		if bad := other.Failed(); len(bad) > 0 {
			f.AddNote("checks FAILED in the band: " + strings.Join(bad, ", "))
		}
	}
}

// chart is the band as a chart draws it.
func (b *PointBand) chart() charts.Between {
	if b == nil {
		nan := math.NaN()
		return charts.Between{FromX: nan, FromY: nan, ToX: nan, ToY: nan}
	}
	return charts.Between{FromX: b.Fewer.X, FromY: b.Fewer.Y, ToX: b.More.X, ToY: b.More.Y}
}

// add adds the band to that of a bar of which the point is a part.
func (b *PointBand) add(to *charts.Bars) {
	if b != nil {
		to.Low += b.Fewer.Y
		to.High += b.More.Y
	}
}

// of is the point of a line that is the same point of another figure.
func (s *Series) of(p *Point) (Point, bool) {
	if s == nil {
		return Point{}, false
	}
	for _, x := range s.Points {
		if x.Run == p.Run && x.Name == p.Name {
			return x, true
		}
	}
	return Point{}, false
}

// claim is the same claim of this figure, nil for none.
func (f *Figure) claim(c *Claim) *Claim {
	for i := range f.Claims {
		if f.Claims[i].ID == c.ID && f.Claims[i].Claim == c.Claim {
			return &f.Claims[i]
		}
	}
	return nil
}

func (c *Claim) inBand() BandClaim {
	s := c.state("")
	return BandClaim{Measured: c.Measured, Largest: c.Largest, Smallest: c.Smallest, Status: c.Status, Says: cmp.Or(s.Own(), c.MeasuredText())}
}

// text is a number of the band as a prediction keeps it: a range where the claim has one.
func (b *BandClaim) text(ranged bool) string {
	switch {
	case ranged && b.Smallest != nil && b.Largest != nil && *b.Smallest != *b.Largest:
		return charts.Digits(*b.Smallest, 4) + ".." + charts.Digits(*b.Largest, 4)
	case b.Measured != nil:
		return charts.Digits(*b.Measured, 4)
	}
	return b.Status
}

// BandText is the band of a claim in words, "" if there is none.
func (c *Claim) BandText() string {
	if c.Band == nil {
		return ""
	}
	return fmt.Sprintf("; %s and %s with 1/%g and %g of %s", c.Band.Fewer.Says, c.Band.More.Says, c.Band.Factor, c.Band.Factor, c.Band.What)
}

// what is the cost as predictions keep it: they say nothing of the coordinator's.
func (b *ClaimBand) what() string {
	if b.Cost == txn.KnobCoordinator {
		return ""
	}
	return b.What
}
