import { si } from "./kit.js";

// snapshotText says of the latest windows of a system how old what its snapshots read was, and how many reads
// waited for a writer; "" where none has read.
export function snapshotText(windows) {
  const ws = windows.filter((w) => w.staleness_ns), last = ws.at(-1)?.staleness_ns;
  if (!last) return "";
  const time = (ns) => ns < 1e6 ? `${si(ns / 1e3)} µs` : `${si(ns / 1e6)} ms`, sum = (f) => ws.reduce((a, w) => a + f(w.gauges || {}), 0);
  const oldest = `the oldest read was ${time(Math.max(...ws.map((w) => w.staleness_ns.max)))} old`;
  const promise = last.bound === undefined ? `${oldest}, and no bound is promised` : `${oldest}, and ${time(last.bound)} is the bound`;
  const reads = sum((g) => g["snapshots.reads"] || 0), blocked = sum((g) => (g["snapshots.reads"] || 0) * (g["snapshots.blocked"] || 0) / 100);
  const waits = ws.filter((w) => w.gauges?.["snapshots.wait"] > 0), mean = waits.reduce((a, w) => a + w.gauges["snapshots.wait"], 0) / waits.length;
  if (!reads) return promise;
  return `${promise}; ${si(100 * blocked / reads)} % of the reads waited for a writer${waits.length ? `, ${time(mean * 1e3)} on average` : ""}`;
}
