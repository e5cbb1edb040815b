// The page: one feed, a few panels. Numbers are judged on the server.
import { Feed } from "./feed.js";
import { Knobs } from "./knobs.js";
import { Charts } from "./charts.js";
import { Cards } from "./cards.js";
import { Pins } from "./pins.js";
import { Steps } from "./steps.js";
import { Figures } from "./figures.js";
import { Runs } from "./runs.js";
import { Handbook } from "./help.js";
import { Ghosts, about as ghostly, wait } from "./ghosts.js";
import { badge, openChecks } from "./checks.js";
import { Deeper } from "./deeper.js";
import { Strip } from "./strip.js";
import { Sweep } from "./sweep.js";
import { Panels } from "./panels.js";
import { averaged, downText, drawCluster, emptyBreakdown } from "./cluster.js";
import { Causes, limitLine, verdict } from "./causes.js";
import { $, call, calm, copier, dialog, el, glide, keyed, ms, notice, set, si } from "./kit.js";

const recent = 10; // windows that the numbers above and the picture are means of
const systems = new Map();
let shown = "a", code = "", drawing = 0, list = [];

const knobs = new Knobs();
const charts = new Charts((number) => cards.show(number), () => { pins.draw(); figures.refresh(); sweep.draw(); });
const pins = new Pins();
const cards = new Cards({ paused: () => allStand(), run: (ns) => control("step", { virtual_ns: ns }), many: () => list.length > 1, ghost: (sys, version) => ghosts.ask(sys, version), pin: (p) => pins.add(p), look: (c) => {
  const w = 4e6;
  charts.look([Math.max(0, c.before.from_ns || c.virtual_ns - w, c.virtual_ns - 4 * w), c.after.to_ns || c.virtual_ns + w], c.sys, c.after.windows && [c.after.from_ns, c.after.to_ns]);
  $("live").scrollIntoView({ behavior: glide() });
} });
const steps = new Steps(knobs, { each: (values) => strip.many ? strip.set(values) : knobs.set(values), ghostThen: async (values) => { const c = await set(shown, values); if (c) ghosts.ask(shown, c.version); } });
const ghosts = new Ghosts({ shown: () => shown, standing: () => standing(shown), version: () => standing(shown)?.knobs_version || 1, opened: async () => { charts.now(); await listSystems(); cards.refresh(true); } });
const figures = new Figures(knobs, { opened: async (sys) => { await listSystems(); choose(sys); }, leave: () => { charts.stale(); show(); } });
const kept = new Runs(figures, { opened: async (sys) => { await listSystems(); choose(sys); } });
const handbook = new Handbook(figures);

const causes = new Causes(() => shown);
const strip = new Strip();
const panels = new Panels({ shown: () => charts.stale() });
const deeper = new Deeper(() => list.map((s) => s.sys));
const sweep = new Sweep(() => shown, { opened: async (sys) => { await listSystems(); choose(sys); } });

const feed = new Feed({
  frame(f) {
    const s = systems.get(f.sys) || { windows: [] };
    const changed = s.knobs_version !== f.knobs_version || s.epoch !== f.epoch, moved = changed || s.state !== f.state || f.events.length;
    const ws = changed && f.windows.length ? f.windows : [...(s.epoch === f.epoch && !f.gap ? s.windows : []), ...f.windows];
    systems.set(f.sys, { ...f, windows: ws.slice(-recent), merged: together(changed ? {} : s.merged, f.windows) });
    if (f.sys === shown) { show(); if (f.windows.length) panels.stale(); }
    if (changed && f.sys === shown) { knobs.refresh(); causes.draw(f.knobs_version); sweep.knobs(f.knobs_version); }
    if (moved) { listSystems(); cards.draw(); }
    if (f.windows.length || f.events.length) charts.stale();
    if (f.events.length) cards.refresh(true);
    else if (f.windows.length && cards.unsettled) cards.refresh();
    tasks(f.tasks);
    ghosts.frame(f);
  },
  status(online) {
    if (online) { calm(); return; }
    $("state").textContent = "offline";
    $("state").className = "pill offline";
    notice("The agent does not answer. The page goes on by itself when it is back.");
  },
  reload: all,
});

// show writes the numbers above and the cluster, at most eight times a second.
function show() {
  if (drawing || document.hidden) return;
  drawing = setTimeout(() => { drawing = 0; header(); }, 120);
}

// standing is how a system stands: by its latest frame, and before there is one
// (a paused system sends none) by the list.
function standing(sys) { return systems.get(sys) || list.find((s) => s.sys === sys); }

// allStand is true when what is shown is paused, or has failed and the others are
// paused: then the button, which is for all, lets them go on.
function allStand() {
  const state = standing(shown)?.state, others = list.map((s) => standing(s.sys).state);
  return state === "paused" || state === "failed" && others.includes("paused") && others.every((x) => x === "paused" || x === "failed");
}

function header() {
  const s = standing(shown);
  if (!s) return;
  const gone = downText(knobs.down);
  $("state").title = stateText(s.state, gone);
  $("state").textContent = stateText(s.state, downText(knobs.down, true));
  $("state").className = `pill ${s.state}${gone ? " down" : ""}`;
  $("pause").textContent = allStand() ? "Go on" : "Pause";
  $("tempo").textContent = $("tempo").title = tempo(s);
  if (document.activeElement !== $("pace")) {
    const p = String(s.pace);
    if (![...$("pace").options].some((o) => o.value === p)) $("pace").insertBefore(el("option", { value: p }, `${Number((s.pace / 1e6).toPrecision(3))} ms/s`), [...$("pace").options].find((o) => o.value === "0" || Number(o.value) > s.pace));
    $("pace").value = p;
  }
  behind();
  notice(s.state === "failed" ? `System ${s.sys} failed: ${s.error} (what it measured stays; Reset begins again)` : s.unrecorded ? `The session is no longer written: ${s.unrecorded} (the cluster runs on; what was written before is kept)` : "");
  $("systemtile").hidden = list.length < 2;
  $("t-system").textContent = calls(list.find((x) => x.sys === shown));
  tiles(s.windows || [], s.merged || {});
}

// calls is what a system is called beside others: by its spec's name where these differ.
function calls(s) {
  if (!s) return "";
  const named = new Set(list.filter((x) => !x.forked_from).map((x) => x.name)).size > 1;
  return s.forked_from && list.some((x) => x.sys === s.forked_from && x.epoch === s.fork_epoch) ? `ghost ${s.sys}` : named && s.name && !s.forked_from ? `${s.sys}: ${s.name}` : s.sys;
}

const stateText = (state, gone) => !gone ? state : state === "running" ? gone : `${state}, ${gone}`;

function tempo(s) {
  if (s.state === "paused" || s.state === "failed") return `stands at ${ms(s.virtual_ns)}`;
  return `1 s here = ${s.speed > 0 ? ms(s.speed) : "…"} in the cluster, at ${ms(s.virtual_ns)}`;
}

// tiles writes the means of the latest windows. Without any, what stood there
// was of before a reset, or another system's.
function tiles(ws, merged) {
  const limit = verdict(ws);
  drawCluster(averaged(ws), knobs.down, limit);
  const why = charts.span ? "" : emptyBreakdown(ws, knobs.down);
  $("phaseswhy").hidden = !why;
  $("phaseswhy").textContent = why;
  limitLine(limit, ws);
  if (!ws.length) {
    for (const id of ["t-throughput", "t-p50", "t-p99", "t-aborts", "checks"]) $(id).textContent = "–";
    $("checks").className = "badge";
    $("rolledtile").hidden = $("emptytile").hidden = $("failedtile").hidden = true;
    return;
  }
  const mean = (f) => { const v = ws.map(f).filter((x) => x); return v.length ? v.reduce((a, b) => a + b) / v.length : 0; };
  $("t-throughput").textContent = si(mean((x) => x.throughput)) + "/s";
  for (const q of ["p50", "p99"]) percentile($("t-" + q), q, mean((x) => x.latency_us[q]), merged[q], Math.max(...ws.map((x) => x.commits)));
  const tries = ws.reduce((a, x) => a + x.commits + x.rollbacks + x.aborts, 0);
  $("t-aborts").textContent = share(ws.reduce((a, x) => a + x.aborts, 0), tries);
  const rolled = ws.reduce((a, x) => a + x.rollbacks, 0), done = ws.reduce((a, x) => a + x.commits, rolled);
  $("rolledtile").hidden = !rolled;
  $("t-rolled").textContent = share(rolled, done);
  const found = emptyRequests(ws);
  $("emptytile").hidden = !found.empty;
  $("emptytile").title = found.text;
  $("t-empty").textContent = share(found.empty, done - rolled);
  const failed = ws.reduce((a, x) => a + (x.failed || 0), 0), lost = ws.reduce((a, x) => a + (x.lost || 0), 0), ended = ws.reduce((a, x) => a + x.commits + x.rollbacks, failed);
  $("failedtile").hidden = !(failed + lost);
  $("failedtile").title = `${si(failed)} requests ended with an error, ${si(lost)} passive ones are lost: a machine crashed`;
  $("t-failed").textContent = share(failed, ended);
  badge($("checks"), ws.at(-1).checks);
}

// emptyRequests tells who wonders about the throughput how many requests found nothing to do, and whether they are in it.
function emptyRequests(ws) {
  const sum = (f) => ws.reduce((a, x) => a + (x[f] || 0), 0), empty = sum("empty"), uncounted = sum("uncounted");
  const counted = !uncounted ? "all of them are in the throughput" : uncounted === empty ? "none of them is in the throughput" : `${si(uncounted)} of them are not in the throughput`;
  return { empty, text: `of the commits, ${si(empty)} found nothing to do: a key that is missing or taken, or no result; ${counted}` };
}

// together keeps the latest percentiles that neighbouring windows have together, where each has too few requests.
function together(was, ws) {
  const now = { ...was };
  for (const { merged: m } of ws) for (const q of ["p50", "p99"]) if (m?.[`${q}_windows`]) now[q] = { us: m[`${q}_us`], windows: m[`${q}_windows`] };
  return now;
}

// percentile writes one: of the latest windows, or of as many together as it takes, or how many requests are still to come. Ten
// have to lie above it.
const samples = { p50: 20, p99: 1000 };
function percentile(e, q, us, merged, commits) {
  const takes = samples[q].toLocaleString("en"), shown = us || merged?.us;
  e.replaceChildren(shown ? `${si(shown)} µs` : "–", shown || !commits ? "" : el("small", {}, `gathering ${takes} requests`));
  e.title = us ? "" : merged ? `of ${merged.windows} neighbouring windows together: a ${q} takes ${takes} requests` : `a ${q} takes ${takes} requests; the fullest of the last ten windows has ${commits}, so windows are taken together until they have enough`;
}

const share = (n, of) => of ? (100 * n / of).toFixed(n < of / 10 ? 2 : 0) + " %" : "–";

// behind says how far systems are behind the first one, and how long one that
// replays will take, as fast as it did until now: a long session takes minutes.
const seen = new Map(); // where and when systems that catch up were first seen
function behind() {
  const now = standing("a")?.virtual_ns;
  for (const li of $("systems").children) {
    const x = list.find((s) => s.sys === li.dataset.key), at = (catchesUp(x) ? x : standing(li.dataset.key))?.virtual_ns ?? now, gap = now - at;
    li.querySelector("small").textContent = x?.forked_from && gap > 2e6 ? `${ms(gap)} behind${catchesUp(x) ? left(x, gap) : ""}` : "";
  }
  for (const sys of seen.keys()) if (!list.some((s) => s.sys === sys && catchesUp(s))) seen.delete(sys);
}

const catchesUp = (s) => s?.catching_up || s?.behind;

function left(s, gap) {
  const was = seen.get(s.sys), wall = performance.now();
  if (!was || s.virtual_ns < was.at) { seen.set(s.sys, { at: s.virtual_ns, wall }); return ""; }
  if (s.virtual_ns === was.at) return "";
  const seconds = gap / (s.virtual_ns - was.at) * (wall - was.wall) / 1000;
  return `, about ${wait(seconds)} more`;
}

function what() {
  document.body.classList.toggle("requests", knobs.transactions === false);
  const v = (n) => knobs.value(n), some = (n, of) => `${v(n)} ${of}${v(n) > 1 ? "s" : ""} × ${v(`${of}.threads`) || v("threads")}`;
  const size = v("servers") ? `${some("servers", "server")}, ${some("clients", "client")}` : `${v("nodes")} nodes × ${v("threads")}`;
  const more = v("oracle") ? " and an oracle's" : "";
  const cc = knobs.by.get("cc"), on = !knobs.by.get("phase.lock")?.active ? v("profile") : cc.value === cc.default ? v("preset") : cc.value;
  $("what").textContent = $("what").title = v("preset") ? `${v("workload")} on ${on}, ${size} threads${more}` : "";
}

async function control(action, more = {}, sys = "") { return call("POST", `/api/control${sys && `?sys=${sys}`}`, { action, ...more }); }

// whoIsDown tells which machines of a system are down: asked again when its knobs have changed.
const downs = new Map();
async function whoIsDown(s) {
  const as = `${s.epoch}/${s.knobs_version}`;
  if (downs.get(s.sys)?.as !== as && !s.catching_up) { // its knobs are not those of its version before
    const k = await call("GET", `/page/knobs?sys=${s.sys}`, undefined, true);
    if (k) downs.set(s.sys, { as, gone: downText(k.down || []) });
  }
  return downs.get(s.sys)?.gone || "";
}

// listSystems draws the list anew. Answers may come in another order than they were asked for, and one
// may fail: an older one does not replace a newer one, and it asks again until no system is on its way.
async function listSystems() {
  const nr = listSystems.asked = (listSystems.asked || 0) + 1;
  const now = await call("GET", "/api/systems", undefined, true);
  if (!now || now.some(catchesUp)) listSystems.again ||= setTimeout(() => { listSystems.again = 0; listSystems(); }, 500);
  if (!now || nr < listSystems.drawn) return;
  const gone = await Promise.all(now.map(whoIsDown));
  if (nr < listSystems.drawn) return;
  listSystems.drawn = nr;
  list = now;
  if (list.length && !list.some((s) => s.sys === shown)) { choose(list[0].sys); return; } // another page closed it, or the agent is another
  show();
  for (const sys of systems.keys()) if (!list.some((s) => s.sys === sys)) systems.delete(sys);
  pins.forget(list);
  deeper.listed();
  strip.refresh(list);
  const named = new Set(list.filter((s) => !s.forked_from).map((s) => s.name)).size > 1;
  const items = list.map((s, i) => ({ sys: s.sys, name: named && !s.forked_from ? s.name : "", state: catchesUp(s) ? "catching up" : stateText(s.state, gone[i]), without: s.without, forked: now.some((o) => o.sys === s.forked_from && o.epoch === s.fork_epoch) && s.forked_from, at: s.fork_ns, shown: s.sys === shown, many: list.length > 1 }));
  keyed($("systems"), items, (s) => s.sys, (s) => el("li", {}, el("button", { "aria-pressed": String(s.shown), class: `sys ${s.sys}${s.forked ? " fork" : ""}`, title: `show the knobs and the cluster of ${s.sys}`, onclick: () => choose(s.sys) }, s.sys),
    el("span", {}, s.forked ? ghostly(s) : s.name ? el("b", {}, s.name, " ") : "", s.state, " ", el("small")),
    s.sys !== "a" && el("button", { class: "link", title: `close system ${s.sys}`, onclick: async () => { await call("DELETE", `/api/systems?sys=${s.sys}`, {}); if (shown === s.sys) choose("a"); listSystems(); charts.stale(); cards.refresh(true); } }, "close")));
}

function choose(sys) {
  shown = knobs.sys = charts.sys = deeper.sys = panels.sys = sys;
  panels.stale();
  deeper.refresh();
  feed.show(sys);
  knobs.refresh(); steps.refresh(); causes.refresh(); sweep.choose(); listSystems(); show(); charts.stale();
}

function tasks(all) {
  figures.tasks(all);
  causes.tasks(all);
  sweep.tasks(all);
  const now = all.filter((t) => !t.state), names = now.map((t) => t.name);
  $("tasks").hidden = !now.length;
  keyed($("tasks"), names, (name) => name, (name) => el("li", {}, name.startsWith("figure ") ? el("a", { href: `#figures/${name.slice(7)}` }, name) : name.replace(/^catch up (.)$/, "ghost $1 catches up"), " ", el("progress"),
    /^(catch up|history of) /.test(name) && el("button", { class: "link", title: name.startsWith("c") ? "give this ghost up" : "stop writing this history", onclick: () => call("DELETE", `/api/tasks?name=${encodeURIComponent(name)}`, {}) }, "cancel")));
  now.forEach((t, i) => { const bar = $("tasks").children[i].querySelector("progress"); bar.max = t.total || 1; bar.value = t.done; });
  if (tasks.were !== names.join()) { tasks.were = names.join(); listSystems(); }
}

async function all() {
  const about = await call("GET", "/page/about", undefined, true);
  if (about && code && about.code !== code) { location.reload(); return; }
  code = about?.code || code;
  charts.stale(); panels.stale(); cards.refresh(true); figures.refresh();
  await Promise.all([knobs.refresh(), listSystems(), steps.refresh(), causes.refresh(), sweep.choose()]);
  return about;
}

$("pause").onclick = () => control(allStand() ? "resume" : "pause");
$("step").onclick = () => control("step", { virtual_ns: knobs.value("window_ns") || 400000 });
$("reset").onclick = () => control("reset", {}, shown);
$("pace").onchange = (e) => control("pace", { virtual_ns: Number(e.target.value) });
$("checks").onclick = () => openChecks(standing(shown)?.windows?.at(-1)?.checks);
$("pinstate").onclick = () => pins.now(shown);
$("fork").onclick = () => ghosts.latest();
$("copy").onclick = async () => {
  const c = await call("GET", `/page/copy?sys=${shown}`);
  if (c) dialog(`Take system ${shown} along`, ...[["Command", c.command], ["Notebook cell", c.notebook], ["Spec", c.yaml]].flatMap(([name, t]) => [el("h3", {}, name, copier(t)), el("pre", { tabindex: 0 }, t)]));
};
const keys = { " ": ["pause", "pause or go on"], s: ["step", "one window further"], u: [null, "undo the latest change"], g: [null, "ghost: go on without the latest change"], p: ["pinstate", "pin this state"],
  c: ["copy", "copy as command, notebook cell, YAML"], k: ["checks", "what the checker says"], "/": [null, "find a knob"], f: [null, "figures, and back"], r: [null, "kept runs, and back"], h: [null, "the handbook, and back"], "?": ["help", "this"] };
$("help").onclick = () => dialog("Help and keyboard shortcuts", el("dl", { class: "keys" }, ...Object.entries(keys).flatMap(([k, [, t]]) => [el("dt", {}, el("kbd", {}, ({ " ": "space", Escape: "Esc" })[k] || k)), el("dd", {}, t)])),
  el("p", {}, "Drag over a chart to look at that span of time closely; double-click or Esc goes back. A click on the name of a line hides it. With the focus on a chart, arrows move along the time, Enter marks the ends of a span, plus and minus zoom."),
  el("p", {}, "A mark on the time axis is a change; its number is that of the card below. A card compares the windows before and after, without the transient; ± is the 95 % interval, and = says that the interval has zero in it; ✓ is better and ! is worse."),
  el("p", {}, "A ghost goes on without a change and those after it: a dashed line. A hidden twin of the system shown follows it on spare CPU time and stays behind when a knob is turned, so the ghost of the latest change is there at once. That of an older change is replayed in the background."),
  el("p", {}, el("a", { href: "#handbook/page", onclick: () => $("dialog").close() }, "The page, view by view"), " is a page of the handbook."));
document.addEventListener("keydown", (e) => {
  const at = document.activeElement;
  if (e.ctrlKey || e.metaKey || e.altKey || $("dialog").open || at?.matches("select,textarea,input:not([type=checkbox],[type=range])")) {
    if (e.key === "Escape" && at === $("find")) { $("find").value = ""; knobs.draw(); at.blur(); }
    return;
  }
  if (handbook.open && e.key === "/") { e.preventDefault(); $("helpfind").focus(); return; }
  if ((figures.open || kept.open || handbook.open) && !["?", "f", "r", "h"].includes(e.key)) return;
  if (e.key === "Escape") { if (charts.back()) e.preventDefault(); return; }
  if (!keys[e.key] || e.key === " " && at?.matches("button,input,summary,a")) return;
  e.preventDefault();
  if (e.key === "f") location.hash = figures.open ? "#live" : "#figures";
  else if (e.key === "r") location.hash = kept.open ? "#live" : "#runs";
  else if (e.key === "h") location.hash = handbook.open ? "#live" : "#handbook";
  else if (e.key === "/") $("find").focus();
  else if (e.key === "u") knobs.undoLatest();
  else if (e.key === "g") ghosts.latest(true);
  else $(keys[e.key][0]).click();
});

const onchange = knobs.onchange;
knobs.onchange = () => { onchange(); what(); show(); };
charts.window = () => knobs.value("window_ns") || 0;
document.addEventListener("visibilitychange", show);
new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${$("top").offsetHeight}px`)).observe($("top"));
feed.show(shown);
figures.route();
kept.route();
handbook.route();
feed.open(); // lines and numbers wait for nothing else
all().then(() => sweep.draw());
