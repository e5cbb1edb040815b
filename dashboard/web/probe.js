import { el, keyed, say } from "./kit.js";
import { tip } from "./tip.js";

// What a pointer and the keys do on charts over virtual time: one crosshair through all panels of all of them, with the values
// there; a span that is dragged out, to look at it closely; and lines that are hidden by their names. All of it is drawn
// over the charts, so that it follows them while they move, and goes when the pointer does.
const least = 8; // pixels: a shorter drag is a click
const room = 18; // pixels that the server leaves below a chart for names

export class Probe {
  constructor(on) {
    Object.assign(this, { on, charts: new Map(), hidden: new Set(), over: null, from: null });
    document.addEventListener("pointerdown", (e) => { if (this.over && !this.over.e.contains(e.target)) this.leave(); });
    addEventListener("scroll", () => { if (!this.from && !this.over?.byKey) this.leave(); }, { passive: true });
    addEventListener("blur", () => this.leave());
  }
  get dragging() { return !!this.from; }

  // dress prepares an option: names, crosshair and values are the page's own.
  dress(o) {
    const names = namesOf(o);
    delete o.tooltip;
    o.legend = { show: false, selected: Object.fromEntries(names.map((n) => [n, !this.hidden.has(n)])) };
    return names.length > 1 ? room : 0;
  }

  // drawn is told of each drawing of a chart.
  drawn(e, c, o) {
    let a = this.charts.get(e);
    if (!a) this.charts.set(e, a = this.add(e));
    Object.assign(a, { c, o, names: namesOf(o) });
    this.legend(a);
    if (this.over) this.show();
  }

  add(e) {
    const a = { e, cross: el("div", { class: "cross", hidden: true }), span: el("div", { class: "span", hidden: true }), values: el("div", { class: "values", hidden: true }), legend: el("div", { class: "names", role: "group", "aria-label": "lines that are shown", hidden: true }) };
    e.append(a.span, a.cross, a.values);
    e.after(a.legend);
    e.tabIndex = 0;
    e.setAttribute("role", "application");
    e.setAttribute("aria-roledescription", "chart");
    e.title = "";
    e.setAttribute("aria-description", "left and right move along the time; Enter marks one end of a span and then the other, which shows the span alone; plus shows a half, minus or Escape goes back");
    e.addEventListener("pointermove", (p) => this.move(a, p));
    e.addEventListener("pointerleave", (p) => { this.still = ""; if (p.pointerType === "mouse" && !this.from) this.leave(); });
    e.addEventListener("pointerdown", (p) => this.press(a, p));
    e.addEventListener("pointerup", (p) => this.release(a, p));
    e.addEventListener("pointercancel", () => this.leave());
    e.addEventListener("dblclick", () => this.on.back());
    e.addEventListener("keydown", (k) => this.key(a, k));
    e.addEventListener("focusout", () => { if (this.over?.byKey) this.leave(); });
    return a;
  }

  // frame is where the panels of a chart are, in its pixels; null where it has none.
  frame(a) {
    const g = a.o.grid?.length ? a.o.grid : null;
    if (!g || a.c.isDisposed() || !a.e.offsetParent) return null;
    const last = g.at(-1);
    return { left: Number(g[0].left), right: a.c.getWidth() - Number(g[0].right), top: Number(g[0].top), bottom: Number(last.top) + Number(last.height) };
  }
  place(p, a) { const r = a.e.getBoundingClientRect(); return [p.clientX - r.left, p.clientY - r.top]; }
  time(a, x) { return a.c.convertFromPixel({ xAxisIndex: 0 }, x); }
  pixel(a, time) { return a.c.convertToPixel({ xAxisIndex: 0 }, time); }

  move(a, p) {
    if (this.still === `${p.clientX} ${p.clientY}`) return; // the browser tells of what moves below a pointer that rests
    this.still = `${p.clientX} ${p.clientY}`;
    const [x, y] = this.place(p, a), f = this.frame(a);
    if (!f || !this.from && (x < f.left - 4 || x > f.right + 4 || y < 0 || y > f.bottom + 4)) { this.leave(); return; }
    if (this.from && this.from.a !== a) return;
    if (this.from && Math.abs(x - this.from.x) >= least && !this.from.caught) { this.from.caught = true; a.e.setPointerCapture(p.pointerId); }
    this.over = { a, e: a.e, x: Math.max(f.left, Math.min(x, f.right)), y };
    this.show();
  }
  press(a, p) {
    const [x, y] = this.place(p, a), f = this.frame(a);
    if (!f || p.button || x < f.left || x > f.right || y < f.top - 30 || y > f.bottom) return;
    this.from = { a, x };
    this.over = { a, e: a.e, x, y };
    this.show();
  }
  release(a) {
    const from = this.from;
    this.from = null;
    if (!from || !this.over) return;
    if (from.caught && Math.abs(this.over.x - from.x) >= least) this.zoom(a, this.time(a, from.x), this.time(a, this.over.x));
    else this.show();
    this.on.released();
  }
  // zoom shows a span, ends in any order.
  zoom(a, x, y) {
    this.leave();
    this.on.zoom(Math.min(x, y), Math.max(x, y));
  }
  // cancel gives up a span that is being marked; it says whether there was one.
  cancel() {
    if (!this.from) return false;
    this.leave();
    this.on.released();
    return true;
  }
  leave() {
    this.over = this.from = null;
    for (const a of this.charts.values()) a.cross.hidden = a.span.hidden = a.values.hidden = true;
  }

  // show draws the crosshair through all charts, at the time that is under the pointer now.
  show() {
    const { a, byKey } = this.over, f = this.frame(a);
    if (!f) { this.leave(); return; }
    const time = byKey ? this.over.time : this.time(a, this.over.x);
    for (const b of this.charts.values()) {
      const g = this.frame(b), x = g && this.pixel(b, time);
      b.cross.hidden = !g || !(x >= g.left - 1 && x <= g.right + 1);
      if (!b.cross.hidden) Object.assign(b.cross.style, { left: `${x}px`, top: `${g.top}px`, height: `${g.bottom - g.top}px` });
      b.span.hidden = b !== this.from?.a || b.cross.hidden;
      if (!b.span.hidden) Object.assign(b.span.style, { left: `${Math.min(x, this.from.x)}px`, width: `${Math.abs(x - this.from.x)}px`, top: `${g.top}px`, height: `${g.bottom - g.top}px` });
      if (b !== a) b.values.hidden = true;
    }
    if (a.cross.hidden) { this.leave(); return; } // the time has run out of the picture
    const rows = this.at(a, time);
    a.values.hidden = !rows.length;
    if (!rows.length) return;
    a.values.replaceChildren(tip(a.o, rows));
    const x = this.pixel(a, time), w = a.values.offsetWidth, h = a.values.offsetHeight, y = byKey ? f.top : this.over.y;
    a.values.style.left = `${x + 14 + w < a.c.getWidth() ? x + 14 : Math.max(2, x - 14 - w)}px`;
    a.values.style.top = `${Math.max(2, Math.min(y + 14, a.c.getHeight() - h - 2))}px`;
  }
  // at are the points of the lines that are shown nearest to a time, as tip takes them.
  at(a, time) {
    const out = [];
    a.o.series.forEach((s, seriesIndex) => {
      if (s.type !== "line" || this.hidden.has(s.name) || !s.data?.length) return;
      const i = nearest(s.data, time), d = s.data[i], step = Math.abs((s.data[i + 1] || s.data[i - 1] || d).value[0] - d.value[0]);
      if (typeof d.value[1] === "number" && Math.abs(d.value[0] - time) <= Math.max(step, 1e-9)) out.push({ seriesIndex, seriesName: s.name, value: d.value, color: s.lineStyle?.color, name: d.name });
    });
    return out;
  }

  key(a, k) {
    const f = this.frame(a), data = f && longest(a.o);
    if (!data?.length || k.ctrlKey || k.metaKey || k.altKey) return;
    const now = this.over?.a === a ? this.over.time ?? this.time(a, this.over.x) : data.at(-1).value[0], i = nearest(data, now);
    const go = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -data.length, End: data.length }[k.key], marked = this.from;
    if (go !== undefined) {
      const d = data[Math.max(0, Math.min(i + (this.over ? go : 0), data.length - 1))].value[0];
      this.over = { a, e: a.e, time: d, byKey: true };
      this.show();
      say(a.values.textContent);
    } else if (k.key === "Enter" && this.over?.byKey) {
      if (!marked) { this.from = { a, x: this.pixel(a, now), caught: true }; say("one end of the span"); this.show(); }
      else { const at = this.time(a, marked.x); this.from = null; if (Math.abs(this.pixel(a, now) - marked.x) >= least) this.zoom(a, at, now); this.on.released(); }
    } else if (k.key === "+" || k.key === "=") {
      const [lo, hi] = this.on.span() || [this.time(a, f.left), this.time(a, f.right)], at = this.over ? now : (lo + hi) / 2, quarter = (hi - lo) / 4;
      this.zoom(a, Math.max(lo, at - quarter), Math.min(hi, at + quarter));
    } else if (k.key === "-") this.on.back();
    else return;
    k.preventDefault();
  }

  // legend has a button for each line, which hides it and shows it again.
  legend(a) {
    const items = a.names.length < 2 ? [] : a.names.map((name) => {
      const s = a.o.series.find((s) => s.name === name), system = name.match(/^(?:system |ghost )?([a-d])(?::|$)/)?.[1];
      return { name, shown: !this.hidden.has(name), as: system ? `sys ${system}${name.startsWith("ghost") ? " fork" : ""}` : "", colour: s.lineStyle?.color, dash: s.lineStyle?.type };
    });
    a.legend.hidden = !items.length || a.e.hidden;
    keyed(a.legend, items, (x) => x.name, (x) => {
      const line = el("i", { class: x.dash && x.dash !== "solid" ? "dashed" : undefined });
      if (!x.as) line.style.color = x.colour;
      return el("button", { class: x.as || undefined, "aria-pressed": String(x.shown), title: `${x.shown ? "hide" : "show"} ${x.name}`, onclick: () => this.toggle(x.name) }, !x.as && line, x.name);
    });
  }
  toggle(name) {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    for (const a of this.charts.values()) {
      if (a.c.isDisposed()) continue;
      a.c.setOption({ legend: { selected: { [name]: !this.hidden.has(name) } } });
      this.legend(a);
    }
    if (this.over) this.show();
  }
}

// namesOf are the lines of a chart that have something to show, once each.
function namesOf(o) {
  return [...new Set((o.series || []).filter((s) => s.type === "line" && s.data?.length).map((s) => s.name))];
}

const longest = (o) => o.series.filter((s) => s.type === "line").reduce((a, s) => (s.data?.length || 0) > a.length ? s.data : a, []);

// nearest is the index of the point of a line that is nearest to a place on X.
function nearest(data, x) {
  let lo = 0, hi = data.length - 1;
  while (hi - lo > 1) { const mid = (lo + hi) >> 1; if (data[mid].value[0] < x) lo = mid; else hi = mid; }
  return Math.abs(data[lo].value[0] - x) <= Math.abs(data[hi].value[0] - x) ? lo : hi;
}
