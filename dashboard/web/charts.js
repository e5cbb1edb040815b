import { $, ms } from "./kit.js";
import { darkInk, lightInk, onDark } from "./colours.js";
import { Probe } from "./probe.js";
import { tip } from "./tip.js";

// One is read, the other listened to: Chromium tells no change to one that was read between the change and its event.
const dark = matchMedia("(prefers-color-scheme: dark)"), darkens = matchMedia("(prefers-color-scheme: dark)");

// library brings echarts, which the head of the page names and the browser has begun to fetch; where this build has none,
// pictures are shown. Nothing is drawn before it is there: a picture in the wrong size is worse than a quiet place.
const library = new Promise((done) => {
  const link = $("library");
  if (!link) { done(); return; }
  const s = document.createElement("script");
  s.src = link.href;
  if (link.integrity) { s.integrity = link.integrity; s.crossOrigin = "anonymous"; }
  s.onload = s.onerror = done;
  document.head.append(s);
});

// The charts. The server draws them: as an echarts option, or as SVG where the
// library is missing. They are fetched when they are stale, at most three times
// a second, and not while the page is hidden.
export class Charts {
  constructor(onMark, onTheme) {
    Object.assign(this, { onMark, onTheme, span: null, after: null, zooms: [], dirty: true, busy: true, sys: "a", window: () => 0 });
    this.probe = new Probe({ zoom: (from, to) => this.zoom(from, to), span: () => this.span?.map((ns) => ns / 1e6), back: () => this.back(), released: () => this.now() });
    library.then(() => this.begin());
    setInterval(() => this.tick(), 330);
    $("range").onchange = () => this.look(null);
    $("golive").onclick = () => this.look(null);
    $("zoomout").onclick = () => this.back();
    for (const id of boxes) $(id).ontoggle = () => this.stale();
    document.addEventListener("visibilitychange", () => this.stale());
  }
  stale() { this.dirty = true; }
  // now draws without waiting for the next turn.
  now() { this.stale(); this.soon = this.busy; this.tick(); }
  // look shows a span of a system's virtual time; null: the live one of the system that is shown.
  // The breakdown is that of after, a part of the span; what shows the present is marked.
  look(span, sys, after, zooms = []) {
    Object.assign(this, { span, spanOf: span && sys, after: span && (after || span), zooms });
    document.body.classList.toggle("past", !!span);
    $("pastspan").hidden = !span;
    $("pastspan").textContent = span ? `The charts show ${ms(span[0])} to ${ms(span[1])}. What is marked “now” shows the present.` : "";
    $("phaseswhen").textContent = span ? `means of ${ms(this.after[0])} to ${ms(this.after[1])}` : "";
    if (!span && document.activeElement === $("golive")) $("range").focus();
    $("golive").hidden = !span;
    if (zooms.length < 2 && document.activeElement === $("zoomout")) $("golive").focus();
    $("zoomout").hidden = zooms.length < 2;
    this.now();
  }
  // zoom shows a part of what is shown, in ms of virtual time, and at least a few windows of it.
  zoom(from, to) {
    const short = Math.max(0, 4 * this.window() - (to - from) * 1e6) / 2, { span, spanOf, after, zooms } = this;
    const near = [Math.max(0, Math.round(from * 1e6 - short)), Math.round(to * 1e6 + short)];
    if (span && near[0] <= span[0] && near[1] >= span[1]) return; // no nearer
    this.look(near, spanOf || this.sys, null, [...zooms, { span, spanOf, after }]);
  }
  // back shows what was shown before the latest zoom. It says whether there was something to go back from.
  back() {
    if (this.probe.cancel()) return true;
    if (!this.span) return false;
    const was = this.zooms.at(-1) || { span: null };
    this.look(was.span, was.spanOf, was.after, this.zooms.slice(0, -1));
    return true;
  }
  begin() {
    $("plain").hidden = !!window.echarts;
    darkens.addEventListener("change", () => {
      if (!window.echarts || matchMedia("print").matches) return; // paper is light, and waits for no chart
      for (const e of document.querySelectorAll(".chart")) window.echarts.getInstanceByDom(e)?.dispose();
      this.stale();
      this.onTheme();
    });
    this.busy = false;
    this.tick();
  }
  async tick() {
    if (!this.dirty || this.busy || this.probe.dragging || document.hidden || $("livepage").hidden) return;
    this.busy = true;
    this.dirty = false;
    const mark = { mark: this.onMark, probe: this.probe }, q = `sys=${this.spanOf || this.sys}&${this.span ? `from=${this.span[0]}&to=${this.span[1]}` : `last=${$("range").value}`}`;
    try {
      const all = [draw($("timeline"), `/page/timeline?${q}`, mark), draw($("phases"), `/page/phases?${this.after ? `from=${this.after[0]}&to=${this.after[1]}` : ""}`)];
      if ($("memorybox").open) {
        all.push(draw($("memory"), `/page/memory?${q}`, mark));
        all.push(draw($("dimms"), `/page/dimms?sys=${this.sys}`), draw($("buffers"), `/page/dimms?sys=${this.sys}&of=buffer`));
      }
      if ($("distributionbox").open) all.push(draw($("distribution"), "/page/distribution?", { high: 300 }));
      if ($("pciebox").open) all.push(draw($("pcie"), `/page/pcie?${q}`, mark));
      if ($("cachebox").open) all.push(draw($("caches"), `/page/caches?${q}`, mark));
      for (const box of $("panels").children) if (box.open) for (const e of box.querySelectorAll(".chart")) {
        const { lines, high } = e.how, url = `/page/panels/chart?part=${box.dataset.part}&chart=${e.dataset.chart}&${q}`;
        all.push(draw(e, url, lines ? { ...mark, tracks: true } : { high }));
      }
      if ($("gaugebox").open) all.push(draw($("gauges"), `/page/gauges?${q}`, mark));
      await Promise.all(all);
    } finally { this.busy = false; }
    if (this.soon) { this.soon = false; this.tick(); }
  }
}

// The panels that are drawn while they are open.
const boxes = ["distributionbox", "memorybox", "pciebox", "cachebox", "gaugebox"];

// heights are those that the server draws with.
function heights(id, o, tracks) {
  if (tracks || ["memory", "pcie", "caches", "gauges"].includes(id)) return 70 + 105 * Math.max(o.grid?.length || 0, 1);
  return 82 + (["dimms", "buffers"].includes(id) ? 24 : 42) * Math.max(o.yAxis?.[0]?.data?.length || 0, 1);
}

// draw fetches a chart and puts it into an element. How says what is particular to it:
// how high it is (0: as many bars as there are, each so high), what happens to its
// option, and to a click on a mark.
export async function draw(e, url, how = {}) {
  const high = how.high ?? (e.id === "timeline" ? (innerWidth < 760 ? 420 : innerHeight < 960 ? 370 : 500) : 0);
  await library;
  url += `&w=${Math.floor((e.clientWidth || e.parentElement.clientWidth) / 20) * 20}&h=${high}`;
  if (!window.echarts) return picture(e, url);
  const r = await fetch(`${url}&format=option`).catch(() => null);
  if (!r?.ok) return;
  if (e.hidden = r.status === 204) return; // there is nothing of the kind
  const o = JSON.parse(onGround(await r.text()));
  const below = how.probe?.dress(o) || 0;
  e.style.height = `${(high || (how.bar ? 82 + how.bar * Math.max(o.yAxis?.[0]?.data?.length || 0, 1) : heights(e.id, o, how.tracks))) - below}px`;
  let c = window.echarts.getInstanceByDom(e);
  if (!c) {
    e.replaceChildren();
    c = window.echarts.init(e, theme());
    e.classList.toggle("dark", dark.matches);
    new ResizeObserver(() => { if (!c.isDisposed() && !matchMedia("print").matches) c.resize(); }).observe(e); // on paper its picture is scaled
    if (how.mark) c.on("click", (p) => { if (p.componentType === "markLine") how.mark(parseInt(p.name)); });
  }
  o.backgroundColor = "transparent";
  o.animation = false; // it is drawn three times a second, and on paper half a movement would be no chart
  if (!how.probe) o.tooltip = { ...o.tooltip, confine: true, extraCssText: "max-width: 100%; white-space: normal" }; // on a phone a line may be longer than the chart is wide
  if (!how.probe && o.series?.some((s) => s.type === "line")) o.tooltip.formatter = (at) => tip(o, [at].flat());
  if (!how.probe) o.legend = { ...o.legend, itemWidth: 14, itemHeight: 9, itemGap: 9, bottom: 4 };
  if (o.grid?.length) for (const y of o.yAxis) if (y.type === "category") y.nameTextStyle = { align: "left" }; else if (y.name) Object.assign(y, { nameGap: 17, nameTextStyle: { align: "left", padding: [0, 0, 0, -54] } }); // not out of the picture
  if (!how.probe && o.grid?.length > 1) o.axisPointer = { link: [{ xAxisIndex: "all" }] };
  written(o, e.clientWidth < 520);
  for (const { axisLabel: l } of [o.xAxis || []].flat()) if (l?.texts) { const { texts, customValues: at } = l; l.formatter = (v) => texts[at.indexOf(v)] ?? v; } // the axis' own ticks, in full
  how.dress?.(o);
  // What the library tells at a point it tells again after a drawing, and fails if the line is gone.
  const lines = JSON.stringify((o.series || []).map((s) => s.name));
  if (e.lines && e.lines !== lines) c.dispatchAction({ type: "hideTip" });
  e.lines = lines;
  c.setOption(o, { replaceMerge: ["series", "xAxis", "yAxis", "grid"] });
  how.probe?.drawn(e, c, o);
}

// A finger never leaves a chart: what was told at a point goes with the next touch elsewhere.
document.addEventListener("pointerdown", (p) => {
  for (const e of document.querySelectorAll(".chart")) if (!e.contains(p.target)) window.echarts?.getInstanceByDom(e)?.dispatchAction({ type: "hideTip" });
});

// written makes words on bars and beside points readable: on a bar dark or
// white, whichever has the higher contrast; beside a point with a rim, for lines
// may run behind them, and beside a point of the thesis to the right, for what was
// measured there is above or below it. A narrow chart has no room for all words: what
// would lie over another is in the tooltip alone.
function written(o, narrow) {
  const rim = { textBorderColor: getComputedStyle(document.documentElement).getPropertyValue("--panel").trim(), textBorderWidth: 3 };
  const last = Math.max(...(o.series || []).flatMap((s) => (s.data || []).map((d) => d?.value?.[0] ?? -Infinity)));
  for (const s of o.series || []) {
    if (s.type === "bar") for (const d of s.data || []) if (d.label) d.label.color = inkOn(s.itemStyle.color);
    if (s.type === "line") for (const l of [s.label, s.markLine?.label]) if (l?.show) Object.assign(l, rim);
    if (narrow && s.label?.show) s.labelLayout = { hideOverlap: true };
    else if (s.name === "thesis") s.labelLayout = spread();
    if (s.name === "thesis") for (const d of s.data || []) d.label = { position: d.value[0] > 0.9 * last ? "left" : "right" };
  }
}

// spread moves a word down where another is already.
function spread() {
  let taken = [];
  return ({ dataIndex, labelRect: r }) => {
    if (!dataIndex) taken = [];
    let y = r.y;
    while (taken.some((t) => t.x < r.x + r.width && r.x < t.x + t.width && t.y < y + r.height && y < t.y + t.height)) y += r.height;
    taken.push({ x: r.x, y, width: r.width, height: r.height });
    return { dy: y - r.y };
  };
}

// inkOn compares contrasts as WCAG does: 0.05 is what a screen reflects.
function inkOn(colour) {
  const linear = (i) => { const v = parseInt(colour.slice(i, i + 2), 16) / 255; return v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92; };
  const light = 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5) + 0.05;
  return light * light > 0.0556 * 1.05 ? darkInk : lightInk;
}

// onGround takes lighter colours on a dark ground.
function onGround(text) {
  if (!dark.matches) return text;
  return text.replace(/#[0-9A-F]{6}/g, (c) => onDark[c] || c);
}

async function picture(e, url) {
  const r = await fetch(url).catch(() => null);
  if (!r?.ok) return;
  if (e.hidden = r.status === 204) return;
  const img = e.querySelector("img") || e.appendChild(document.createElement("img"));
  img.alt = e.getAttribute("aria-label");
  const old = img.src;
  img.src = URL.createObjectURL(await r.blob());
  if (old) URL.revokeObjectURL(old);
}

// theme takes the colours of the page.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const [ink, soft, line, panel] = ["--ink", "--soft", "--line", "--panel"].map((n) => style.getPropertyValue(n).trim());
  const axis = { axisLine: { lineStyle: { color: line } }, axisTick: { lineStyle: { color: line } }, axisLabel: { color: soft }, nameTextStyle: { color: soft }, splitLine: { lineStyle: { color: line } } };
  return {
    textStyle: { fontFamily: "system-ui, sans-serif", color: ink }, title: { textStyle: { color: ink }, subtextStyle: { color: soft } }, visualMap: { textStyle: { color: soft } }, legend: { textStyle: { color: soft, fontSize: 11 }, pageTextStyle: { color: soft } }, markLine: { label: { color: ink } },
    tooltip: { backgroundColor: panel, borderColor: line, textStyle: { color: ink, fontSize: 12 }, axisPointer: { lineStyle: { color: soft } } },
    valueAxis: axis, categoryAxis: axis, logAxis: axis,
  };
}
