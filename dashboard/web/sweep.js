import { $, call, copier, dialog, el, latest, say } from "./kit.js";
import { draw } from "./charts.js";
import { inPlace } from "./places.js";

// A heat map over two knobs of the system that is shown. The agent sweeps in the
// background; a click on a cell tells of its run.

export class Sweep {
  constructor(sys, on) {
    Object.assign(this, { sys, on, busy: false, state: null, offered: [], at: null, latest: latest() });
    $("sweepbox").ontoggle = () => this.choose();
    $("sweepform").onsubmit = (e) => { e.preventDefault(); this.start(); };
    $("sweepstop").onclick = () => call("DELETE", `/api/sweep?sys=${this.sys()}`, {});
    $("sweepmetric").onchange = () => this.refresh();
    addEventListener("resize", () => { clearTimeout(this.resized); this.resized = setTimeout(() => this.draw(), 300); });
    for (const a of ["x", "y"]) {
      $(`sweep${a}`).onchange = () => this.prefill(a);
      $(`sweep${a}s`).oninput = (e) => { e.target.dataset.typed = "yes"; };
    }
  }

  // choose shows what there is of the system that is shown now.
  async choose() {
    if (!$("sweepbox").open) return;
    this.close();
    await this.knobs();
    await this.refresh();
  }

  // knobs asks which knobs can be an axis, and for values; what was typed stays.
  async knobs(version) {
    if (version) { this.version = version; this.hint(); }
    if (!$("sweepbox").open) return;
    const sys = this.sys(), offered = await call("GET", `/page/sweep/knobs?sys=${sys}`, undefined, true);
    if (!offered || sys !== this.sys()) return;
    this.offered = offered;
    for (const [a, first] of [["x", "coroutines"], ["y", "threads"]]) {
      const select = $(`sweep${a}`), was = select.value || first;
      select.replaceChildren(...offered.map((k) => el("option", { value: k.name }, k.name)));
      select.value = offered.some((k) => k.name === was) ? was : offered[a === "x" ? 0 : 1]?.name;
      if (select.value !== was || !$(`sweep${a}s`).dataset.typed) this.prefill(a);
    }
  }

  prefill(a) {
    const k = this.offered.find((x) => x.name === $(`sweep${a}`).value);
    $(`sweep${a}s`).value = k?.values || "";
    $(`sweep${a}unit`).textContent = k?.unit || "";
    delete $(`sweep${a}s`).dataset.typed;
  }

  async start() {
    const axes = ["y", "x"].map((a) => ({ knob: $(`sweep${a}`).value, values: $(`sweep${a}s`).value }));
    this.wrong("");
    if (await call("POST", `/api/sweep?sys=${this.sys()}`, { axes, seeds: Number($("sweepseeds").value) }, (line) => this.wrong(line))) { this.close(); this.refresh(); }
  }

  wrong(line) {
    $("sweepfailed").textContent = line;
    $("sweepfailed").hidden = !line;
  }

  // tasks hears from the feed what is going on.
  tasks(all) {
    const mine = all.find((t) => t.name === `sweep of ${this.sys()}` && !t.state);
    $("sweepgo").disabled = !!mine;
    $("sweeprun").hidden = !mine;
    if (mine) {
      $("sweepbar").max = mine.total || 1;
      $("sweepbar").value = mine.done;
      $("sweepdone").textContent = mine.total ? `${Math.floor(100 * mine.done / mine.total)} % done` : "waits for its turn";
    }
    if (this.busy && !mine) { this.refresh(); say("the sweep has ended"); }
    this.busy = !!mine;
  }

  async refresh() {
    const sys = this.sys(), s = await this.latest(call("GET", `/page/sweep?sys=${sys}&metric=${$("sweepmetric").value}`, undefined, true));
    if (!s || sys !== this.sys()) return;
    this.state = s;
    if (!$("sweepmetric").options.length) $("sweepmetric").replaceChildren(...s.metrics.map((m) => el("option", {}, m)));
    if (s.failed) this.wrong(s.failed);
    else if (s.cells.length) this.wrong("");
    this.draw();
  }

  // draw draws the heat map that there is.
  async draw() {
    const s = this.state, some = !!s?.cells.length;
    $("sweepmetricbox").hidden = !some && !s?.failed;
    $("heattablebox").hidden = !some;
    this.hint();
    if (!some) { $("heat").hidden = true; return; }
    if (!$("sweepbox").open) return;
    $("heat").hidden = false;
    this.table();
    const wide = innerWidth >= 760, high = Math.min(wide ? 560 : 440, 150 + 40 * s.y.names.length);
    await draw($("heat"), `/page/sweep/chart?sys=${this.sys()}&metric=${$("sweepmetric").value}&number=${s.number}`, { high });
    const c = window.echarts?.getInstanceByDom($("heat"));
    if (c && !c.listens) {
      c.listens = true;
      c.on("click", (p) => { const cell = this.state?.cells[p.value?.[1]]?.[p.value?.[0]]; if (cell) this.point(cell); });
    }
  }

  hint() {
    const s = this.state;
    $("heathint").textContent = !s?.cells.length ? "" : `${s.cancelled ? "Cancelled: what is hatched was not run. " : ""}${this.version && this.version !== s.knobs_version ? "The knobs have changed since: sweep again for those of now. " : ""}Click a cell to see its run.`;
  }

  // table is the way to a point without a pointer.
  table() {
    const s = this.state;
    $("heattable").replaceChildren(el("table", { class: "rows" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, `${s.y.title} \\ ${s.x.title}`), ...s.x.names.map((n) => el("th", { scope: "col" }, n)))),
      el("tbody", {}, ...s.cells.map((row, i) => el("tr", {}, el("th", { scope: "row" }, s.y.names[i]), ...row.map((c) => el("td", {}, el("button", { class: "link", onclick: () => this.point(c, true) }, c.text))))))));
  }

  async point(cell, keyboard) {
    const { number } = this.state, turn = this.turn = (this.turn || 0) + 1; // of several clicks the latest counts
    const info = await call("GET", `/page/sweep/cell?sys=${this.sys()}&point=${cell.point}`);
    if (!info || turn !== this.turn || number !== this.state?.number) return;
    const copy = (name, text) => el("button", { onclick: () => dialog(name, el("h3", {}, "This run again", copier(text)), el("pre", { tabindex: 0 }, text)) }, name);
    const card = el("article", { class: "card point", tabindex: -1, "aria-label": info.set },
      el("div", { class: "head" }, el("h3", {}, info.set), el("button", { class: "link", "aria-label": "close", onclick: () => this.close() }, "✕")),
      el("p", { class: "big" }, cell.text), info.measured && el("p", { class: "hint" }, info.measured), info.limit && el("p", { class: "hint" }, info.limit),
      info.command && el("div", { class: "acts" }, el("button", { onclick: () => this.live(cell) }, "Open live"), copy("Command", info.command), copy("Notebook cell", info.notebook)),
      el("div", { id: "heatreplace" }));
    $("heatpoint").replaceChildren(card);
    if (keyboard) { card.focus(); card.scrollIntoView({ block: "nearest" }); }
    say(`${info.set}: ${cell.text}`);
  }

  close() {
    this.turn = (this.turn || 0) + 1; // what is still on its way comes too late
    $("heatpoint").replaceChildren();
  }

  // live opens the system of a cell beside the others.
  live(cell) {
    return inPlace($("heatreplace"), async (replace) => {
      const s = await call("POST", `/api/sweep/live?sys=${this.sys()}`, { point: cell.point, number: this.state.number, replace });
      if (s) { this.on.opened(s.sys); say(`System ${s.sys} is that of the cell.`); }
    });
  }
}
