import { $, call, el, keyed } from "./kit.js";
import { text } from "./knobs.js";

// "Try this": a question, one click that answers it, and the thesis's sentence. A step
// sets only what its button says; what it assumes is named, with an offer to go there.
export class Steps {
  constructor(knobs, on) {
    Object.assign(this, { knobs, on, list: [] });
    knobs.onchange = () => this.draw();
  }
  async refresh() {
    const s = await call("GET", `/page/steps?sys=${this.knobs.sys}`, undefined, true);
    this.list = s?.steps || [];
    this.each = !!s?.each;
    $("try").hidden = !this.list.length;
    this.draw();
  }
  // set is for the system shown, or for all side by side that one spec lists.
  set(values) { return this.each ? this.on.each(values) : this.knobs.set(values); }
  // back is what the knobs of a step are where it starts.
  back(s) {
    return Object.fromEntries(Object.keys(s.set).map((n) => {
      const k = this.knobs.by.get(n);
      return [n, s.start?.[n] ?? k?.preset ?? k?.default];
    }));
  }
  // away names the knobs that are not as a step assumes: those of its start, and of a preset
  // those that were changed since it was chosen.
  away(s) {
    const start = Object.entries(s.start || {}), off = start.filter(([n, v]) => this.knobs.value(n) !== v).map(([n]) => n);
    if (s.start?.preset && !off.includes("preset")) for (const k of this.knobs.list) if (k.preset !== undefined && k.value !== k.preset && !(k.name in s.set) && !(k.name in s.start)) off.push(k.name);
    return off;
  }
  named(values) {
    const first = ([a], [b]) => (b === "preset") - (a === "preset");
    return Object.entries(values).sort(first).map(([n, v]) => `${n} ${text(this.knobs.by.get(n) || { name: n }, v)}`).join(", ");
  }
  draw() {
    const items = this.list.map((s, i) => {
      const so = Object.entries(s.set).every(([n, v]) => this.knobs.value(n) === v), away = this.away(s).filter((n) => !(so && n in s.set));
      return { ...s, i, so, done: so && !away.length, now: away.length > 0 && this.named(Object.fromEntries(away.sort((a, b) => (b === "preset") - (a === "preset")).slice(0, 3).map((n) => [n, this.knobs.value(n)]))) + (away.length > 3 ? ` and ${away.length - 3} more` : "") };
    });
    keyed($("steps"), items, (s) => s.i, (s) => el("li", { class: s.done ? "done" : "" }, el("p", {}, s.question),
      s.start && el("p", { class: "hint start" }, `Starts from ${this.named(s.start)}`, s.now && el("span", { class: "why" }, `; now ${s.now}${s.so ? ", and what this step sets is so already" : ""}`)),
      el("div", { class: "acts" }, s.now && !s.done && el("button", { class: "there", title: `set ${this.named(s.start)}`, onclick: () => this.set(s.start) }, "Go there first"),
        el("button", { class: "go", disabled: s.so && !s.done, "aria-pressed": String(s.done), title: `set ${this.named(s.done ? this.back(s) : s.set)}`, onclick: () => this.set(s.done ? this.back(s) : s.set) }, s.done ? "Take it back" : s.button),
        !s.so && !this.each && el("button", { class: "link", title: "and keep a ghost that goes on as it is now", onclick: () => this.on.ghostThen(s.set) }, "with a ghost"), !s.so && el("span", { class: "replay hint" })),
      el("p", { class: "hint" }, s.hint), el("blockquote", {}, `“${s.thesis.trim()}” `, el("cite", {}, s.section))));
  }
}
