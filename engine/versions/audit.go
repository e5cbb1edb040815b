package versions

import "fmt"

// Audit looks at a store at rest, and calls bad with a sentence for each place that is reserved, each old version that no snapshot will
// collect, and each snapshot that still waits. A nil store has none.
func (s *Store) Audit(bad func(text string)) {
	if s == nil {
		return
	}
	for _, m := range s.machines {
		for id, h := range m.heaps {
			if h == nil {
				continue
			}
			if h.reserved != 0 {
				bad(fmt.Sprintf("%d places for old versions of table %d on machine %d are reserved, and no transaction writes", h.reserved, id, m.id))
			}
			if used := h.used(); used != h.retired.len() {
				bad(fmt.Sprintf("%d old versions of table %d are on machine %d, and %d wait to be collected", used, id, m.id, h.retired.len()))
			}
		}
		if n := len(m.queues); n > 0 {
			bad(fmt.Sprintf("snapshots wait at %d rows of machine %d, and no lock is held", n, m.id))
		}
	}
}
