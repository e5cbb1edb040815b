// Package example shows how parts plug into drtmx: protocols, stores, a workload and a scheme of timestamps that are as small as they can be.
// Each is a package of its own, and one registration: a line in engine/experiment/parts.go, or, as here, a call of
// experiment.Plug before anything runs. Nothing else of the module knows of them, and yet they have knobs on the page,
// gauges, results, and run under the checkers. The test of this package holds that price.
//
//   - serial is a protocol: one lock for the whole cluster.
//   - inplace is a protocol on memory nodes: locks by CAS, undo logs, every request one-sided.
//   - prepared is a protocol with two-phase commit over RPC.
//   - leased is a protocol whose lock word has leases of readers too.
//   - ordered is a protocol that locks all records before the body runs, for workloads that declare them.
//   - array is a store: the row of a key is computed, not looked up.
//   - hashed is a store whose records come and go, by one-sided requests or by RPC.
//   - sorted is an ordered key-value store: a sorted array behind RPCs.
//   - counters is a workload: transactions add to two counters.
//   - lamport is a scheme of timestamps: logical clocks.
package example
