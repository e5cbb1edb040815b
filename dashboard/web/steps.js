import { $, call, el, keyed } from "./kit.js";

// "Try this": a question, one click that answers it, and the thesis's sentence.
export class Steps {
  constructor(knobs, on) {
    Object.assign(this, { knobs, on, list: [] });
    knobs.onchange = () => this.draw();
  }
  async refresh() {
    const s = await call("GET", `/page/steps?sys=${this.knobs.sys}`, undefined, true);
    this.list = s?.steps || [];
    $("try").hidden = !this.list.length;
    this.draw();
  }
  // back is what the knobs of a step were when the system began.
  back(s) { return Object.fromEntries(Object.keys(s.set).map((n) => [n, this.knobs.by.get(n).start])); }
  draw() {
    const items = this.list.map((s, i) => ({ ...s, i, done: Object.entries(s.set).every(([n, v]) => this.knobs.value(n) === v) }));
    keyed($("steps"), items, (s) => s.i, (s) => el("li", { class: s.done ? "done" : "" }, el("p", {}, s.question),
      el("div", { class: "acts" }, el("button", { "aria-pressed": String(s.done), onclick: () => this.knobs.set(s.done ? this.back(s) : s.set) }, s.done ? "Take it back" : s.button),
        !s.done && el("button", { class: "link", title: "and keep a ghost that goes on as it is now", onclick: () => this.on.ghostThen(s.set) }, "with a ghost"), !s.done && el("span", { class: "replay hint" })),
      el("p", { class: "hint" }, s.hint), el("blockquote", {}, `“${s.thesis.trim()}” `, el("cite", {}, s.section))));
  }
}
