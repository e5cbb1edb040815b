package dashboard

import (
	"context"
	"net/http"
	"reflect"
	"slices"

	"drtmx/cluster/session"
	"drtmx/cluster/system"
	"drtmx/dashboard/card"
	"drtmx/dashboard/lineage"
	"drtmx/engine/experiment"
)

// cards answers with the cards of all systems: changes, and each ghost against
// what it was forked from.
func (p *page) cards(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Changes []card.Card `json:"changes"`
		Ghosts  []card.Card `json:"ghosts"`
		Rivals  []card.Card `json:"rivals"` // systems side by side
	}{[]card.Card{}, []card.Card{}, []card.Card{}}
	all := p.source.Systems()
	for _, s := range all {
		changes, err := p.changes(r.Context(), s)
		if err != nil {
			continue // closed since
		}
		out.Changes = append(out.Changes, p.own(r.Context(), s, all, changes)...)
		if c, ok := p.ghost(r.Context(), s, all); ok {
			out.Ghosts = append(out.Ghosts, c)
		}
	}
	out.Rivals = append(out.Rivals, p.rivals(r.Context(), all)...)
	answer(w, out)
}

// own leaves out the changes that a ghost has from the system that it was forked from, which has their cards.
func (p *page) own(ctx context.Context, s system.Snapshot, all []system.Snapshot, changes []card.Card) []card.Card {
	if !isGhost(s, all) {
		return changes
	}
	mine, err := p.source.Events(ctx, s.Sys)
	if err != nil {
		return changes
	}
	theirs, err := p.source.Events(ctx, s.ForkedFrom)
	if err != nil {
		return changes
	}
	shared := map[int]bool{}
	for _, e := range mine {
		shared[e.Version] = slices.ContainsFunc(theirs, func(o session.Event) bool {
			return o.Version == e.Version && o.VirtualNS == e.VirtualNS && reflect.DeepEqual(o.Set, e.Set)
		})
	}
	return slices.DeleteFunc(changes, func(c card.Card) bool { return shared[c.Version] })
}

func (p *page) changes(ctx context.Context, s system.Snapshot) ([]card.Card, error) {
	ms, epoch, err := p.keeper.Moments(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	events, err := p.source.Events(ctx, s.Sys)
	if err != nil {
		return nil, err
	}
	out := p.kept.OfChanges(s.Sys, epoch, ms, events)
	if l, err := p.lines.Get(ctx, s); err == nil && l.Epoch == epoch {
		taken := l.Undone(card.Shown)
		for i := range out {
			c := &out[i]
			c.Undo, c.Moved = undo(&l, c.Before.Version, c.Version), l.Moved(c.Before.Version, c.Version, c.Set)
			if by, ok := taken[c.Version]; ok {
				c.Undone = by - 1
			}
		}
	}
	return out, nil
}

// undo takes back a change and those that its card measures it together with; where nothing is left of them all, the change alone.
func undo(l *lineage.Lineage, base, version int) experiment.Knobs {
	if set := l.Back(base, version); len(set) > 0 || base == version-1 {
		return set
	}
	return l.Inverse(version)
}
