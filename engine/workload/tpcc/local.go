package tpcc

import "cmp"

// LocalLocks is the share, in per cent, of the records that transactions lock which
// are on the machine that runs them, by the distributions of their inputs, on so
// many machines which all have warehouses and run transactions. Inserted records,
// which the CPU of their server locks in any case, do not count. Weights are by the names of the types; new-order alone needs none.
func LocalLocks(o Options, machines int, weights map[string]int) int {
	const (
		lines    = (5 + maxLines) / 2
		permille = 1000
	)
	line, payer := o.RemoteLine, o.RemotePayment
	if o.NewOrderOnly {
		line, weights = permille, map[string]int{types[newOrder].Name: 1}
	}
	// A warehouse that is not the terminal's is on another machine in so many of all cases.
	others, all := (machines-1)*o.Warehouses, machines*o.Warehouses-1
	elsewhere := func(remote int) int { return remote * others / max(all, 1) }
	local, total := 0, 0 // in thousandths of locks
	add := func(weight, own, drawn, remote int) {
		total += weight * (own + drawn) * permille
		local += weight * (own*permille + drawn*(permille-elsewhere(remote)))
	}
	add(weights[types[newOrder].Name], 1, lines, line)                                                  // district; stock
	add(weights[types[payment].Name], 2, 1, payer)                                                      // warehouse, district; customer
	add(weights[types[delivery].Name]*cmp.Or(o.Districts, StandardDistricts), 1+1+lines+1, 0, permille) // new-order, order, lines, customer
	if total == 0 {
		return 0
	}
	return 100 * local / total
}
