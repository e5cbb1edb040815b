package txn

import "drtmx/engine/r2"

// CostBackoff is, for Options.Scale, the bounds of the back-off.
const CostBackoff = "wait.backoff"

// CostHeld is, for Options.Scale, how long locks are held, in thousandths of what it takes: see Tx.Hold.
const CostHeld = "held"

// asLong is CostHeld as it is.
const asLong = 1000

// HeldCost is CostHeld of a protocol that holds its locks in that time, which overlaps with its other costs.
func HeldCost(when string) Cost { return Cost{Held: true, Name: CostHeld, What: when} }

// Hold lets the transaction keep the locks that it has since then for longer than it needs them, where Options.Scale
// says so: by a share of the time until now. Its core is free meanwhile. Shorter it cannot be. Since 0 it has none.
func (tx *Tx) Hold(since r2.Time) {
	more := r2.Time(tx.db.held - asLong)
	if more <= 0 || since == 0 {
		return
	}
	tx.c.Sleep((tx.c.Now() - since) * more / asLong)
}
