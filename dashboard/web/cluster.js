import { $, el, shape } from "./kit.js";
import { utilisation as scale } from "./colours.js";

// The cluster drawn node by node: a bar is a resource, its colour the
// utilisation (cividis, which the colour-blind can read), what is saturated is
// outlined.
const names = { cpu: "CPU", nic_tx: "NIC send", nic_rx: "NIC receive", nic_atomic: "NIC atomics", nic_context: "NIC contexts", softirq: "softirq cores", pcie: "PCIe", link: "link", memory: "memory", interconnect: "interconnect", nvm_read: "NVM read", nvm_write: "NVM write" };
const percent = (u) => `${(100 * u).toFixed(0)} %`;

let drawn = "", parts = [];

// drawCluster takes the nodes of the latest windows, averaged, and the verdict on
// them; no nodes: nothing has been measured.
export function drawCluster(nodes, down, limit) {
  if (!nodes.length) {
    drawn = "";
    $("cluster").replaceChildren();
    return;
  }
  const resources = Object.keys(names).filter((r) => nodes.some((n) => n.utilization[r] !== undefined));
  for (const r of Object.keys(nodes[0].utilization)) if (!names[r]) resources.push(r);
  const shown = nodes.length > 4 ? resources.filter((r) => r !== "nic_context" || nodes.some((n) => n.utilization[r] > 0.01)) : resources;
  const as = nodes.map((n) => n.node + n.role).join() + shown.join() + "/" + down.join();
  if (as !== drawn) { build(nodes, shown, down); drawn = as; }
  const up = nodes.filter((n) => !down.includes(n.node)), gone = downText(down);
  if (!up.length) { $("cluster").firstChild.setAttribute("aria-label", `${nodes.length} nodes, ${gone}`); return; }
  const top = busiest(up, shown), hot = limit?.verdict === "saturated" ? limit : {};
  for (const p of parts) {
    const u = nodes[p.node].utilization[p.r] || 0;
    const k = Math.max(0, Math.min(scale.length - 1, Math.round(u * (scale.length - 1))));
    p.bar.setAttribute("fill", scale[k]);
    p.bar.setAttribute("class", hot.node === nodes[p.node].node && hot.of === p.r ? "hot" : "bar");
    p.title.textContent = `${names[p.r] || p.r} of node ${nodes[p.node].node}: ${percent(u)}`;
    if (p.text) { p.text.textContent = percent(u); p.text.setAttribute("class", k > 3 ? "num" : "num light"); }
  }
  const words = `busiest: ${names[top.r] || top.r} of node ${top.node}, ${percent(top.u)}`;
  $("cluster").firstChild.setAttribute("aria-label", [`${nodes.length} nodes`, gone, words].filter(Boolean).join(", "));
}

// downText names the machines that have crashed and are not back, "" if all are up; where room is short
// it does without the verb.
export function downText(down, short = false) {
  const all = [...down].sort((a, b) => a - b), last = all.pop();
  if (last === undefined) return "";
  const [who, verb] = all.length ? [`nodes ${all.join(", ")} and ${last}`, "are"] : [`node ${last}`, "is"];
  return short ? `${who} down` : `${who} ${verb} down`;
}

// emptyBreakdown says why the latest windows have no phases to show, "" if they have.
export function emptyBreakdown(ws, down) {
  if (!ws.length) return "Nothing has been measured yet.";
  if (ws.some((w) => Object.values(w.phases || {}).some((p) => p.mean_us > 0))) return "";
  const sum = (f) => ws.reduce((a, w) => a + (w[f] || 0), 0), over = ws.length === 1 ? "the latest window" : `the latest ${ws.length} windows`;
  if (sum("commits")) return "The requests of this workload have no phases.";
  const because = down.length ? downText(down) : sum("failed") ? "all failed" : sum("aborts") ? "all attempts aborted" : "none ended: they take longer than that, or wait for each other";
  return `No commits in ${over}: ${because}.`;
}

// busiest finds the resource that is.
function busiest(nodes, resources) {
  let top;
  for (const n of nodes) for (const r of resources) if (!top || n.utilization[r] > top.u) top = { node: n.node, r, u: n.utilization[r] };
  return top;
}

// cells are the nodes in groups of as many a row: few of them have room for
// words, and so have the one or two servers that many clients ask, and the oracle.
function cells(nodes) {
  const n = nodes.length, servers = nodes.filter((x) => x.role === "server"), few = servers.length > 0 && servers.length < 3;
  if (n <= 4) return [{ nodes, per: 2, roomy: true }];
  const apart = nodes.filter((x) => few && x.role === "server" || x.role === "oracle"), rest = nodes.filter((x) => !apart.includes(x));
  const small = { nodes: rest, per: rest.length <= 16 ? 4 : 8 };
  // The oracle alone takes half of its row: it may well be idle, and the largest box would say that it matters most.
  return apart.length ? [{ nodes: apart, per: few ? apart.length : 2, roomy: true }, small] : [small];
}

function build(nodes, resources, down) {
  const svg = shape("svg", { role: "img" }), groups = cells(nodes);
  let y = 2;
  parts = [];
  for (const g of groups) {
    const w = 340 / g.per, row = g.roomy ? 15 : g.per === 4 ? 9 : 6, h = 22 + row * resources.length + (g.roomy ? 6 : 4);
    g.nodes.forEach((x, i) => cell(svg, x, nodes.indexOf(x), resources, { ...g, down: down.includes(x.node), row, h, w, left: (i % g.per) * w + 2, top: y + Math.floor(i / g.per) * (h + 4) }));
    y += Math.ceil(g.nodes.length / g.per) * (h + 4);
  }
  y += 6;
  scale.forEach((c, i) => svg.append(shape("rect", { x: 34 + i * 27, y, width: 27, height: 8, fill: c })));
  svg.append(shape("text", { x: 28, y: y + 8, "text-anchor": "end", class: "sub" }, "idle"), shape("text", { x: 283, y: y + 8, class: "sub" }, "saturated"));
  svg.setAttribute("viewBox", `0 0 340 ${y + 14}`);
  $("cluster").replaceChildren(svg);
  if (groups.some((g) => !g.roomy)) $("cluster").append(el("p", { class: "hint" }, "From the top: " + resources.map((r) => names[r] || r).join(", ") + "."));
}

// cell draws one node.
function cell(svg, x, node, resources, g) {
  const label = g.roomy ? 72 : 0, name = x.role && x.role !== "symmetric" ? x.role : "node";
  svg.append(shape("rect", { x: g.left, y: g.top, width: g.w - 4, height: g.h, rx: 6, class: g.down ? "frame gone" : "frame", "data-node": x.node }),
    shape("text", { x: g.left + 6, y: g.top + 14 }, g.per < 8 ? `${name} ${x.node}` : String(x.node)));
  if (g.down) { // it has no utilisation, which is not one of 0
    svg.append(shape("text", { x: g.left + (g.w - 4) / 2, y: g.top + 18 + (g.h - 18) / 2, "text-anchor": "middle", class: "gone" }, g.per < 8 ? "✕ down" : "✕", shape("title", {}, downText([x.node]))));
    return;
  }
  resources.forEach((r, k) => {
    const y = g.top + 20 + k * g.row, title = shape("title");
    const bar = shape("rect", { x: g.left + 6 + label, y, width: g.w - 16 - label, height: g.row - 2, rx: 2, "data-node": x.node }, title);
    svg.append(bar);
    const p = { node, r, bar, title };
    if (g.roomy) {
      svg.append(shape("text", { x: g.left + 6, y: y + 10, class: "sub" }, names[r] || r));
      p.text = shape("text", { x: g.left + g.w - 13, y: y + 10, "text-anchor": "end" });
      svg.append(p.text);
    }
    parts.push(p);
  });
}

// average of the nodes over windows.
export function averaged(windows) {
  const out = [];
  for (const w of windows) {
    (w.nodes || []).forEach((n, i) => {
      out[i] ||= { node: n.node, role: n.role, type: n.type, utilization: {} };
      for (const [r, u] of Object.entries(n.utilization)) out[i].utilization[r] = (out[i].utilization[r] || 0) + u / windows.length;
    });
  }
  return out;
}
