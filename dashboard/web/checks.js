import { dialog, el, shape, si } from "./kit.js";

// What the history checker says, and the cycles that it found: transactions on
// a circle, an arrow for each reason why one has to come before the next.
const why = { ww: "overwrote", wr: "was read by", rw: "read what was overwritten by", rt: "ended before the beginning of" };

export function badge(b, c) {
  let text = "off", kind = "badge";
  if (c && (c.mode !== "off" || c.ok === false)) {
    text = c.ok ? `✓ ${c.transactions ? si(c.transactions) : ""}`.trim() : c.ok === false ? `✗ ${(c.anomaly_count || c.anomalies?.length || 0) + broken(c) || 1}` : "–";
    kind += c.ok ? " ok" : c.ok === false ? " bad" : "";
  }
  if (b.textContent !== text) b.textContent = text;
  b.className = kind;
  b.title = c?.incomplete ? `not decided: ${c.incomplete} (k)` : "verdict of the history checker (k)";
}

const broken = (c) => Object.values(c.invariants || {}).filter((ok) => !ok).length;

// looked says of how many transactions all is known: what a later one may still change is judged later.
function looked(c) {
  return c.transactions_seen > c.transactions ? `${si(c.transactions)} of ${si(c.transactions_seen)} transactions are judged so far; a violation that needs no other transaction is reported at once.` : `All ${si(c.transactions)} transactions were looked at.`;
}

export function openChecks(c) {
  if (!c) { dialog("Checks", el("p", {}, "No window has been measured yet.")); return; }
  if (c.mode === "off" && c.ok !== false) { dialog("Checks", el("p", {}, "They are off. The knob check turns them on; it needs a reset.")); return; }
  if (c.ok == null && !c.transactions) { dialog("Checks", el("p", {}, `Nothing is decided: ${c.incomplete}.${c.claimed ? "" : " Requests of micro-benchmarks are no transactions."}`)); return; }
  const body = [...(c.incomplete ? [el("p", { class: "broken" }, `Not all was checked: ${c.incomplete}.`)] : []), el("p", {}, `The protocol claims ${c.claimed}. The checker records what every transaction reads and writes, with versions, and searches the graph of their dependencies for cycles that the claim forbids. A version with two values (wrong-value) breaks every claim.`),
    el("p", {}, c.mode === "full" ? looked(c) : `${si(c.transactions)} transactions were looked at, on a sample of the keys: every anomaly found is real, but some may be missed.`)];
  for (const [name, ok] of Object.entries(c.invariants || {})) body.push(el("p", { class: ok ? "" : "broken" }, `${ok ? "✓" : "✗"} ${name}${c.violated?.[name] ? `: ${c.violated[name]}` : ""}`));
  for (const [name, claim] of Object.entries(c.invariants_unclaimed || {})) body.push(el("p", { class: "hint" }, `${name} is not checked: only ${claim} transactions keep it.`));
  if (c.invariants_at_drain) body.push(el("p", { class: "hint" }, "Invariants that need a cluster at rest are checked at the end of a batch run (drtmx run)."));
  if (c.can_show) body.push(el("p", { class: "hint" }, c.can_show.length ? `The transactions of this workload can show ${c.can_show.join(", ")}. Anomalies of other kinds can only follow from these.` : "The transactions of this workload cannot show any anomaly: nothing is written."));
  if (!c.anomalies?.length) body.push(broken(c) ? el("p", { class: "hint" }, "No anomaly was found among the transactions that were looked at: a broken invariant without one says that a transaction itself wrote what it must not, or that the sample did not contain those that did.") : el("p", { class: "better" }, "No anomaly found."));
  for (const a of c.anomalies || []) body.push(anomaly(a));
  const more = (c.anomaly_count || 0) - (c.anomalies || []).length;
  if (more > 0) body.push(el("p", { class: "hint" }, `and ${more} more`));
  dialog("Checks", ...body);
}

function anomaly(a) {
  const cycle = a.cycle || [];
  return el("section", { class: "anomaly" }, el("h3", {}, a.kind + (a.breaks_claim === false ? " (allowed by the claim)" : "")),
    cycle.length > 1 && (innerWidth < 560 ? ladder(cycle) : circle(cycle)), el("p", {}, a.text), cycle.length > 1 && el("ol", { class: "hint" }, ...cycle.map((s, i) => el("li", {}, sentence(s, cycle[(i + 1) % cycle.length])))));
}

function edge(s) { return s.record ? `${s.edge} ${s.record}${s.version ? ` @${s.version}` : ""}` : s.edge; }

function sentence(s, next) {
  const what = s.record ? ` (${s.record}${s.version ? `, version ${s.version}` : ""})` : "";
  return `T${s.txn} ${why[s.edge] || s.edge} T${next.txn}${what}`;
}

function circle(cycle) {
  const n = cycle.length, w = 560, h = n < 3 ? 150 : n === 3 ? 240 : 300, cx = w / 2, cy = h / 2 + (n === 3 ? 28 : 0), rx = 150, ry = n < 3 ? 0 : 104;
  const at = (i) => { const t = 2 * Math.PI * i / n - (n < 3 ? Math.PI : Math.PI / 2); return [cx + rx * Math.cos(t), cy + ry * Math.sin(t)]; };
  const reach = Math.max(w / 2, ...cycle.map((s, i) => { const [x1] = at(i), [x2] = at((i + 1) % n); return n < 3 ? wide(edge(s)) / 2 : Math.abs((x1 + x2) / 2 - cx) + 40 + wide(edge(s)); }));
  const svg = picture(cycle, `${cx - reach} 0 ${2 * reach} ${h}`);
  cycle.forEach((s, i) => {
    const [x1, y1] = at(i), [x2, y2] = at((i + 1) % n), d = Math.hypot(x2 - x1, y2 - y1) || 1, bend = n < 3 ? 46 : 22;
    // Bent outwards (clockwise, that is to the left of the way): there and back
    // are two arrows.
    const nx = (y2 - y1) / d, ny = (x1 - x2) / d, mx = (x1 + x2) / 2 + nx * bend, my = (y1 + y2) / 2 + ny * bend;
    const cut = (x, y) => { const l = Math.hypot(mx - x, my - y); return `${x + (mx - x) * 38 / l} ${y + (my - y) * 20 / l}`; };
    svg.append(shape("path", { d: `M${cut(x1, y1)}Q${mx} ${my} ${cut(x2, y2)}`, class: "arrow", "marker-end": "url(#tip)" }),
      shape("text", { x: mx + nx * 4, y: my + ny * 4 + 4, "text-anchor": Math.abs(mx - cx) < 30 ? "middle" : mx > cx ? "start" : "end", class: "why" }, edge(s)));
  });
  cycle.forEach((s, i) => {
    const [x, y] = at(i);
    svg.append(...txn(s, x, y, halfOf(s)));
  });
  return svg;
}

// ladder is the circle for a phone, on which its words would be too small: one below
// the other, and along the side the arrow back to the first.
function ladder(cycle) {
  const row = 66, left = 20, half = Math.max(...cycle.map(halfOf)), x = left + half, y = (i) => 16 + i * row, last = cycle.length - 1;
  const w = Math.max(262, left + 2 * half, ...cycle.map((s, i) => (i < last ? x + 10 : 8) + Math.max(...edge(s).split(" @").map(wide)) + 12)), svg = picture(cycle, `0 0 ${w} ${y(last) + 54}`);
  const words = (s, x, y) => edge(s).split(" @").map((line, i) => shape("text", { x, y: y + 14 * i, class: "why" }, i ? `@${line}` : line));
  cycle.forEach((s, i) => svg.append(...i < last ?
    [shape("path", { d: `M${x} ${y(i) + 14}V${y(i + 1) - 14}`, class: "arrow", "marker-end": "url(#tip)" }), ...words(s, x + 10, y(i) + row / 2 - 2)] :
    [shape("path", { d: `M${left} ${y(i)}H8V${y(0)}H${left}`, class: "arrow", "marker-end": "url(#tip)" }), ...words(s, 8, y(i) + 32)],
    ...txn(s, x, y(i), half)));
  return svg;
}

const wide = (words) => 7 * words.length;
const halfOf = (s) => Math.max(34, wide(`T${s.txn}`) / 2 + 12);

function picture(cycle, viewBox) {
  return shape("svg", { viewBox, role: "img", class: "cycle", "aria-label": cycle.map((s) => `T${s.txn} ${edge(s)}`).join(", then ") + ", and back" },
    shape("defs", {}, shape("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, shape("path", { d: "M0 0 8 4 0 8z" }))));
}

function txn(s, x, y, half) {
  return [shape("rect", { x: x - half, y: y - 14, width: 2 * half, height: 28, rx: 14, class: "txn" }), shape("text", { x, y: y + 4, "text-anchor": "middle" }, `T${s.txn}`)];
}
