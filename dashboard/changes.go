package dashboard

import (
	"context"
	"net/http"

	"drtmx/cluster/system"
	"drtmx/dashboard/card"
)

// cards answers with the cards of all systems: changes, and each ghost against
// what it was forked from.
func (p *page) cards(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Changes []card.Card `json:"changes"`
		Ghosts  []card.Card `json:"ghosts"`
	}{[]card.Card{}, []card.Card{}}
	for _, s := range p.source.Systems() {
		changes, err := p.changes(r.Context(), s)
		if err != nil {
			continue // closed since
		}
		out.Changes = append(out.Changes, changes...)
		if c, ok := p.ghost(r.Context(), s); ok {
			out.Ghosts = append(out.Ghosts, c)
		}
	}
	answer(w, out)
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
			c.Undo, c.Moved = l.Inverse(c.Version), l.Moved(c.Before.Version, c.Version, c.Set)
			if by, ok := taken[c.Version]; ok {
				c.Undone = by - 1
			}
		}
	}
	return out, nil
}
