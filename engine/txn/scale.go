package txn

import (
	"math"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/r2"
)

// CostBackoff is, for Options.Scale, the bounds of the back-off.
const CostBackoff = "wait.backoff"

// CostHeld is, for Options.Scale, how long locks are held, in thousandths of what it takes: see Tx.Hold.
const CostHeld = "held"

// CostReclaim is, for Options.Scale, the cycles that a backup takes to apply log entries.
const CostReclaim = "handler.reclaim"

// coordinatorCosts is what the names of all costs begin with that are cycles of a transaction's own program on its core.
const coordinatorCosts = "coordinator."

// KnobCoordinator changes all of them and CostReclaim.
const KnobCoordinator = "coordinator.scale"

func coordinatorRow() knob.Row {
	return knob.Row{Knob: knob.Knob{Name: KnobCoordinator, Kind: knob.Float, Default: 1.0, Min: 0.1, Max: 10.0, Unit: "x", Label: "Coordinator's cycles", Section: "4.3", Group: knob.Phases,
		Doc: "Factor on the CPU cycles of the transaction program itself (read and write set, body, log entries) and of a backup that applies log entries. No source has them: they are measured on our code and scaled to VAL's cores by published numbers of both machines. They are uncertain by a factor of 1.4 either way, for compiler, language and that scaling, so the band of a figure is from 1/1.4 to 1.4. Verbs, Table 4-2's handlers, indexes and memory are not scaled."}, Needs: HasProgram}
}

// CoordinatorScale is what coordinator.scale says, nil for 1.
func CoordinatorScale(v knob.Values) Scale {
	factor := v.Float(KnobCoordinator)
	if factor == 1 {
		return nil
	}
	return func(cost string, amount int) int {
		if amount == 0 || !strings.HasPrefix(cost, coordinatorCosts) && cost != CostReclaim {
			return amount
		}
		return max(1, int(math.Round(float64(amount)*factor)))
	}
}

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
