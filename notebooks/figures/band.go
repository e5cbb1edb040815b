package figures

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine/batch"
	"drtmx/engine/experiment"
	"drtmx/engine/txn"
)

// Nobody publishes what the coordinator of a transaction and the reclaims of its log take of the cores. A band says how much a
// figure depends on it: its runs again with coordinator.scale at 1/BandFactor and at BandFactor, and what its points and
// claims come to.

// BandFactor is that of a band; the knob says why.
const BandFactor = 1.4

// PointBand is where a point is with fewer cycles and with more.
type PointBand struct {
	Fewer Place `json:"fewer"`
	More  Place `json:"more"`
}

// Place is one on both axes.
type Place struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// ClaimBand is what a claim comes to with fewer cycles and with more.
type ClaimBand struct {
	Factor float64   `json:"factor"`
	Fewer  BandClaim `json:"fewer"`
	More   BandClaim `json:"more"`
}

// BandClaim is a claim with other cycles.
type BandClaim struct {
	Measured *float64 `json:"measured"`
	Largest  *float64 `json:"largest,omitempty"`
	Smallest *float64 `json:"smallest,omitempty"`
	Status   string   `json:"status"`
	Says     string   `json:"says"` // its number in words, "–" without one
}

// Band computes the figure at quick scale with its band, for notebooks.
func (r *Recipe) Band() *Figure {
	f, err := r.RunBand(charts.Context(), Quick, nil, charts.Progress("figure "+r.def.id))
	must(err)
	f.Keep("")
	return f
}

// RunBand is Run with a band. It takes three times as long.
func (r *Recipe) RunBand(ctx context.Context, scale string, set cluster.Knobs, progress func(done, total int)) (*Figure, error) {
	return r.runBand(ctx, scale, set, cluster.RunCache(), progress)
}

func (r *Recipe) runBand(ctx context.Context, scale string, set cluster.Knobs, cache batch.Cache, progress func(done, total int)) (*Figure, error) {
	if err := r.Bandable(scale, set); err != nil {
		return nil, err
	}
	part := func(k int) func(done, total int) {
		return func(done, total int) {
			if progress != nil {
				progress(k*total+done, 3*total)
			}
		}
	}
	f, err := r.RunWith(ctx, scale, set, cache, part(0))
	if err != nil {
		return nil, err
	}
	fewer, err := r.scaled(ctx, scale, set, 1/BandFactor, cache, part(1))
	if err != nil {
		return nil, err
	}
	more, err := r.scaled(ctx, scale, set, BandFactor, cache, part(2))
	if err != nil {
		return nil, err
	}
	f.band(fewer, more)
	f.WallMS += fewer.WallMS + more.WallMS
	return f, nil
}

// Bandable refuses a figure on which the coordinator's cycles have no effect.
func (r *Recipe) Bandable(scale string, set cluster.Knobs) error {
	refused := func(rule, next string) error {
		return &experiment.SpecError{Field: "band", Value: r.def.id, Rule: rule, Next: next}
	}
	all := r.and(set)
	if _, own := all.set[txn.KnobCoordinator]; own {
		return refused(txn.KnobCoordinator+" is set, and a band sets it", "leave one of them out")
	}
	specs, err := all.Specs(scale)
	if err != nil {
		return err
	}
	for _, s := range specs {
		v, err := experiment.Resolve(s)
		if err != nil {
			return err
		}
		if !experiment.Workloads.Of(v).Transactions {
			specs = nil
			break
		}
	}
	if len(specs) == 0 {
		return refused("the figure takes no runs of transactions", "figures of chapter 4 have a band")
	}
	return nil
}

// scaled is the figure with other cycles of the coordinator, without a point at paper scale.
func (r *Recipe) scaled(ctx context.Context, scale string, set cluster.Knobs, factor float64, cache batch.Cache, progress func(done, total int)) (*Figure, error) {
	all := r.and(set, experiment.Knobs{txn.KnobCoordinator: factor})
	specs, err := all.Specs(scale)
	if err != nil {
		return nil, err
	}
	again := MeasureAgain
	if scale == Paper {
		again = nil
	}
	runner, end := r.lab.Use()
	defer end()
	results, err := batch.RunAll(ctx, specs, batch.SweepOptions{Cache: cache, Again: again, Progress: progress, Runner: runner})
	if err != nil {
		return nil, err
	}
	return all.From(scale, results), nil
}

// band puts the numbers of two other figures beside those of this one.
func (f *Figure) band(fewer, more *Figure) {
	f.BandFactor = BandFactor
	for i := range f.Series {
		s := &f.Series[i]
		for k := range s.Points {
			p := &s.Points[k]
			low, ok := fewer.like(s).of(p)
			high, also := more.like(s).of(p)
			if ok && also {
				p.Band = &PointBand{Fewer: Place{low.X, low.Y}, More: Place{high.X, high.Y}}
			}
		}
	}
	for i := range f.Claims {
		c := &f.Claims[i]
		low, high := fewer.claim(c), more.claim(c)
		if low != nil && high != nil {
			c.Band = &ClaimBand{Factor: BandFactor, Fewer: low.inBand(), More: high.inBand()}
		}
	}
	for _, other := range []*Figure{fewer, more} {
		if bad := other.Failed(); len(bad) > 0 {
			f.addNote("checks FAILED in the band: " + strings.Join(bad, ", "))
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
	return BandClaim{Measured: c.Measured, Largest: c.Largest, Smallest: c.Smallest, Status: c.Status, Says: cmp.Or(s.own(), c.measured())}
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

// told is the band of a claim in words, "" if there is none.
func (c *Claim) told() string {
	if c.Band == nil {
		return ""
	}
	return fmt.Sprintf("; %s and %s with 1/%g and %g of the coordinator's cycles", c.Band.Fewer.Says, c.Band.More.Says, c.Band.Factor, c.Band.Factor)
}
