// The page: one feed, a few panels. Each panel is a module that gets the
// store and redraws itself; numbers are judged on the server.
import { Feed } from "./feed.js";
import { Knobs } from "./knobs.js";
import { Charts } from "./charts.js";
import { Cards } from "./cards.js";
import { drawCluster } from "./cluster.js";
import { call, si, ms, el, notice, dialog } from "./kit.js";

const $ = (id) => document.getElementById(id);
const store = { systems: new Map(), shown: "a" };
const charts = new Charts($("timeline"), $("phases"), $("range"));
const knobs = new Knobs($("knobs"), $("find"), () => cards.refresh());
const cards = new Cards($("cards"), $("pinned"), $("cardhint"));

const feed = new Feed((f) => {
  const s = store.systems.get(f.sys) || {};
  const changed = s.knobs_version !== f.knobs_version || s.epoch !== f.epoch;
  Object.assign(s, f, { window: f.windows.at(-1) || (s.epoch === f.epoch ? s.window : undefined) });
  store.systems.set(f.sys, s);
  if (f.sys === store.shown) {
    header(s);
    if (s.window) drawCluster($("cluster"), $("limit"), s.window);
  }
  if (changed) { knobs.refresh(); systems(); }
  if (f.windows.length || changed) charts.stale();
  if (f.events.length) { cards.refresh(); charts.stale(); }
  if (f.tasks.length) tasks(f.tasks);
}, (online) => {
  const p = $("state");
  if (!online) { p.textContent = "offline"; p.className = "pill offline"; }
}, () => { charts.stale(); cards.refresh(); knobs.refresh(); });

function header(s) {
  $("state").textContent = s.state;
  $("state").className = "pill " + s.state;
  $("pause").textContent = s.state === "paused" ? "Go on" : "Pause";
  $("tempo").textContent = s.state === "running" && s.speed > 0
    ? `1 s here = ${ms(s.speed)} in the cluster · now ${ms(s.virtual_ns)}` : `at ${ms(s.virtual_ns)} virtual`;
  if (document.activeElement !== $("pace")) {
    const p = String(s.pace);
    if (![...$("pace").options].some((o) => o.value === p)) $("pace").append(el("option", { value: p }, `${ms(s.pace)}/s`));
    $("pace").value = p;
  }
  notice(s.state === "failed" ? `system ${s.sys} failed: ${s.error} (its windows stay; Reset begins again)` : "");
  const w = s.window;
  if (!w) return;
  $("t-throughput").textContent = si(w.throughput) + "/s";
  $("t-p50").textContent = w.latency_us.p50 ? w.latency_us.p50.toFixed(1) + " µs" : "–";
  $("t-p99").textContent = w.latency_us.p99 ? w.latency_us.p99.toFixed(1) + " µs" : "–";
  $("t-aborts").textContent = (100 * w.abort_rate).toFixed(1) + " %";
  const c = w.checks, b = $("checks");
  if (!c || c.mode === "off") { b.textContent = "off"; b.className = "badge"; }
  else { b.textContent = c.ok ? `✓ ${si(c.transactions)}` : `✗ ${c.anomalies.length}`; b.className = "badge " + (c.ok ? "ok" : "bad"); }
}

$("checks").onclick = () => {
  const c = store.systems.get(store.shown)?.window?.checks;
  if (!c) return;
  const body = el("div", {}, el("p", {}, `Mode ${c.mode}; the protocol claims ${c.claimed}; ${si(c.transactions)} transactions looked at.`));
  if (!c.anomalies?.length) body.append(el("p", {}, "No anomaly: every dependency cycle that the claim forbids was looked for and not found."));
  for (const a of c.anomalies || []) {
    body.append(el("h3", {}, a.kind), el("p", {}, a.text || ""));
    if (a.cycle) body.append(el("pre", {}, JSON.stringify(a.cycle, null, 1)));
  }
  dialog("Checks", body);
};

async function control(action, more = {}) {
  await call("POST", `/api/control?sys=${action === "reset" ? store.shown : ""}`.replace("?sys=", action === "reset" ? "?sys=" : "?"), { action, ...more });
}
$("pause").onclick = () => control(store.systems.get("a")?.state === "paused" ? "resume" : "pause");
$("step").onclick = () => control("step");
$("reset").onclick = () => control("reset");
$("pace").onchange = (e) => control("pace", { virtual_ns: Number(e.target.value) });
$("range").onchange = () => charts.stale();
$("copy").onclick = async () => {
  const c = await call("GET", `/page/copy?sys=${store.shown}`);
  if (!c) return;
  const body = el("div");
  for (const [name, text] of [["Command", c.command], ["Notebook cell", c.notebook], ["Spec (YAML)", c.yaml]]) {
    const b = el("button", {}, "Copy");
    b.onclick = async () => { await navigator.clipboard.writeText(text); b.textContent = "Copied"; };
    body.append(el("h3", {}, name + " ", b), el("pre", {}, text));
  }
  dialog(`Take system ${store.shown} along`, body);
};
$("fork").onclick = async () => {
  const undo = knobs.latest();
  await call("POST", "/api/systems", { fork: "a", set: undo });
  systems();
};

async function systems() {
  const list = await call("GET", "/api/systems");
  if (!list) return;
  $("systems").replaceChildren(...list.map((s) => {
    const b = el("button", { "aria-pressed": String(s.sys === store.shown) }, s.sys === store.shown ? `● ${s.sys}` : s.sys);
    b.onclick = () => { store.shown = s.sys; knobs.sys = s.sys; knobs.refresh(); systems(); };
    const li = el("li", {}, b, el("span", {}, `${s.state} at ${ms(s.virtual_ns)}${s.forked_from ? `, ghost of ${s.forked_from}` : ""}`));
    if (s.sys !== "a") {
      const x = el("button", { title: `close system ${s.sys}` }, "Close");
      x.onclick = async () => { await call("DELETE", `/api/systems?sys=${s.sys}`); store.systems.delete(s.sys); if (store.shown === s.sys) { store.shown = "a"; knobs.sys = "a"; } systems(); charts.stale(); };
      li.append(x);
    }
    return li;
  }));
}

function tasks(list) {
  const t = $("tasks");
  t.replaceChildren(...list.map((x) => el("li", {}, x.name, el("progress", { max: x.total || 1, value: x.done }), x.state || "")));
}

async function steps() {
  const s = await call("GET", "/page/steps");
  if (!s) return;
  $("steps").replaceChildren(...s.steps.map((x) => {
    const b = el("button", {}, x.button);
    b.onclick = () => call("PATCH", `/api/knobs?sys=${store.shown}`, x.set);
    return el("li", {}, el("div", {}, x.question), b, el("div", { class: "hint" }, x.hint), el("blockquote", {}, `“${x.thesis.trim()}” ${x.section}`));
  }));
}

document.addEventListener("keydown", (e) => {
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "") || e.ctrlKey || e.metaKey || e.altKey || $("dialog").open) return;
  const act = { " ": "pause", s: "step", c: "copy", g: "fork" }[e.key];
  if (act) { if (document.activeElement?.tagName === "BUTTON" && e.key === " ") return; e.preventDefault(); $(act).click(); }
  if (e.key === "/") { e.preventDefault(); $("find").focus(); }
  if (e.key === "u") knobs.undoLatest();
});

const about = await call("GET", "/page/about");
if (about) {
  $("what").textContent = about.spec ? `· ${about.spec}` : "";
  $("plain").hidden = about.interactive;
  await charts.start(about.interactive);
}
await Promise.all([knobs.refresh(), steps(), systems(), cards.refresh()]);
feed.open();
