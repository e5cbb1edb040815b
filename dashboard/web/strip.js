import { $, call, el, keyed } from "./kit.js";
import { stepOf, text } from "./knobs.js";

// The strip above the charts: knobs that systems side by side have in common, or those of a
// learned cache. One change goes to all systems.
export class Strip {
  constructor() {
    Object.assign(this, { at: "", asked: 0 });
  }
  get many() { return this.systems?.length > 1; }
  // refresh asks again if the systems, or the versions of their knobs, are others.
  async refresh(list) {
    const at = JSON.stringify(list.map((s) => [s.sys, s.epoch, s.knobs_version, !!s.catching_up]));
    if (at === this.at) return;
    this.at = at;
    const question = ++this.asked, s = await call("GET", "/page/strip", undefined, true);
    if (question !== this.asked) return;
    if (s) this.draw(s); else this.at = "";
  }
  draw({ systems, knobs }) {
    this.systems = systems;
    $("strip").hidden = !knobs.length;
    $("striptitle").hidden = systems.length < 2;
    $("stripof").textContent = systems.map((s) => s.name || s.sys).join(" and ");
    keyed($("stripknobs"), knobs, (k) => k.name, (k) => this.knob(k));
  }
  knob(k) {
    const same = k.values.every((v) => v === k.values[0]), whole = k.kind === "int", id = `strip-${k.name.replaceAll(".", "-")}`;
    const said = () => same ? text(k, k.value) : k.values.map((v, i) => `${this.systems[i].sys} ${text(k, v)}`).join(", ");
    let i, out = el("output", { for: id }, said());
    if (k.steps) {
      const at = (v) => k.steps.reduce((best, s, i) => Math.abs(Math.log(s / v)) < Math.abs(Math.log(k.steps[best] / v)) ? i : best, 0), count = (v) => v.toLocaleString("en");
      i = el("input", { id, type: "range", min: 0, max: k.steps.length - 1, step: 1 });
      const now = k.value > 0 ? k.value : Number(k.auto?.primitive); // of default and auto the page knows no other number
      i.value = same && now > 0 ? at(now) : Math.floor(k.steps.length / 2);
      out = el("output", { for: id }, !same ? said() : k.value > 0 ? count(k.value) : text(k, k.value));
      const tell = () => { i.setAttribute("aria-valuetext", out.textContent = count(k.steps[i.value])); };
      i.setAttribute("aria-valuetext", out.textContent);
      i.oninput = tell;
      i.onchange = () => this.set({ [k.name]: k.steps[i.value] });
    } else if (k.choices?.length || k.kind === "bool") {
      i = el("select", { id }, ...(k.choices || ["on", "off"]).map((c) => el("option", { value: c }, c)));
      i.value = k.kind === "bool" ? text(k, k.value) : k.value;
      if (same) out = null;
      i.onchange = () => this.set({ [k.name]: k.kind === "bool" ? i.value === "on" : i.value });
    } else {
      const number = whole || k.kind === "float", slide = number && k.max - k.min <= 200;
      i = el("input", { id, type: slide ? "range" : number ? "number" : "text", min: number ? k.min : undefined, max: number ? k.max : undefined, step: whole ? 1 : slide ? stepOf(k) : "any" });
      i.value = number ? k.value : text(k, k.value);
      if (slide) i.oninput = () => { out.textContent = i.value; };
      else if (same) out = null; // the input shows it
      i.onchange = () => {
        if (number && i.value === "") { i.value = k.value; return; }
        this.set({ [k.name]: number ? Number(i.value) : i.value });
      };
    }
    i.setAttribute("aria-description", k.doc);
    const label = el("label", { class: "stripknob", title: k.doc, "data-knob": k.name }, k.label, i, ...(out ? [out] : []));
    if (k.steps) label.append(el("button", { class: "link", title: "have the store choose the number, and say why", disabled: same && k.value < 0, onclick: () => this.set({ [k.name]: "auto" }) }, "auto"));
    return label;
  }
  // set goes to all systems, or to none.
  async set(values) {
    if (await call("PATCH", `/api/knobs?${this.systems.map((s) => `sys=${s.sys}`).join("&")}`, values)) return;
    for (const e of $("stripknobs").children) e.drawnAs = ""; // refused: back to what is
    this.at = "";
  }
}
