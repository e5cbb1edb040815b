import { $, call, el, focusIn, ms } from "./kit.js";
import { draw } from "./charts.js";
import { table } from "./cards.js";

// What was pinned: stretches of virtual time under one setting of the knobs. Two
// of them, A and B, are put side by side. Pins survive a reload, not a reset.
const most = 6, store = "drtmx.pins";

export class Pins {
  constructor() {
    this.root = $("pins");
    try { this.list = JSON.parse(localStorage.getItem(store)) || []; } catch { this.list = []; }
  }
  async now(sys) {
    const p = await call("GET", `/page/state?sys=${sys}`);
    if (p) this.add(p);
  }
  add(p) {
    this.list = this.list.filter((x) => keyOf(x) !== keyOf(p)).slice(-(most - 1));
    this.list.push(p);
    this.side = this.list.length > 1 ? [this.list.at(-2), this.list.at(-1)] : [];
    this.save();
  }
  save() {
    try { localStorage.setItem(store, JSON.stringify(this.list)); } catch { /* a private window keeps nothing */ }
    this.draw();
  }
  // forget drops the pins of systems that began again or are closed.
  forget(systems) {
    const kept = this.list.filter((p) => systems.some((s) => s.sys === p.sys && s.epoch === p.epoch));
    if (kept.length !== this.list.length) { this.list = kept; this.save(); } else if (!this.root.children.length) this.draw();
  }
  async draw() {
    if (!this.side?.every((x) => this.list.includes(x))) this.side = [];
    if (this.side?.length !== 2) this.side = this.list.slice(-2);
    const chips = this.list.map((p) => {
      const at = this.side.indexOf(p), name = at >= 0 && this.side.length > 1 ? "AB"[at] : "";
      return el("li", { class: "pin" }, el("button", { "aria-pressed": String(at >= 0), title: "compare this one", onclick: () => this.choose(p) }, name && el("b", {}, name + " "), p.title),
        el("small", {}, ` ${ms(p.from_ns)} to ${ms(p.to_ns)} `), el("button", { class: "link", title: `let go of ${p.title}`, onclick: () => { this.list = this.list.filter((x) => x !== p); this.save(); } }, "✕"));
    });
    const body = [];
    if (chips.length) body.push(el("ul", { class: "pinned", "aria-label": "pinned", "data-key": "pinned" }, ...chips));
    if (chips.length === 1) body.push(el("p", { class: "hint" }, "Pin a second state or card to see the two side by side."));
    const beside = this.list.length > 1 && await this.compare();
    const refocus = focusIn(this.root);
    this.root.replaceChildren(...body, ...(beside ? [beside] : []));
    if (!refocus()) $("pinstate").focus();
    const chart = this.root.querySelector(".chart");
    if (chart) draw(chart, `/page/compare/chart?${this.query()}`);
  }
  choose(p) {
    if (this.side.includes(p)) this.side = [...this.side].reverse();
    else this.side = [this.side[1], p];
    this.draw();
  }
  query() { return this.side.map((p, i) => `${"ab"[i]}=${[p.sys, p.epoch, p.from_ns, p.to_ns, p.version].join()}`).join("&"); }
  async compare() {
    const c = await call("GET", `/page/compare?${this.query()}`, undefined, true);
    if (!c) return el("p", { class: "hint" }, "One of the two is too old: its windows are gone.");
    return el("article", { class: "card beside" }, el("h3", {}, `A: ${this.side[0].title}  against  B: ${this.side[1].title}`),
      table(c.rows || [], ["A", "B"]), el("p", { class: "hint" }, `A is ${c.before.limit}, B is ${c.after.limit}`), el("div", { class: "chart", role: "img", "aria-label": "mean latency by phase, A and B" }),
      c.knobs.length ? el("details", {}, el("summary", {}, `${c.knobs.length} knobs differ`), el("table", { class: "rows" }, el("tbody", {}, ...c.knobs.map((k) => el("tr", {}, el("th", { scope: "row" }, k.name), el("td", {}, k.a), el("td", {}, k.b)))))) : el("p", { class: "hint" }, "under the same knobs"));
  }
}

const keyOf = (p) => [p.sys, p.epoch, p.from_ns, p.to_ns].join();
