package versions

import (
	"cmp"
	"fmt"
	"slices"

	"drtmx/engine/r2"
)

// Stuck says for what snapshots and writers wait, for the watchdog that finds that nothing ends: the locks that snapshots wait for, what the scheme
// waits for, and whose snapshots keep a heap full. At most a few sentences; a nil store has none.
func (s *Store) Stuck(few int) (out []string) {
	if s == nil {
		return nil
	}
	out = s.stuckAtLocks()
	if x, ok := s.scheme.(interface{ Stuck() string }); ok {
		if text := x.Stuck(); text != "" {
			out = append(out, text)
		}
	}
	out = append(out, s.stuckAtHeaps()...)
	return out[:min(len(out), few)]
}

// stuckAtLocks has a sentence for each row at which snapshots wait, those that have waited longest first.
func (s *Store) stuckAtLocks() []string {
	type blockedRow struct {
		machine int
		row     r2.Addr
		first   queued
		n       int
	}
	var places []blockedRow
	for _, m := range s.machines {
		for row, q := range m.queues { // order-free: sorted below
			places = append(places, blockedRow{m.id, row, q[0], len(q)})
		}
	}
	slices.SortFunc(places, func(a, b blockedRow) int {
		return cmp.Or(cmp.Compare(a.first.since, b.first.since), cmp.Compare(a.machine, b.machine), cmp.Compare(a.row, b.row))
	})
	var out []string
	for _, p := range places {
		who, held := s.db.Protocol().Locked(s.cl.Mem(p.machine).Bytes(p.row, s.db.Protocol().Layout().Bytes))
		if !held {
			who = "no transaction: its holder has released it and woken none of them"
		}
		out = append(out, fmt.Sprintf("%d snapshots wait for the lock of key %d of table %s on machine %d since %d ns, which is held by %s",
			p.n, p.first.key, p.first.of.Name, p.machine, p.first.since/r2.Nanosecond, who))
	}
	return out
}

// stuckAtHeaps has a sentence for each heap without room, whose oldest version a machine may still need.
func (s *Store) stuckAtHeaps() (out []string) {
	for _, m := range s.machines {
		for id, h := range m.heaps {
			if h == nil || h.room() > 0 || h.retired.len() == 0 {
				continue
			}
			full := fmt.Sprintf("no room is left for old versions of table %s on machine %d", s.db.TableOf(uint8(id)).Name, m.id)
			if who := s.keeps(m, h.retired.first().by); who != "" {
				full += ": " + who
			}
			out = append(out, full)
		}
	}
	return out
}

// keeps says which machine does not let a version be collected on m that was superseded at a stamp, "" if none keeps it.
func (s *Store) keeps(m *machine, by uint64) string {
	for of, said := range m.said {
		switch {
		case said == nil:
			return fmt.Sprintf("machine %d has not announced yet what its snapshots may need", of)
		case visible(by, said):
			continue
		}
		for thread, list := range s.machines[of].sessions {
			for i, x := range list {
				if x != nil && x.running && !visible(by, x.point.Words) {
					return fmt.Sprintf("the snapshot of machine %d thread %d coroutine %d, which reads at %v, may need the oldest, which was replaced at %d", of, thread, i, x.point.Words, by)
				}
			}
		}
		return fmt.Sprintf("machine %d has announced that its snapshots may read at %v, and the oldest was replaced at %d", of, said, by)
	}
	return ""
}
