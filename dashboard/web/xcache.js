import { $, call, el, keyed, say } from "./kit.js";

// The panel of learned caches: what they hold and how often they help, and how far training in
// the background has come. The words are also on the strip, beside the knobs that begin a training.
export class XCache {
  constructor(on) {
    Object.assign(this, { on, sys: "a", dirty: false, busy: false, was: "" });
    setInterval(() => this.tick(), 330);
    document.addEventListener("visibilitychange", () => this.stale());
  }
  stale() { this.dirty = true; }
  // frame takes the latest windows of the system shown: those of others have no such gauges.
  frame(windows) {
    const g = windows.at(-1)?.gauges;
    if (g) this.has(g["xstore.client_bytes"] !== undefined);
  }
  has(it) {
    if (!it) this.was = "";
    if (it === $("xcachebox").hidden) { $("xcachebox").hidden = !it; this.on.shown(); }
    $("stripsays").hidden = !it;
    if (it) this.stale();
  }
  async tick() {
    if (!this.dirty || this.busy || document.hidden || $("livepage").hidden) return;
    this.busy = true;
    this.dirty = false;
    const sys = this.sys, s = await call("GET", `/page/xcache?sys=${sys}`, undefined, true);
    this.busy = false;
    if (sys !== this.sys) this.stale();
    else if (s?.text) this.draw(s);
    else if (s) this.has(false);
  }
  draw({ text, settled, done, because, facts }) {
    const as = settled ? "settled" : "training";
    for (const id of ["xcachesays", "stripsays"]) {
      $(id).textContent = text;
      $(id).className = as;
    }
    $("xcachedone").hidden = done === 1;
    $("xcachedone").value = done;
    if (this.was && this.was !== as) say(settled ? `training has ${text}` : "training in the background has begun");
    this.was = as;
    $("xcachewhy").hidden = !because;
    $("xcachewhy").textContent = because ? `Their number was chosen: ${because}.` : "";
    keyed($("xcachefacts"), facts, (f) => f.name, (f) => el("div", { title: f.doc }, el("dt", {}, f.name), el("dd", {}, f.value, f.unit && el("small", {}, ` ${f.unit}`))));
  }
}
