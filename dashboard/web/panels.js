import { $, call, el, keyed, say } from "./kit.js";

// The panels of parts: a sentence, numbers and charts of each, as the server describes them. Where a part settles only some time after
// a change, its sentence stands on the strip too, beside the knobs.
export class Panels {
  constructor(on) {
    Object.assign(this, { on, sys: "a", dirty: false, busy: false, was: "", opened: new Map() });
    setInterval(() => this.tick(), 330);
    document.addEventListener("visibilitychange", () => this.stale());
  }
  stale() { this.dirty = true; }
  async tick() {
    if (!this.dirty || this.busy || document.hidden || $("livepage").hidden) return;
    this.busy = true;
    this.dirty = false;
    const sys = this.sys, all = await call("GET", `/page/panels?sys=${sys}`, undefined, true);
    this.busy = false;
    if (sys !== this.sys) this.stale();
    else if (all) this.draw(all);
  }
  draw(all) {
    const have = [...$("panels").children].map((e) => e.dataset.part).join();
    // A change of a knob may leave a window in which a part has nothing to show: it comes back as open as it was.
    for (const e of [...$("panels").children]) if (!all.some((p) => p.part === e.dataset.part)) {
      this.opened.set(e.dataset.part, e.open);
      e.remove();
    }
    all.forEach((p, i) => {
      let box = $(`panel-${p.part}`);
      if (!box) $("panels").insertBefore(box = this.box(p), $("panels").children[i] || null);
      this.fill(box, p);
    });
    if (have !== all.map((p) => p.part).join()) this.on.shown();
    this.strip(all.find((p) => p.settles));
  }
  // box is an empty panel.
  box(p) {
    const id = `panel-${p.part}`, charts = p.charts.map((c, i) => Object.assign(el("div", { id: `${id}-${i}`, class: "chart", role: "img", "aria-label": c.label, "data-chart": i }), { how: c }));
    const box = el("details", { class: "box", id, "data-part": p.part }, el("summary", {}, p.title),
      p.doc && el("p", { class: "hint" }, p.doc),
      el("p", { class: "says" }, el("span", {}), " ", el("progress", { "aria-label": "share that is done" })),
      el("p", { class: "hint why" }), el("dl", { class: "facts" }), ...charts);
    box.open = this.opened.get(p.part) ?? !!p.open;
    box.ontoggle = () => this.on.shown();
    return box;
  }
  fill(box, { text, settles, settled, done, because, facts }) {
    const [says, progress] = box.querySelector(".says").children, why = box.querySelector(".why");
    says.textContent = text || "";
    if (settles) says.className = settled ? "settled" : "settling";
    progress.hidden = done === 1;
    progress.value = done;
    why.hidden = !because;
    why.textContent = because ? `${because}.` : "";
    const dl = box.querySelector(".facts");
    dl.hidden = !facts.length;
    keyed(dl, facts, (f) => f.name, (f) => el("div", { title: f.doc }, el("dt", {}, f.name), el("dd", {}, f.value, f.unit && el("small", {}, ` ${f.unit}`))));
  }
  strip(p) {
    $("stripsays").hidden = !p;
    if (!p) { this.was = ""; return; }
    const as = p.settled ? "settled" : "settling";
    $("stripsays").textContent = p.text;
    $("stripsays").className = as;
    if (this.was && this.was !== as) say(p.text);
    this.was = as;
  }
}
