import { $, el, shape } from "./kit.js";

// The cluster drawn node by node: a bar is a resource, its colour the
// utilisation (cividis, which the colour-blind can read), the bottleneck is
// outlined.
const scale = ["#00224e", "#1a386f", "#434e6c", "#61646f", "#7d7c78", "#9b9476", "#bcae6c", "#ddc95a", "#fee838"];
const names = { cpu: "CPU", nic_tx: "NIC send", nic_rx: "NIC receive", nic_atomic: "NIC atomics", nic_context: "NIC contexts", pcie: "PCIe", link: "link", memory: "memory" };
const percent = (u) => `${(100 * u).toFixed(0)} %`;

let drawn = "", parts = [];

// drawCluster takes the nodes of the latest windows, averaged; none: nothing
// has been measured.
export function drawCluster(nodes) {
  if (!nodes.length) {
    drawn = "";
    $("limit").textContent = "nothing measured yet";
    $("cluster").replaceChildren();
    return;
  }
  const resources = Object.keys(names).filter((r) => nodes.some((n) => n.utilization[r] !== undefined));
  for (const r of Object.keys(nodes[0].utilization)) if (!names[r]) resources.push(r);
  const shown = nodes.length > 4 ? resources.filter((r) => r !== "nic_context" || nodes.some((n) => n.utilization[r] > 0.01)) : resources;
  const as = nodes.map((n) => n.node + n.role).join() + shown.join();
  if (as !== drawn) { build(nodes, shown); drawn = as; }
  let hot;
  for (const n of nodes) for (const r of shown) if (!hot || n.utilization[r] > hot.u) hot = { node: n.node, r, u: n.utilization[r] };
  for (const p of parts) {
    const u = nodes[p.node].utilization[p.r] || 0;
    const k = Math.max(0, Math.min(scale.length - 1, Math.round(u * (scale.length - 1))));
    p.bar.setAttribute("fill", scale[k]);
    p.bar.setAttribute("class", hot.node === nodes[p.node].node && hot.r === p.r ? "hot" : "bar");
    p.title.textContent = `${names[p.r] || p.r} of node ${nodes[p.node].node}: ${percent(u)}`;
    if (p.text) { p.text.textContent = percent(u); p.text.setAttribute("class", k > 4 ? "num" : "num light"); }
  }
  const words = `busiest: ${names[hot.r] || hot.r} of node ${hot.node}, ${percent(hot.u)}`;
  $("limit").textContent = words;
  $("cluster").firstChild.setAttribute("aria-label", `${nodes.length} nodes, ${words}`);
}

function build(nodes, resources) {
  const n = nodes.length, per = n <= 4 ? 2 : n <= 16 ? 4 : 8, roomy = per === 2;
  const w = 340 / per, row = roomy ? 15 : n <= 16 ? 9 : 6, h = 22 + row * resources.length + 8;
  const rows = Math.ceil(n / per);
  const svg = shape("svg", { viewBox: `0 0 340 ${rows * (h + 4) + 22}`, role: "img" });
  parts = [];
  nodes.forEach((x, i) => {
    const left = (i % per) * w + 2, top = Math.floor(i / per) * (h + 4) + 2;
    svg.append(shape("rect", { x: left, y: top, width: w - 4, height: h, rx: 6, class: "frame" }),
      shape("text", { x: left + 6, y: top + 14 }, per < 8 ? `node ${x.node}` : String(x.node)));
    if (roomy && x.role !== "symmetric") svg.append(shape("text", { x: left + w - 10, y: top + 14, "text-anchor": "end", class: "sub" }, x.role));
    resources.forEach((r, k) => {
      const y = top + 20 + k * row, label = roomy ? 58 : 0;
      const title = shape("title");
      const bar = shape("rect", { x: left + 6 + label, y, width: w - 16 - label, height: row - 2, rx: 2 }, title);
      svg.append(bar);
      const p = { node: i, r, bar, title };
      if (roomy) {
        svg.append(shape("text", { x: left + 6, y: y + 10, class: "sub" }, names[r] || r));
        p.text = shape("text", { x: left + w - 13, y: y + 10, "text-anchor": "end" });
        svg.append(p.text);
      }
      parts.push(p);
    });
  });
  const y = rows * (h + 4) + 8;
  scale.forEach((c, i) => svg.append(shape("rect", { x: 44 + i * 27, y, width: 27, height: 8, fill: c })));
  svg.append(shape("text", { x: 40, y: y + 8, "text-anchor": "end", class: "sub" }, "idle"), shape("text", { x: 292, y: y + 8, class: "sub" }, "saturated"));
  $("cluster").replaceChildren(svg);
  if (!roomy) $("cluster").append(el("p", { class: "hint" }, "From the top: " + resources.map((r) => names[r] || r).join(", ") + "."));
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
