package result

import (
	"fmt"
	"strings"
)

// ContentionStat is what conflicts between transactions cost, and where they were.
type ContentionStat struct {
	Conflicts uint64 `json:"conflicts"` // failed locks and validations, and reads of locked records
	// LostShare is the part of the time in flight that conflicts took: attempts that aborted, their
	// back-off, and pauses before a locked record was read again.
	LostShare float64     `json:"lost_share"`
	Hot       []HotRecord `json:"hot,omitempty"` // hottest first
}

// HotRecord is a record at which transactions met.
type HotRecord struct {
	Table      string            `json:"table"`
	Key        uint64            `json:"key"`
	Conflicts  uint64            `json:"conflicts"`
	Over       uint64            `json:"over,omitempty"` // at most so many of Conflicts are other records'
	LockWaitUS float64           `json:"lock_wait_us"`   // pauses before it was read again, and back-off after aborts at it
	Aborts     uint64            `json:"aborts"`         // attempts that ended because of it
	ByType     map[string]uint64 `json:"by_type,omitempty"`
}

func (h *HotRecord) name() string { return fmt.Sprintf("%s/%d", h.Table, h.Key) }

const (
	HotShown  = 10 // records of a result
	HotWindow = 3  // records that a window keeps
)

// HotText is a table of the hottest records for a terminal, "" without any.
func HotText(hot []HotRecord) string {
	if len(hot) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nHottest records %24s %10s %14s  %s\n", "conflicts", "aborts", "lock wait µs", "by type")
	for i := range hot {
		h := &hot[i]
		fmt.Fprintf(&b, "  %-28s %9d %10d %14.4g  %s\n", h.name(), h.Conflicts, h.Aborts, h.LockWaitUS, h.Types())
	}
	return b.String()
}

// Types lists the transaction types that met others at the record, most conflicts first.
func (h *HotRecord) Types() string {
	names := make([]string, 0, len(h.ByType))
	for name := range h.ByType { // order-free: sorted below
		names = append(names, name)
	}
	sortBy(names, func(name string) uint64 { return h.ByType[name] })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, h.ByType[name])
	}
	return strings.Join(names, ", ")
}
