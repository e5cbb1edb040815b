// The cluster drawn node by node: each resource is a box whose colour is its
// utilisation (cividis, told apart by the colour-blind), the bottleneck is
// outlined.
const NS = "http://www.w3.org/2000/svg";
const scale = ["#00224e", "#1a386f", "#434e6c", "#61646f", "#7d7c78", "#9b9476", "#bcae6c", "#ddc95a", "#fee838"];
const order = [["cpu", "CPU"], ["nic_tx", "NIC tx"], ["nic_rx", "NIC rx"], ["pcie", "PCIe"], ["memory", "memory"], ["link", "link"]];

function shape(tag, attrs, text) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

export function drawCluster(root, limit, w) {
  const nodes = w.nodes || [];
  const per = nodes.length <= 4 ? 2 : 4;
  const bw = 320 / per, bh = nodes.length <= 4 ? 118 : 96;
  const rows = Math.ceil(nodes.length / per);
  const svg = shape("svg", { viewBox: `0 0 324 ${rows * bh + 44}`, role: "img", "aria-label": describe(w) });
  nodes.forEach((n, i) => {
    const x = 2 + (i % per) * bw, y = 2 + Math.floor(i / per) * bh;
    svg.append(node(n, x, y, bw - 6, bh - 8, w.bottleneck, per));
  });
  legend(svg, rows * bh + 10);
  root.replaceChildren(svg);
  const b = w.bottleneck;
  limit.textContent = b ? `busiest: ${b.resource} of node ${b.node}, ${(100 * b.utilization).toFixed(0)} %` : "";
}

function node(n, x, y, w, h, b, per) {
  const g = shape("g", {});
  g.append(shape("rect", { x, y, width: w, height: h, rx: 6, class: "frame" }));
  g.append(shape("text", { x: x + 6, y: y + 13 }, `node ${n.node}`));
  if (per === 2) g.append(shape("text", { x: x + w - 6, y: y + 13, "text-anchor": "end", class: "sub" }, n.role || n.type || ""));
  const have = order.filter(([r]) => n.utilization[r] !== undefined);
  const step = (h - 22) / Math.max(have.length, 1);
  have.forEach(([r, label], i) => {
    const u = n.utilization[r], yy = y + 19 + i * step;
    const hot = b && b.node === n.node && b.resource === r;
    const bar = w - 12, lw = per === 2 ? 44 : 0;
    const box = shape("rect", { x: x + 6 + lw, y: yy, width: bar - lw, height: step - 3, rx: 2, fill: colour(u), class: hot ? "hot" : "box" });
    box.append(shape("title", {}, `${label} of node ${n.node}: ${(100 * u).toFixed(0)} %`));
    if (lw) g.append(shape("text", { x: x + 6, y: yy + step - 5, class: "sub" }, label));
    g.append(box);
    if (lw) g.append(shape("text", { x: x + w - 10, y: yy + step - 5, "text-anchor": "end", style: `fill:${u > 0.6 ? "#111" : "#fff"};font-size:9px` }, `${(100 * u).toFixed(0)} %`));
  });
  return g;
}

function colour(u) { return scale[Math.max(0, Math.min(scale.length - 1, Math.round(u * (scale.length - 1))))]; }

function legend(svg, y) {
  scale.forEach((c, i) => svg.append(shape("rect", { x: 60 + i * 22, y, width: 22, height: 8, fill: c })));
  svg.append(shape("text", { x: 56, y: y + 8, "text-anchor": "end", class: "sub" }, "idle"), shape("text", { x: 62 + scale.length * 22, y: y + 8, class: "sub" }, "saturated"));
}

function describe(w) {
  const b = w.bottleneck;
  return `${(w.nodes || []).length} nodes${b ? `, busiest ${b.resource} of node ${b.node} at ${(100 * b.utilization).toFixed(0)} percent` : ""}`;
}
