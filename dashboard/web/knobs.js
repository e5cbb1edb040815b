import { call, el } from "./kit.js";

// The knobs, made from the registry: changed ones first, then by floor.
export class Knobs {
  constructor(root, find, changed) {
    Object.assign(this, { root, find, changed, sys: "a", list: [], start: null, history: [] });
    find.oninput = () => this.draw();
  }
  async refresh() {
    const list = await call("GET", `/api/knobs?sys=${this.sys}`);
    if (!list) return;
    if (!this.start) this.start = new Map(list.map((k) => [k.name, k.value]));
    const before = new Map(this.list.map((k) => [k.name, k.value]));
    const diff = {};
    for (const k of list) if (before.has(k.name) && String(before.get(k.name)) !== String(k.value)) diff[k.name] = before.get(k.name);
    if (Object.keys(diff).length) this.history.push(diff);
    this.list = list;
    this.draw();
  }
  // latest is what takes the latest change back; with none, nothing.
  latest() { return this.history.at(-1) || {}; }
  undoLatest() { const d = this.latest(); if (Object.keys(d).length) { this.set(d); } }
  isChanged(k) { return this.start && String(this.start.get(k.name)) !== String(k.value); }
  async set(values) {
    const r = await call("PATCH", `/api/knobs?sys=${this.sys}`, values);
    await this.refresh();
    if (r) this.changed();
  }
  draw() {
    if (this.root.contains(document.activeElement) && document.activeElement.matches("input[type=number],input[type=text]")) return;
    const focus = document.activeElement?.id;
    const open = this.root.scrollTop;
    const want = this.find.value.trim().toLowerCase();
    const match = (k) => !want || (k.name + " " + k.label + " " + k.doc).toLowerCase().includes(want);
    const groups = new Map();
    const changed = this.list.filter((k) => this.isChanged(k) && match(k));
    if (changed.length) groups.set("Changed", changed);
    for (const k of this.list) {
      if (!match(k) || this.isChanged(k) || (!k.live && !want)) continue;
      if (!groups.has(k.group)) groups.set(k.group, []);
      groups.get(k.group).push(k);
    }
    this.root.replaceChildren(...[...groups].map(([g, ks]) => el("fieldset", {}, el("legend", {}, g), ...ks.map((k) => this.knob(k)))));
    if (!groups.size) this.root.append(el("p", { class: "hint" }, "no knob matches"));
    if (focus) document.getElementById(focus)?.focus();
    this.root.scrollTop = open;
  }
  knob(k) {
    const id = "k-" + k.name.replaceAll(".", "-");
    const off = !k.live || !k.active;
    const why = !k.active ? k.inactive_because : !k.live ? "set before the start; Reset with it by command or spec" : "";
    const row = el("div", { class: `knob${off ? " off" : ""}${this.isChanged(k) ? " changed" : ""}` },
      el("label", { for: id }, k.label || k.name), this.input(k, id, off),
      el("span", { class: "name" }, k.name + (k.unit ? ` (${k.unit})` : "")),
      el("p", { class: "doc" }, [k.doc, k.section, why && `Not now: ${why}`].filter(Boolean).join(" · ")));
    if (this.isChanged(k)) {
      const b = el("button", { class: "undo" }, `undo (${this.start.get(k.name)})`);
      b.onclick = () => this.set({ [k.name]: this.start.get(k.name) });
      row.append(b);
    }
    return row;
  }
  input(k, id, off) {
    let i;
    if (k.kind === "bool") {
      i = el("input", { type: "checkbox", id });
      i.checked = !!k.value;
      i.onchange = () => this.set({ [k.name]: i.checked });
    } else if (k.choices?.length) {
      i = el("select", { id }, ...k.choices.map((c) => el("option", { value: c }, c)));
      if (!k.choices.includes(k.value)) i.append(el("option", { value: k.value }, String(k.value)));
      i.value = k.value;
      i.onchange = () => this.set({ [k.name]: i.value });
    } else {
      const number = k.kind === "int" || k.kind === "float";
      i = el("input", { type: number ? "number" : "text", id, value: k.value, step: k.kind === "int" ? 1 : "any" });
      if (k.min !== undefined && k.min !== null) i.min = k.min;
      if (k.max !== undefined && k.max !== null) i.max = k.max;
      i.onchange = () => { const v = number ? Number(i.value) : i.value; i.blur(); this.set({ [k.name]: v }); };
    }
    i.disabled = off;
    return i;
  }
}
