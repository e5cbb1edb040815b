package dashboard

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"drtmx/cluster/system"
	"drtmx/dashboard/card"
	"drtmx/dashboard/charts"
	"drtmx/dashboard/lineage"
	"drtmx/dashboard/windows"
	"drtmx/engine/experiment"
)

// side is a system of a comparison that stands beside another.
type side struct {
	snap    system.Snapshot
	name    string
	epoch   string
	moments []windows.Moment
}

func (p *page) side(ctx context.Context, s system.Snapshot, name string) (side, bool) {
	ms, epoch, err := p.keeper.Moments(ctx, s.Sys)
	return side{s, name, epoch, ms}, err == nil && len(ms) > 0
}

// standing fills the card of two systems that run side by side, from the latest change of either on, over the virtual time that both
// have passed.
func standing(c *card.Card, before, after side, from int64) {
	for _, x := range []side{before, after} {
		if now := windows.Under(x.moments, x.snap.KnobsVersion); len(now) > 0 {
			from = max(from, now[0].T0)
		} else {
			from = max(from, x.moments[len(x.moments)-1].T1)
		}
	}
	to := min(before.moments[len(before.moments)-1].T1, after.moments[len(after.moments)-1].T1)
	part := func(x side) card.Part {
		return card.Part{Title: x.name, Sys: x.snap.Sys, Epoch: x.epoch, Version: x.snap.KnobsVersion}
	}
	c.VirtualNS, c.Before, c.After = from, part(before), part(after)
	c.Compare(windows.Between(before.moments, from, to), windows.Between(after.moments, from, to))
}

// ghost is the card of a fork: the system that it was forked from against it, since then.
func (p *page) ghost(ctx context.Context, s system.Snapshot, all []system.Snapshot) (card.Card, bool) {
	if s.CatchingUp || !isGhost(s, all) {
		return card.Card{}, false
	}
	parent, err := windows.SnapshotOf(p.source, s.ForkedFrom)
	if err != nil {
		return card.Card{}, false
	}
	mine, ok1 := p.side(ctx, s, "ghost "+s.Sys)
	theirs, ok2 := p.side(ctx, parent, parent.Sys)
	if !ok1 || !ok2 {
		return card.Card{}, false
	}
	c := card.Card{Sys: s.Sys, Title: fmt.Sprintf("%s against its ghost %s", s.ForkedFrom, s.Sys)}
	standing(&c, mine, theirs, s.ForkNS)
	c.VirtualNS = s.ForkNS
	if s.Without > 0 {
		c.Title += fmt.Sprintf(", without change %d", s.Without-1)
	}
	return c, true
}

// rivals are the cards of systems side by side of which none is another's ghost: the one that comes before all others against each of them
// with the same workload.
func (p *page) rivals(ctx context.Context, all []system.Snapshot) (out []card.Card) {
	var hs []history
	for _, s := range all {
		if !s.CatchingUp && !isGhost(s, all) {
			hs = append(hs, history{snap: s})
		}
	}
	callByName(hs)
	if len(hs) == 0 {
		return nil
	}
	base, ok := p.side(ctx, hs[0].snap, shortName(hs[0]))
	if !ok {
		return nil
	}
	for _, h := range p.alike(ctx, hs, hs[0].snap.Sys) {
		other, ok := p.side(ctx, h.snap, shortName(h))
		if h.snap.Sys == hs[0].snap.Sys || !ok {
			continue
		}
		c := card.Card{Sys: h.snap.Sys, Rival: true, Title: fmt.Sprintf("%s against %s", h.name(), hs[0].name())}
		standing(&c, base, other, 0)
		out = append(out, c)
	}
	return out
}

// shortName is what a sentence calls a system.
func shortName(h history) string {
	if h.called != "" {
		return h.snap.Name
	}
	return "system " + h.snap.Sys
}

// state is the present state of a system as a thing to pin: the windows since
// the latest change without the transient.
func (p *page) state(w http.ResponseWriter, r *http.Request) {
	s, err := windows.SnapshotOf(p.source, sysOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	ms, epoch, err := p.keeper.Moments(r.Context(), s.Sys)
	if err != nil {
		fail(w, err)
		return
	}
	part := card.Part{Sys: s.Sys, Epoch: epoch, Version: s.KnobsVersion}
	now := windows.Under(ms, s.KnobsVersion)
	settled := part.TrimTransient(now[max(0, len(now)-card.Windows):])
	if len(settled) < card.Least {
		fail(w, fmt.Errorf("%d windows since the latest change have settled, %d are needed to say something", len(settled), card.Least))
		return
	}
	part.Limit = windows.LimitOf(settled)
	part.Title = fmt.Sprintf("system %s after change %d", s.Sys, s.KnobsVersion-1)
	if s.KnobsVersion == 1 {
		part.Title = "system " + s.Sys + " as it began"
	}
	answer(w, part)
}

// pin is what a query says about one side: sys,epoch,from_ns,to_ns,version.
func (p *page) pin(ctx context.Context, text string) (card.Part, []windows.Moment, error) {
	f := strings.Split(text, ",")
	if len(f) != 5 {
		return card.Part{}, nil, fmt.Errorf("pin = %.60q: must be sys,epoch,from_ns,to_ns,version", text)
	}
	from, err1 := strconv.ParseInt(f[2], 10, 64)
	to, err2 := strconv.ParseInt(f[3], 10, 64)
	version, err3 := strconv.Atoi(f[4])
	if err1 != nil || err2 != nil || err3 != nil {
		return card.Part{}, nil, fmt.Errorf("pin = %.60q: times and version must be whole numbers", text)
	}
	ms, epoch, err := p.keeper.Moments(ctx, f[0])
	if err != nil {
		return card.Part{}, nil, err
	}
	part := card.Part{Sys: f[0], Epoch: epoch, Version: version, FromNS: from, ToNS: to}
	ms = windows.Between(ms, from, to)
	if epoch != f[1] || len(ms) < card.Least {
		return part, nil, windows.ErrGone
	}
	part.Windows = len(ms)
	return part, ms, nil
}

// pins reads both sides of a comparison.
func (p *page) pins(r *http.Request) (a, b card.Part, before, after []windows.Moment, err error) {
	if a, before, err = p.pin(r.Context(), r.URL.Query().Get("a")); err != nil {
		return
	}
	b, after, err = p.pin(r.Context(), r.URL.Query().Get("b"))
	return
}

// knobDiff is a knob that differs between two states.
type knobDiff struct {
	Name string `json:"name"`
	A    any    `json:"a"`
	B    any    `json:"b"`
}

// compare puts two pinned states side by side.
func (p *page) compare(w http.ResponseWriter, r *http.Request) {
	a, b, before, after, err := p.pins(r)
	if err != nil {
		fail(w, err)
		return
	}
	c := card.Card{Before: a, After: b}
	c.Judge(before, after)
	answer(w, struct {
		card.Card
		Knobs []knobDiff `json:"knobs"`
	}{c, p.knobDiffs(r.Context(), a, b)})
}

// knobDiffs lists what was set differently; empty if one of the versions is no
// longer known.
func (p *page) knobDiffs(ctx context.Context, a, b card.Part) []knobDiff {
	out := []knobDiff{}
	x, y := p.valuesAt(ctx, a), p.valuesAt(ctx, b)
	if x == nil || y == nil {
		return out
	}
	either := maps.Clone(x) // a number of the hardware may be set in one of them
	maps.Copy(either, y)
	for _, n := range experiment.SortedNames(either) {
		if a, b := x.Value(n), y.Value(n); a != b && !experiment.IsGroup(n) {
			out = append(out, knobDiff{n, lineage.Shown(n, a), lineage.Shown(n, b)})
		}
	}
	return out
}

func (p *page) valuesAt(ctx context.Context, part card.Part) experiment.Knobs {
	s, err := windows.SnapshotOf(p.source, part.Sys)
	if err != nil || s.Epoch != part.Epoch {
		return nil
	}
	l, err := p.lines.Get(ctx, s)
	if err != nil {
		return nil
	}
	return l.At(part.Version).Values
}

// compareChart draws where the time goes in both.
func (p *page) compareChart(w http.ResponseWriter, r *http.Request) {
	_, _, before, after, err := p.pins(r)
	if err != nil {
		fail(w, err)
		return
	}
	p.draw(w, r, "", func() *charts.Chart {
		return stackedPhases(sizeOf(r), []phaseBar{{"A", phaseMeans(before)}, {"B", phaseMeans(after)}})
	})
}
