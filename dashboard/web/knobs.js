import { $, call, el, flash, keyed, set } from "./kit.js";

// The knobs, made from the registry: changed ones first, then the phases of a
// transaction as a board, then by floor; those that are fixed while the system
// runs come last and take a reset.
const columns = ["or", "db", "pa"];

export class Knobs {
  constructor() {
    Object.assign(this, { root: $("knobs"), sys: "a", list: [], by: new Map(), undo: null, down: [], shown: "", staged: {}, whole: false });
    $("find").oninput = () => { this.draw(); if ($("find").value) this.wantWhole(); };
    $("left").addEventListener("pointerleave", () => this.short());
    $("left").addEventListener("focusout", (e) => { if (!$("left").contains(e.relatedTarget)) this.short(); });
    for (const type of ["focusin", "pointerover"]) this.root.addEventListener(type, (e) => this.about(e.target.closest("[data-knob]")?.dataset.knob));
  }
  async refresh() {
    const k = await call("GET", `/page/knobs?sys=${this.sys}${this.whole ? "&hardware=all" : ""}`, undefined, true);
    if (!k) return;
    this.list = k.knobs;
    this.by = new Map(k.knobs.map((x) => [x.name, x]));
    this.undo = Object.keys(k.undo || {}).length ? k.undo : null;
    this.down = k.down || [];
    this.version = k.version;
    this.transactions = k.transactions;
    if (this.stagedFor !== this.sys) this.staged = {}; // another system was chosen
    this.stagedFor = this.sys;
    this.draw();
    this.about(this.shown, true);
    this.onchange?.();
  }
  // wantWhole asks for the numbers of the hardware too: they are more than all other knobs.
  wantWhole() { if (!this.whole) { this.whole = true; this.refresh(); } }
  value(name) { return this.by.get(name)?.value; }
  async set(values) {
    if (await set(this.sys, values)) return; // the feed tells of the change
    for (const e of this.root.children) e.drawnAs = ""; // refused: back to what is
    this.draw();
  }
  undoLatest() { if (this.undo) this.set(this.undo); }

  draw() {
    const typing = document.activeElement;
    if (this.root.contains(typing) && typing.matches("input[type=number],input[type=text]") && typing.dataset.dirty) return;
    const want = $("find").value.trim().toLowerCase();
    const match = (k) => !want || `${k.name} ${k.label} ${k.doc}`.toLowerCase().includes(want);
    const list = this.list.filter(match), groups = [], idle = (k) => this.idle(k);
    const changed = this.list.filter((k) => k.changed && match(k));
    if (changed.length) groups.push({ kind: "changed", knobs: changed.filter((k) => !k.follows), follow: changed.filter((k) => k.follows).length });
    const other = list.filter((k) => isHardware(k) && !k.changed && k.value !== k.default);
    if (other.length) groups.push({ kind: "hardware", knobs: other });
    const board = want ? null : this.board();
    const boarded = new Set(board?.rows.flatMap((r) => [r.knob.name, ...r.opts.filter(Boolean).map((o) => o.name)]) || []);
    for (const k of list) {
      // What sets cells of the board stands below it.
      if (board && !groups.includes(board) && (boarded.has(k.name) || k.group === "Optimisations")) groups.push(board);
      if (boarded.has(k.name)) continue;
      const kind = k.live ? "live" : "fixed", name = k.live ? k.group : "Fixed while it runs";
      let g = groups.find((x) => x.kind === kind && x.name === name);
      if (!g) groups.push(g = { kind, name, knobs: [] });
      g.knobs.push(k);
    }
    // What does nothing under this spec is out of the way, group by group, below what does.
    const rank = (g) => g.kind === "fixed" ? 2 : !want && (g.kind === "live" && g.knobs.every(idle) || g.kind === "phases" && !g.rows.some((r) => r.knob.active)) ? 1 : 0;
    for (const g of groups) g.rank = rank(g);
    groups.sort((a, b) => a.rank - b.rank);
    if (!groups.length) groups.push({ kind: "none" });
    keyed(this.root, groups, (g) => g.kind + (g.name || ""), (g, was) => this[g.kind](g, was));
  }
  none() { return el("p", { class: "hint" }, "no knob matches"); }

  // board is Table 4-1 and 4-3 to play with: a row per phase, its primitive and
  // its optimisations.
  board() {
    const rows = this.list.filter((k) => k.name.startsWith("phase.")).map((knob) => ({ knob, opts: columns.map((c) => this.by.get(`opt.${knob.name.slice(6)}.${c}`)) }));
    return rows.length ? { kind: "phases", rows } : null;
  }
  phases(g, was) {
    if (g.rank) return this.fold("Phases of a transaction", g.rows.flatMap((r) => [r.knob, ...r.opts.filter(Boolean)]), was);
    const heads = columns.map((c) => this.by.get(`opt.${c}`)).map((k, i) => el("th", { scope: "col", title: k?.label, "data-knob": k?.name }, columns[i].toUpperCase()));
    return el("fieldset", {}, el("legend", {}, "Phases of a transaction"), el("table", { class: "board" },
      el("thead", {}, el("tr", {}, el("td"), el("td"), ...heads)),
      el("tbody", {}, ...g.rows.map(({ knob, opts }) => el("tr", { class: knob.active ? "" : "off" },
        el("th", { scope: "row", "data-knob": knob.name, class: mark(knob) }, el("label", { for: idOf(knob) }, knob.label.replace("Read-only: ", "RO ").replace(/ \(.*/, ""))),
        el("td", { "data-knob": knob.name, title: knob.auto ? `${knob.auto.primitive}: ${knob.auto.because}` : knob.label }, this.input(knob)),
        ...opts.map((o) => o ? el("td", { "data-knob": o.name, class: (o.active ? "" : "off ") + mark(o), title: o.active ? o.label : o.inactive_because }, this.input(o, o.label)) : el("td")))))));
  }
  changed(g) {
    const resets = g.knobs.some((k) => !k.live); // then no machine is down when it begins again
    const back = Object.assign({}, ...g.knobs.map(resets ? startOf : backOf));
    const preset = g.knobs.find((k) => k.name === "preset");
    return el("fieldset", { class: "changes" }, el("legend", {}, "Changed since the start"),
      ...g.knobs.map((k) => el("div", { class: "change", "data-knob": k.name }, el("span", {}, k.label, el("small", {}, ` ${text(k, k.start)} → ${text(k, k.value)}`)),
        el("button", { class: "link", title: down(k) ? `restart ${text(k, k.value)}` : `${k.name} back to ${text(k, k.start)}${k.live ? "" : ", and begin again at 0"}`, onclick: () => this.takeBack(k.live ? backOf(k) : startOf(k), !k.live) }, down(k) ? "restart" : "undo"))),
      g.follow > 0 && el("p", { class: "hint" }, `and ${g.follow} that come with the preset`),
      g.knobs.length > 1 && el("button", { class: "link", onclick: () => this.takeBack(preset ? { ...back, preset: preset.start } : back, resets) }, "undo all"));
  }
  // hardware is what the system began with that is not in its profile.
  hardware(g) {
    return el("fieldset", { class: "changes" }, el("legend", {}, `Hardware other than ${this.value("profile")}'s`),
      ...g.knobs.map((k) => el("div", { class: "change", "data-knob": k.name }, el("span", {}, k.label, el("small", {}, ` ${text(k, k.default)} → ${text(k, k.value)}`)),
        el("button", { class: "link", title: `${k.name} back to ${text(k, k.default)}, and begin again at 0`, onclick: () => this.restart({ [k.name]: k.default }) }, "undo"))));
  }
  // takeBack sets knobs; if one of them is fixed while the system runs, that takes a reset.
  takeBack(values, resets) { return resets ? this.restart(values) : this.set(values); }
  live(g, was) {
    const idles = g.knobs.filter((k) => this.idle(k));
    if (g.rank) return this.fold(g.name, idles, was);
    return el("fieldset", {}, el("legend", {}, g.name), ...g.knobs.filter((k) => !this.idle(k)).map((k) => this.row(k)), this.fold("", idles, was?.querySelector("details")));
  }
  idle(k) { return !k.active && !this.needs(k); }
  // fold has the knobs of a group that have no effect, each with its reason.
  fold(name, knobs, was) {
    if (!knobs.length) return;
    const says = `${knobs.length === 1 ? "1 knob has" : `${knobs.length} knobs have`} no effect here`;
    return el("details", { class: "idle", open: was?.open || $("find").value.trim() !== "" }, el("summary", {}, name ? `${name}: ${says}` : says), ...knobs.map((k) => this.row(k)));
  }
  fixed(g, was) {
    const open = was?.open || $("find").value.trim() !== "";
    const go = this.go = el("button", { onclick: () => this.restart() }), leave = this.leave = el("button", { class: "link", onclick: () => this.unstage() });
    this.offer();
    const numbers = g.knobs.filter(isHardware), idles = g.knobs.filter((k) => !k.active && !isHardware(k));
    return el("details", { open, class: "fixed" }, el("summary", {}, g.name), el("p", { class: "hint" }, "Change them and begin again at 0 with the same seed."), el("div", { class: "go" }, go, leave), ...g.knobs.filter((k) => k.active && !isHardware(k)).map((k) => this.row(k)),
      this.fold("", idles, was?.querySelector(".idle")),
      this.numbers(numbers, was));
  }
  // numbers are those of the profile, fetched when they are asked for.
  numbers(list, was) {
    const found = $("find").value.trim() !== "";
    if (found && !list.length) return;
    const box = el("details", { open: found || was?.querySelector("details.numbers")?.open, class: "numbers" }, el("summary", {}, `Numbers of the hardware${this.whole ? `, profile ${this.value("profile")}` : ""}`), ...list.map((k) => this.row(k)));
    box.ontoggle = () => { if (box.open) this.wantWhole(); };
    return box;
  }
  stage(k, v) {
    if (String(v) === String(k.value)) delete this.staged[k.name]; else this.staged[k.name] = v;
    this.root.querySelector(`.knob[data-knob="${k.name}"]`)?.classList.toggle("staged", k.name in this.staged);
    this.offer();
  }
  offer() {
    const n = Object.keys(this.staged).length;
    this.go.hidden = this.leave.hidden = !n;
    this.go.textContent = `Begin again with ${n === 1 ? "this" : `these ${n}`}`;
    this.leave.textContent = `Leave ${n === 1 ? "it as it is" : "them as they are"}`;
  }
  async restart(set = this.staged) {
    if (!await call("POST", `/api/control?sys=${this.sys}`, { action: "reset", set })) return;
    this.unstage();
    this.refresh();
  }
  // unstage forgets what was not begun with.
  unstage() {
    this.staged = {};
    for (const e of this.root.children) e.drawnAs = ""; // what was typed in another form than is shown
    this.draw();
  }
  row(k) {
    return el("div", { class: `knob ${k.active ? "" : "off "}${mark(k)}${k.name in this.staged ? " staged" : ""}`, "data-knob": k.name },
      el("label", { for: idOf(k) }, k.label, isHardware(k) && k.unit !== "count" && el("small", {}, ` ${k.unit}`)), isOrder(k) ? this.machines(k) : this.input(k),
      this.needs(k) || !k.active && el("small", { title: k.inactive_because }, k.inactive_because));
  }
  // needs offers what is missing for a crash, and says what it takes.
  needs(k) {
    const keep = this.by.get("nvm.durability");
    if (k.active || k.name !== "fault.crash" || !keep?.active || keep.value || !/nvm\.durability/.test(k.inactive_because)) return;
    return el("button", { class: "link wide", title: k.inactive_because, onclick: () => this.restart({ "nvm.durability": true }) }, "Begin again and keep what a crash leaves");
  }
  // machines is the choice of one to crash or to restart.
  machines(k) {
    const servers = this.value("servers") || 0, others = servers ? servers + this.value("clients") : this.value("nodes"), n = others + (this.value("oracle") ? 1 : 0);
    const role = (m) => m === others ? " oracle" : !servers ? "" : m < servers ? " server" : " client";
    const i = el("select", { id: idOf(k) }, el("option", { value: -1 }, k.name === "fault.crash" ? "none" : "–"), ...Array.from({ length: n }, (_, m) => el("option", { value: m }, `${m}${role(m)}`)));
    i.value = k.value;
    i.disabled = !k.active || k.name === "fault.restart" && this.value("fault.crash") === -1;
    i.setAttribute("aria-description", k.doc);
    i.onchange = () => {
      const m = Number(i.value);
      i.value = k.value;
      this.set(m < 0 ? backOf(k) : { [k.name]: m });
    };
    return i;
  }
  input(k, label) {
    const id = idOf(k), value = this.staged[k.name] ?? k.value, take = (v) => k.live ? this.set({ [k.name]: v }) : this.stage(k, v);
    let i, more;
    if (k.kind === "bool") {
      i = el("input", { type: "checkbox", id, "aria-label": label });
      i.checked = !!value;
      // Greyed ones can still be reached, to read why.
      if (!k.active) { i.setAttribute("aria-disabled", "true"); i.onclick = (e) => { e.preventDefault(); this.about(k.name); }; return i; }
      i.onchange = () => take(i.checked);
    } else if (k.choices?.length) {
      i = el("select", { id }, ...k.choices.map((c) => el("option", { value: c }, c)));
      i.value = value;
      i.onchange = () => take(i.value);
    } else {
      const number = k.kind === "int" || k.kind === "float";
      const slide = number && k.live && k.max - k.min <= 200;
      i = el("input", { type: slide ? "range" : number ? "number" : "text", id, min: number ? k.min : undefined, max: number ? k.max : undefined, step: k.kind === "int" ? 1 : slide ? stepOf(k) : "any" });
      i.value = number ? value : text(k, value); // the browser fits it to the step, which has to be known before
      if (slide) { more = el("output", { for: id }, text(k, k.value)); i.oninput = () => { more.textContent = i.value + (k.unit === "%" ? " %" : ""); }; } else i.oninput = () => { i.dataset.dirty = "1"; };
      i.onchange = () => {
        delete i.dataset.dirty;
        if (number && i.value === "") { // so a browser hands on what is no number: 0 was not meant
          i.value = value;
          flash(`${k.name}: must be a number${k.max === undefined ? "" : ` from ${k.min} to ${k.max}`}; it stays ${text(k, value)}`);
        } else take(number ? Number(i.value) : i.value);
      };
      if (!slide) i.onblur = () => { if (i.dataset.dirty) { delete i.dataset.dirty; this.draw(); } };
    }
    i.disabled = !k.active;
    i.setAttribute("aria-description", k.doc);
    return more ? el("span", { class: "slide" }, i, more) : i;
  }

  // about tells what a knob is for, below the knobs, so that nothing jumps.
  about(name, again) {
    const k = this.by.get(name);
    if (!k) return;
    if (!again) requestAnimationFrame(() => this.roomForHelp());
    if (name === this.shown && !again) return;
    this.shown = name;
    const facts = isOrder(k) ? "" : [k.preset !== undefined && `preset says ${text(k, k.preset)}`, `default ${text(k, k.default)}`, k.min !== undefined && k.max !== undefined && `${text(k, k.min)} to ${text(k, k.max)}`].filter(Boolean).join(" · ");
    $("knob").replaceChildren(...[el("h3", {}, k.label, el("code", {}, k.name)), el("p", {}, k.doc, k.section && el("span", { class: "hint" }, ` Thesis §${k.section}.`), k.topic && el("a", { class: "hint", href: `#handbook/${k.topic}/${k.name}` }, " Handbook")),
      !k.active && el("p", { class: "why" }, `Without effect now: ${k.inactive_because}`),
      k.auto && el("p", { class: "why" }, `Now ${k.auto.primitive}: ${k.auto.because}`), el("p", { class: "hint" }, facts)].filter(Boolean));
  }

  // roomForHelp makes room for a help text that is longer than its place: upwards, no further than the knob that it is about, and
  // never over the charts. What does not fit scrolls.
  roomForHelp() {
    const box = $("knob"), row = this.root.querySelector(`[data-knob="${this.shown}"]:is(:hover, :focus-within)`);
    this.short();
    if (!row || innerWidth <= 760 || box.scrollHeight <= box.clientHeight) return;
    const most = $("left").getBoundingClientRect().bottom - row.getBoundingClientRect().bottom - 6;
    box.style.height = `${Math.max(box.offsetHeight, Math.min(box.scrollHeight + 4, most))}px`;
  }
  short() { $("knob").style.height = ""; }
}

// A crash is taken back by a restart.
const isOrder = (k) => k.name === "fault.crash" || k.name === "fault.restart";
const down = (k) => k.name === "fault.crash" && k.value >= 0;
const isHardware = (k) => k.name.startsWith("hardware.");
const startOf = (k) => ({ [k.name]: k.start });
const backOf = (k) => down(k) ? { "fault.restart": k.value } : { [k.name]: k.start };

// stepOf is a round step, of which a slider has some hundreds.
export const stepOf = (k) => { const unit = 10 ** Math.floor(Math.log10((k.max - k.min) / 200)); return (k.max - k.min) / 200 >= 5 * unit ? 5 * unit : unit; };

const mark = (k) => k.changed && !k.follows ? "changed" : "";
const idOf = (k) => "k-" + k.name.replaceAll(".", "-");

// text writes a value as a person would.
export function text(k, v) {
  if (isOrder(k)) return v < 0 ? "none" : `machine ${v}`;
  if (k.name === "xstore.submodels" && v <= 0) return v ? "auto" : "default";
  if (typeof v === "boolean") return v ? "on" : "off";
  if (typeof v !== "number") return String(v ?? "");
  const units = { duration: [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]], bytes: [[1e9, " GB"], [1e6, " MB"], [1e3, " KB"], [1, " B"]] }[k.kind];
  if (units && v !== 0) for (const [f, u] of units) if (v % f === 0) return (v / f + u).replace(" ", "");
  return String(v) + (k.unit === "%" || isHardware(k) && k.unit !== "count" ? ` ${k.unit}` : "");
}
