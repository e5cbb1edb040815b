import { call, el, ms, si } from "./kit.js";

// A card for every knob change; pinned ones stay on top, side by side.
export class Cards {
  constructor(root, pinnedRoot, hint) {
    Object.assign(this, { root, pinnedRoot, hint, pins: new Map(), again: 0 });
  }
  async refresh() {
    clearTimeout(this.again);
    const list = await call("GET", "/page/cards");
    if (!list) return;
    this.hint.hidden = list.length > 0;
    for (const c of list) if (this.pins.has(this.key(c))) this.pins.set(this.key(c), c);
    this.root.replaceChildren(...list.filter((c) => !this.pins.has(this.key(c))).slice(0, 12).map((c) => this.card(c, false)));
    this.pinnedRoot.replaceChildren(...[...this.pins.values()].map((c) => this.card(c, true)));
    // The latest card grows more certain as windows come.
    if (list.length) this.again = setTimeout(() => this.refresh(), 1000);
  }
  key(c) { return `${c.sys}/${c.version}/${c.virtual_ns}`; }
  card(c, pinned) {
    const pin = el("button", { title: pinned ? "let go" : "keep for comparison" }, pinned ? "Unpin" : "Pin");
    pin.onclick = () => { pinned ? this.pins.delete(this.key(c)) : this.pins.set(this.key(c), c); this.refresh(); };
    const e = el("article", { class: "card" + (pinned ? " pin" : "") },
      el("h3", {}, c.title, pin),
      el("div", { class: "hint" }, `system ${c.sys}, at ${ms(c.virtual_ns)}, by ${c.by || "?"}`));
    if (c.settling) { e.append(el("p", {}, c.settling)); return e; }
    const t = el("table", {}, el("tr", {}, el("th", {}, ""), el("td", {}, "before"), el("td", {}, "after"), el("td", {}, "difference (95 %)")));
    for (const r of c.rows || []) {
      t.append(el("tr", {}, el("th", {}, `${r.name} (${r.unit || ""})`), el("td", {}, si(r.before)), el("td", {}, si(r.after)),
        el("td", { class: r.verdict }, `${r.diff >= 0 ? "+" : "−"}${si(Math.abs(r.diff))} ± ${si(r.half95)}${r.before ? ` (${r.percent >= 0 ? "+" : "−"}${Math.abs(r.percent).toFixed(1)} %)` : ""}`)));
    }
    e.append(el("p", {}, c.sentence), t,
      el("div", { class: "hint" }, `busiest: ${c.before.bottleneck || "?"} → ${c.after.bottleneck || "?"}; ${c.before.windows} and ${c.after.windows} windows, ${c.after.skipped} of the transient left out`));
    return e;
  }
}
