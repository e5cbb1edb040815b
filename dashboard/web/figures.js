import { $, call, copier, dialog, el, keyed, say } from "./kit.js";
import { draw } from "./charts.js";
import { Gallery } from "./gallery.js";
import { inPlace } from "./places.js";

// The figures of the thesis: a list, and one of them. What is computed lives in the
// agent; the page shows what there is, the points of a running one as they come, and
// finds it again after a reload.
const wide = 28; // pixels around a point that belong to it

export class Figures {
  constructor(knobs, on) {
    Object.assign(this, { knobs, on, id: "", list: [], now: null, told: "", hidden: new Set(), chosen: null, dirty: false, busy: false, gallery: new Gallery() });
    $("compute").onclick = () => this.compute({});
    $("cancelfigure").onclick = () => call("DELETE", `/api/figures/${this.id}`, {});
    $("scale").onchange = () => this.head();
    $("variantform").onsubmit = (e) => { e.preventDefault(); this.variant(); };
    $("variant").oninput = () => this.complete();
    addEventListener("hashchange", () => this.route());
    document.querySelector(".skip").onclick = (e) => { // its address would be that of the live page
      if (!this.open) return;
      e.preventDefault();
      ($("figure").hidden ? $("gallery").querySelector("a") : $("figure"))?.focus();
    };
    setInterval(() => this.tick(), 250);
  }
  get open() { return !$("figures").hidden; }
  // route shows what the address says: #figures, #figures/2-4a, or the live page.
  route() {
    const at = location.hash.match(/^#figures(?:\/([^/]+))?$/), was = this.open;
    $("figures").hidden = !at;
    $("livepage").hidden = $("jump").hidden = !!at;
    for (const a of document.querySelectorAll("#views a")) if ((a.hash === "#figures") === !!at) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    document.title = at ? `drtmx: ${at[1] ? `figure ${at[1]}` : "figures"}` : "drtmx";
    if (!at) {
      if (was) { this.on.leave(); $(location.hash.slice(1) || "top")?.scrollIntoView(); }
      return;
    }
    const id = at[1] ? decodeURIComponent(at[1]) : "";
    if (id !== this.id) {
      Object.assign(this, { id, now: null, chosen: null, partsOf: "" });
      $("parts").replaceChildren();
      this.hidden.clear();
      $("variant").value = "";
      this.wrong("");
      $("figurechart").hidden = true;
      this.clearChart();
    }
    if (!was || id) scrollTo(0, 0);
    $("figures").classList.toggle("one", !!id);
    this.refresh();
  }
  // tasks hears from the feed what is being computed.
  tasks(all) {
    const mine = JSON.stringify(all.filter((t) => t.name.startsWith("figure ")));
    if (mine === this.told) return;
    this.told = mine;
    this.refresh();
  }
  refresh() { this.dirty = true; }
  async tick() {
    if (!this.dirty || this.busy || !this.open || document.hidden) return;
    this.busy = true;
    this.dirty = false;
    try { await Promise.all([this.loadList(), this.load()]); } finally { this.busy = false; }
  }
  async loadList() {
    const l = await call("GET", "/page/figures", undefined, true);
    if (!l) return;
    this.list = l;
    $("nofigures").hidden = l.length > 0;
    $("gallery").hidden = $("chapters").hidden = !!this.id;
    $("figurehint").hidden = !!this.id || !l.length;
    if (!this.id) this.gallery.show(l);
    const chapters = [...new Set(l.map((f) => f.chapter))].map((n) => ({ n, figures: l.filter((f) => f.chapter === n).map((f) => ({ ...f, here: f.id === this.id })) }));
    keyed($("figurelist"), chapters, (c) => String(c.n), (c) => el("section", {}, el("h2", {}, `Chapter ${c.n}`), el("ul", {}, ...c.figures.map((f) =>
      el("li", {}, el("a", { href: `#figures/${encodeURIComponent(f.id)}`, "aria-current": f.here && "page" }, el("span", {}, !f.instant && el("b", {}, f.id), el("small", {}, `§${f.section}`)), el("span", {}, f.title), el("small", { class: `status ${f.status}` }, status(f))))))));
    if (this.scrolled !== this.id) $("figurelist").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    this.scrolled = this.id;
  }
  async load() {
    const id = this.id;
    $("figure").hidden = !id;
    if (!id) return;
    let why = "";
    const f = await call("GET", `/page/figure?id=${encodeURIComponent(id)}&hide=${[...this.hidden]}`, undefined, (text) => { why = text; });
    if (id !== this.id) return;
    if (!f) {
      $("figuretitle").textContent = why || "The agent does not answer.";
      return;
    }
    const first = !this.now;
    this.now = f;
    if (first && f.drawn[0]) $("scale").value = f.drawn[0].scale;
    this.head();
    await this.chart();
    if (this.now !== f) return; // another one was chosen meanwhile
    this.points();
    this.parts();
    this.variants();
    if (f.instant && !f.base && !f.running && !f.failed && first) this.compute({});
    if (this.was && !f.running && f.base && !f.failed) say(`Figure ${f.id} is computed.`);
    this.was = f.running;
  }
  head() {
    const f = this.now, r = f?.running, at = document.activeElement;
    if (!f) return;
    $("figuretitle").replaceChildren(/^\D/.test(f.id) ? `${f.title} ` : `Figure ${f.id}: ${f.title} `, el("small", {}, `§${f.section}`));
    $("compute").hidden = $("scale").hidden = !!r || !!f.instant;
    $("compute").textContent = f.base && f.drawn[0]?.scale === $("scale").value ? "Compute again" : "Compute";
    $("running").hidden = !r;
    if (r && at === $("compute")) $("running").focus(); // not Cancel: a second Enter is soon pressed
    if (!r && $("running").contains(at)) $("compute").focus();
    if (r) {
      $("runningtext").textContent = r.total ? `${r.name ? `with ${r.name}, ` : ""}${r.done} of ${r.total} runs, ${r.scale} scale` : r.waits ? "waits for the figure before it" : "begins";
      Object.assign($("runningbar"), { max: r.total || 1, value: r.done });
    }
    $("scalehint").textContent = r || f.instant ? "" : $("scale").value === "quick" ? "machines, payloads and mixes as in the thesis, smaller populations, short runs" :
      f.paper_ms ? `about ${lasting(f.paper_ms)} and every core, judging by the point that quick scale computes at paper scale` : "takes every core for minutes or hours; compute it at quick scale first, and this says how long";
    $("figurefailed").hidden = !f.failed;
    $("figurefailed").textContent = f.failed ? `The latest computation failed: ${f.failed}` : "";
    const d = f.drawn[0];
    $("figurecaption").textContent = !d ? r ? "" : "Not computed yet." : `${caption(d)}${d.made ? `; ${d.made.text}${d.made.differs ? ". Compute again to have it with that." : ""}` : ""}`;
  }
  async compute(set) {
    const scale = Object.keys(set).length && this.now?.drawn[0]?.scale || $("scale").value;
    const ok = await call("POST", `/api/figures/${this.id}`, { scale, set }, Object.keys(set).length ? (text) => this.wrong(text) : undefined);
    this.refresh();
    return ok;
  }
  clearChart() {
    const c = window.echarts?.getInstanceByDom($("figurechart"));
    c?.dispose();
    $("figurechart").replaceChildren();
  }
  async chart() {
    const e = $("figurechart"), d = this.now.drawn;
    if (!d.length || d[0].form === "table") { e.hidden = true; this.clearChart(); return; }
    if (e.hidden) e.hidden = false; // else it has no width
    await draw(e, `/page/figure/chart?id=${encodeURIComponent(this.id)}&hide=${[...this.hidden]}`, { high: barred(d[0]) ? 0 : innerWidth < 760 ? 360 : 460, bar: d[0].form === "dots" ? 22 : 26, dress: (o) => {
      for (const s of o.series) if (s.type === "line" && s.name !== "thesis") s.symbolSize = 8;
      if (d.length > 1 && !barred(d[0])) o.legend = { ...o.legend, data: [...d[0].series.map((s) => s.name), "thesis"] }; // the variants are told below
      o.tooltip = { ...o.tooltip, trigger: barred(d[0]) || d[0].form === "curves" ? "item" : "axis" };
    } });
    const c = window.echarts?.getInstanceByDom(e);
    if (!c || this.now?.drawn !== d) return;
    if (!c.clickable) {
      c.clickable = true;
      c.getZr().on("click", (at) => { const p = this.nearest(c, at.offsetX, at.offsetY); if (p) this.choose(p); });
      c.on("click", (at) => { const p = at.componentType === "series" && barred(this.now?.drawn[0]) && this.bar(at.seriesName, at.value); if (p) this.choose(p); });
      c.getZr().on("mousemove", (at) => c.getZr().setCursorStyle(barred(this.now?.drawn[0]) ? at.target ? "pointer" : "default" : this.nearest(c, at.offsetX, at.offsetY) ? "pointer" : "default"));
      c.on("updated", () => this.ring(c)); // laid out again, for whatever reason; "rendered" and "finished" come while setOption still runs, which ignores another one
    }
    this.ring(c);
  }
  // lines are the series in the order in which the chart has them.
  lines() { return this.now.drawn.flatMap((d) => d.series.map((s) => ({ d, s }))); }
  // nearest is the point under a finger.
  nearest(c, x, y) {
    let best, far = wide;
    if (!this.now || barred(this.now.drawn[0])) return;
    const hidden = c.getOption().legend?.[0]?.selected || {}, data = c.getOption().series;
    this.lines().forEach(({ d, s }, i) => s.points.forEach((p, k) => {
      const at = data[i]?.data[k] && hidden[data[i].name] !== false && c.convertToPixel({ seriesIndex: i }, data[i].data[k].value);
      const away = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (away < far) { far = away; best = { d, s, p, i, k }; }
    }));
    return best;
  }
  // bar is the point of a bar: a part has the name of a line or of a point.
  bar(part, value) {
    for (const { d, s } of this.lines()) for (const p of s.points) if (p.y === value && (s.name === part || p.name === part)) return { d, s, p };
  }
  // ring is drawn around the chosen point.
  ring(c) {
    const h = this.chosen, i = h && !barred(h.d) ? this.lines().findIndex(({ d, s }) => d.n === h.d.n && s.name === h.s.name) : -1;
    const k = i < 0 ? -1 : this.lines()[i].s.points.findIndex((p) => p.run === h.p.run);
    const v = k < 0 ? null : c.getOption().series[i]?.data[k]?.value, at = v && c.convertToPixel({ seriesIndex: i }, v);
    const key = at ? at.map(Math.round).join() : "";
    if (key === c.ringed) return;
    c.ringed = key;
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--focus").trim();
    c.setOption({ graphic: [{ id: "ring", type: "circle", silent: true, z: 9, invisible: !at, shape: { cx: at?.[0] || 0, cy: at?.[1] || 0, r: 9 }, style: { fill: "none", stroke: ink, lineWidth: 2.5 } }] });
  }
  // points are the way to a point without a pointer.
  points() {
    const d = this.now.drawn;
    $("pointsbox").hidden = !d.length;
    const rows = d.length ? [{ head: axis(d[0].x), what: axis(d[0].y), d }] : [];
    keyed($("points"), rows, () => "all", ({ d }) => d[0].form === "ranking" ? this.rankTable(d) : d[0].form === "dots" ? this.rowTable(d[0]) : barred(d[0]) || d[0].form === "table" ? this.nameTable(d) : this.xTable(d));
    if (d[0]?.form === "table") $("pointsbox").open = true;
  }
  xTable(d) {
    const curves = d[0].form === "curves", of = (p) => curves ? p.load : p.x; // a curve has a point for each load
    const lines = this.lines(), xs = [...new Set(lines.flatMap(({ s }) => s.points.map(of)))].sort((a, b) => a - b);
    const name = ({ d, s }) => d.name ? `${s.name}, ${d.name}` : s.name;
    return el("table", { class: "rows" }, el("caption", { class: "hint" }, curves ? `${axis(d[0].x)} and ${axis(d[0].y)}, by coroutines a thread` : `${axis(d[0].y)} over ${axis(d[0].x)}`), el("thead", {}, el("tr", {}, el("td"), ...lines.map((l) => el("th", { scope: "col" }, name(l))))),
      el("tbody", {}, ...xs.map((x) => el("tr", {}, el("th", { scope: "row" }, number(x)), ...lines.map(({ d, s }) => el("td", {}, ...s.points.filter((p) => of(p) === x).map((p) => this.pointButton({ d, s, p }, curves ? `${number(p.x)}, ${number(p.y)}` : undefined))))))));
  }
  rankTable(d) {
    return el("table", { class: "rows" }, el("caption", { class: "hint" }, axis(d[0].y)), el("tbody", {}, ...d.flatMap((f) => f.series[0].points.map((p) =>
      el("tr", {}, el("th", { scope: "row" }, `${p.x}. ${p.name}${f.name ? `, ${f.name}` : ""}`), el("td", {}, this.pointButton({ d: f, s: f.series[0], p })))))));
  }
  // rowTable is of points that are rows: a column for each line.
  rowTable(d) {
    const names = [...new Set(d.series.flatMap((s) => s.points.map((p) => p.name)))];
    return el("table", { class: "rows" }, el("caption", { class: "hint" }, "as predicted"), el("thead", {}, el("tr", {}, el("td"), ...d.series.map((s) => el("th", { scope: "col" }, s.name)))),
      el("tbody", {}, ...names.map((n) => el("tr", {}, el("th", { scope: "row" }, n), ...d.series.map((s) => el("td", {}, s.points.find((p) => p.name === n)?.text || ""))))));
  }
  // nameTable is of points that are names: a row for each line.
  nameTable(d) {
    const names = [...new Set(d[0].series.flatMap((s) => s.points.map((p) => p.name)))];
    return el("table", { class: "rows" }, el("caption", { class: "hint" }, axis(d[0].y)), el("thead", {}, el("tr", {}, el("td"), ...names.map((n) => el("th", { scope: "col" }, n)))),
      el("tbody", {}, ...this.lines().map(({ d, s }) => el("tr", {}, el("th", { scope: "row" }, d.name ? `${s.name}, ${d.name}` : s.name), ...names.map((n) => el("td", {}, ...s.points.filter((p) => p.name === n).map((p) => this.pointButton({ d, s, p }))))))));
  }
  // pointButton is plain text where there is no run behind a point.
  pointButton(h, text = h.p.text || number(h.p.y)) {
    if (h.p.text || h.p.run >= h.d.results) return el("span", {}, text);
    return el("button", { class: "link", title: `about ${h.s.name} at ${h.p.name || number(h.p.x)}`, onclick: () => this.choose(h, true) }, text);
  }

  async choose(h, keyboard) {
    this.chosen = h;
    this.from = keyboard && document.activeElement;
    const { d, s, p } = h, f = this.now;
    const what = `Figure ${f.id}, ${s.name}${p.name ? ` ${p.name}` : ` at ${place(d, p)}`}${d.name ? ` with ${d.name}` : ""}: ${number(p.y)} ${d.y.unit} at ${d.scale} scale`;
    const c = window.echarts?.getInstanceByDom($("figurechart"));
    if (c) this.ring(c);
    const info = await call("GET", `/page/figure/point?id=${encodeURIComponent(f.id)}&n=${d.n}&run=${p.run}&what=${encodeURIComponent(what)}`);
    if (!info || this.chosen !== h) return;
    const near = (d.references || []).filter((r) => r.series === s.name && r.x === p.x && r.to !== null);
    const card = el("article", { class: "card point", tabindex: -1, id: "pointcard", "aria-label": what },
      el("div", { class: "head" }, el("h3", {}, p.name ? `${s.name}, ${p.name}` : s.name), el("span", { class: "hint" }, d.name && `with ${d.name}`), el("button", { class: "link", title: "close", "aria-label": "close", onclick: () => this.unchoose() }, "✕")),
      el("p", { class: "big" }, `${number(p.y)}${p.ci95 ? ` ± ${number(p.ci95)}` : ""} ${d.y.unit}`, el("span", { class: "hint" }, ` ${d.form === "ranking" ? `rank ${p.x}` : p.name ? "" : `at ${place(d, p)}`}${p.load ? `, ${p.load} coroutine${p.load > 1 ? "s" : ""} a thread` : ""}`)),
      ...near.map((r) => el("p", { class: "hint" }, `◇ thesis ${span(r)}: ${r.text} §${r.section}`)),
      info.live && el("p", { class: "hint" }, `on the live page: ${info.live}`),
      info.limit && el("p", { class: "hint" }, info.limit),
      info.knobs.length > 0 && el("p", { class: "knoblist" }, ...info.knobs.map((k) => el("code", {}, `${k.name}=${k.a}`))),
      el("div", { class: "acts" }, el("button", { onclick: () => this.live(h) }, "Open live"), el("button", { onclick: () => dialog("Notebook cell", el("h3", {}, "This run again", copier(info.cell)), el("pre", { tabindex: 0 }, info.cell)) }, "Copy as notebook cell")),
      el("div", { id: "replace" }));
    $("pointplace").replaceChildren(card);
    if (keyboard) { card.focus(); card.scrollIntoView({ block: "nearest" }); }
    say(what);
  }
  unchoose() {
    this.chosen = null;
    if ($("pointplace").contains(document.activeElement)) (this.from?.isConnected ? this.from : $("figure")).focus({ preventScroll: true });
    $("pointplace").replaceChildren();
    const c = window.echarts?.getInstanceByDom($("figurechart"));
    if (c) this.ring(c);
  }
  // live opens a point's system beside the others.
  live(h) {
    return inPlace($("replace"), async (replace) => {
      const s = await call("POST", `/api/figures/${this.id}/live`, { n: h.d.n, run: h.p.run, replace });
      if (!s) return;
      location.hash = "#live";
      this.on.opened(s.sys);
      say(`System ${s.sys} is the one behind the point.`);
    });
  }

  // parts are what is known of the figure beside its picture, in the words of the server: a gallery in a folder has the same.
  async parts() {
    const f = this.now, of = JSON.stringify([f.id, !!f.running, f.base, f.drawn.map((d) => [d.n, d.scale])]);
    if (of === this.partsOf) return;
    this.partsOf = of;
    const list = await call("GET", `/page/figure/parts?id=${encodeURIComponent(f.id)}`, undefined, true);
    if (this.partsOf !== of) return; // others were asked for meanwhile
    if (!list) { this.partsOf = ""; return; }
    keyed($("parts"), list, (p) => p.name, (p) => {
      const s = el("section", { "aria-label": p.title }, el("h2", {}, p.title));
      s.insertAdjacentHTML("beforeend", p.html);
      for (const pre of s.querySelectorAll("h3 + pre")) pre.previousElementSibling.append(" ", copier(pre.textContent));
      return s;
    });
  }
  variants() {
    const f = this.now;
    $("variantbox").hidden = !f.base || f.drawn[0]?.form === "table" || !!f.drawn[0]?.computed;
    $("variantgo").disabled = !!f.running;
    const items = [...f.drawn.slice(1).map((d, i) => ({ n: d.n, name: d.name, sign: barred(d) ? "" : ["○", "△", "□"][i % 3], shown: true })), ...[...this.hidden].map((n, i) => ({ n, name: f.hidden[i] })).filter((v) => v.name)];
    keyed($("variants"), items, (v) => String(v.n), (v) => el("li", {}, el("label", {}, el("input", { type: "checkbox", checked: v.shown, onchange: () => { if (!this.hidden.delete(v.n)) this.hidden.add(v.n); this.refresh(); } }), el("span", { class: "sign", "aria-hidden": "true" }, v.sign), el("code", {}, v.name))));
  }
  async variant() {
    const set = {};
    for (const word of $("variant").value.trim().split(/[\s,]+/).filter(Boolean)) {
      const at = word.indexOf("=");
      if (at < 1) { this.wrong(`${word}: must be KNOB=VALUE, such as ddio=false`); return; }
      set[word.slice(0, at)] = word.slice(at + 1);
    }
    if (!Object.keys(set).length) { this.wrong("Name a knob and its value, such as ddio=false."); return; }
    this.wrong("");
    if (await this.compute(set)) $("variant").value = "";
  }
  wrong(text) {
    $("variantwrong").textContent = text;
    $("variantwrong").hidden = !text;
  }
  // complete offers the names of knobs, and after = the values of one.
  complete() {
    const [, before, word] = $("variant").value.match(/^(.*?)(\S*)$/), [name, value] = word.split("=");
    const k = this.knobs.by.get(name), offers = value === undefined ? this.knobs.list.map((x) => [`${x.name}=`, x.label]) : (k?.choices?.length ? k.choices : k?.kind === "bool" ? ["true", "false"] : []).map((v) => [`${name}=${v}`, k.label]);
    $("variantknobs").replaceChildren(...offers.map(([v, label]) => el("option", { value: before + v, label })));
    $("variantabout").textContent = k ? `${k.label}: ${k.doc}` : "";
  }
}

const barred = (d) => ["bars", "stacked", "ranking", "dots"].includes(d?.form);
const axis = (a) => a.unit ? `${a.label} (${a.unit})` : a.label;
const number = (v) => String(Number.isInteger(v) ? v : Math.abs(v) >= 1e4 ? Math.round(v) : Number(v.toPrecision(4)));
const place = (d, p) => `${number(p.x)} ${d.x.unit || ""}`.trim();
const span = (r) => `${{ "at most": "≤", "at least": "≥" }[r.bound] || ""}${r.from === r.to ? number(r.to) : `${number(r.from)} to ${number(r.to)}`}`;
const lasting = (ms) => ms < 9500 ? `${(ms / 1000).toFixed(1)} s` : ms < 99000 ? `${Math.round(ms / 1000)} s` : ms < 7200e3 ? `${Math.round(ms / 60e3)} minutes` : `${Math.round(ms / 3600e3)} hours`;
const status = (f) => ({ computed: `✓ ${[f.scale === "paper" && "paper", f.made ? f.made.differs && "other code" : f.wall_ms >= 100 && lasting(f.wall_ms)].filter(Boolean).join(", ")}`, running: f.total ? `${f.done} of ${f.total}` : f.waits ? "waits" : "begins", failed: "✗ failed" })[f.status] || "–";
const caption = (d) => d.form === "dots" ? `as they are recorded, as ratios by what is published; ${d.note}` : d.computed ? `${d.scale} scale, computed without a run from ${d.computed.of}` : `${d.scale} scale, values ${d.scope === "cluster" ? "of the whole cluster" : `per ${d.scope}`}${d.form === "curves" ? ", coroutines per thread at the points" : ""}${d.note ? `; ${d.note}` : ""}${gap(d)}${d.structure ? `; structure: ${d.structure}` : ""}`;
const gap = (d) => d.paper_gap_at ? `; ${d.paper_gap_at.series}${barred(d) ? "" : ` at ${number(d.paper_gap_at.x)} ${d.x.unit}`} is ${Math.abs(100 * d.paper_gap).toFixed(1)} % ${d.paper_gap < 0 ? "below" : "above"} paper scale's` : "";
