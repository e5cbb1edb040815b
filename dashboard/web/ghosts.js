import { $, call, dialog, el, flash, ms } from "./kit.js";

// A ghost goes on without a change, and shows what would have happened. The agent keeps
// the ghost of the latest change ready, hidden, where it has the CPU time for it; that of
// an older one is replayed in the background.
export class Ghosts {
  constructor(on) {
    Object.assign(this, { on, twin: null });
    $("twinswitch").onclick = () => this.turn(this.twin?.state === "off");
  }
  frame(f) {
    if (f.twin) this.twin = f.twin;
    this.draw();
  }
  async turn(on) {
    const t = await call("POST", "/api/twin", { on });
    if (t) { this.twin = t; this.draw(); }
  }
  draw() {
    const t = this.twin, version = this.on.version();
    write($("twin"), t ? words(t, version) : "");
    $("twinswitch").hidden = !t || t.state === "none" && /notebook/.test(t.why);
    write($("twinswitch"), t?.state === "off" ? "switch on" : "switch off");
    const next = t?.state === "building" && t.ready_in_ms > 0 ? soon(t) : "";
    for (const at of document.querySelectorAll(".replay")) write(at, next);
  }
  // ready is true when the ghost of a change is there at once.
  ready(sys, version) {
    const g = this.twin?.sys === sys && this.twin.ghost;
    return g && g.level && g.first_version <= version && version <= g.last_version;
  }
  // latest asks for the ghost of the latest change. A key alone does not start a replay.
  latest(byKey) {
    const sys = this.on.shown(), version = this.on.version();
    if (version < 2) { flash("Nothing was changed yet. A ghost goes on without a change: turn a knob first."); return; }
    if (!byKey || this.ready(sys, version)) { this.ask(sys, version); return; }
    const s = this.on.standing(), go = el("button", { onclick: () => { $("dialog").close(); this.ask(sys, version); } }, "Replay it");
    dialog(`The ghost of change ${version - 1} is not ready`,
      el("p", {}, `It must be replayed from time 0${s?.speed > 0 ? `, which takes up to ${wait(s.virtual_ns / s.speed)}` : ""}. System ${sys} goes on meanwhile, and you can cancel the replay.`), go);
    go.focus();
  }
  // ask shows the ghost of a change.
  async ask(sys, version) {
    const s = await call("POST", "/api/systems", { fork: sys, without: version });
    if (s) await this.on.opened(s);
  }
}

// words say how the ghosts on standby are.
function words(t, version) {
  if (t.state === "off") return "The hidden twin is off: ghosts are replayed.";
  const g = t.ghost, said = [];
  if (g && g.last_version === version) said.push(g.level ? `ghost of change ${version - 1} ready` : `ghost of change ${version - 1} follows`);
  if (t.state === "none") said.push(`no ghost on standby: ${t.why}`);
  else if (!said.length) said.push(t.state === "ready" ? "ghost ready for the next change" : soon(t));
  else if (t.state !== "ready") said.push(`the next: ${soon(t).replace(/^ghost /, "")}`);
  return said.join("; ");
}

function soon(t) {
  if (t.ready_in_ms > 0) return `ghost ready in ${wait(t.ready_in_ms / 1000)}`;
  return t.ready_in_ms < 0 ? "no ghost ready: at this pace there is too little spare CPU time for it (pause, or choose a lower pace)" : "ghost being prepared";
}

export const wait = (seconds) => seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;

// about says what a system of the list is the ghost of.
export const about = (s) => `ghost of ${s.forked}${s.without ? ` without change ${s.without - 1}` : ""} from ${ms(s.at)} on, `;

function write(e, text) { if (e.textContent !== text) e.textContent = text; }
