import { $, call, el, latest, say, shape } from "./kit.js";

// What limits the system that is shown: the verdict on its latest windows in a line,
// and its causes, measured in the background when a reader asks for them.

const barWidth = 84;

let named; // what the latest verdict named: of nodes as busy as each other, the same stays named

// verdict is what most of the windows say, in the words of the latest of those.
export function verdict(windows) {
  const said = windows.map((w) => w.limit).filter((l) => l), count = {};
  for (const l of said) count[l.verdict] = (count[l.verdict] || 0) + 1;
  const word = Object.keys(count).sort((a, b) => count[b] - count[a])[0];
  const of = said.filter((l) => l.verdict === word);
  return named = of.findLast((l) => l.of === named?.of && l.node === named?.node) || of.at(-1);
}

// limitLine writes a verdict on windows. Without one it says what became of their requests.
export function limitLine(v, windows) {
  const line = $("limit"), fails = windows.some((w) => w.failed || w.lost);
  line.textContent = v ? v.text : !windows.length ? "nothing measured yet" : fails ? "every request fails in the latest windows" : "no request ended in the latest windows";
  line.title = "contended: conflicts take at least half of the time in flight. Else saturated: the busiest unit is busy at least 85 % of the time. Else latency-bound: requests wait for round trips. Causes measures what would change it.";
  hot(windows);
}

// hot lists the records with the most conflicts of the latest windows, while there are many.
function hot(windows) {
  const of = new Map();
  let lost = 0;
  for (const w of windows) {
    lost = Math.max(lost, w.contention?.lost_share || 0);
    for (const h of w.contention?.hot || []) {
      const key = `${h.table}/${h.key}`, x = of.get(key) || { key, conflicts: 0, aborts: 0, wait: 0 };
      of.set(key, { key, conflicts: x.conflicts + h.conflicts, aborts: x.aborts + h.aborts, wait: x.wait + h.lock_wait_us });
    }
  }
  const rows = [...of.values()].sort((a, b) => b.conflicts - a.conflicts || (a.key < b.key ? -1 : 1)).slice(0, 5);
  $("hot").hidden = lost < 0.1 || !rows.length;
  if ($("hot").hidden) return;
  $("hotrows").replaceChildren(...rows.map((h) => el("tr", {}, el("th", { scope: "row" }, h.key), el("td", {}, String(h.conflicts)), el("td", {}, String(h.aborts)), el("td", {}, `${h.wait.toFixed(0)} µs`))));
}

export class Causes {
  constructor(sys) {
    this.sys = sys; // tells which system is shown
    this.state = null;
    this.busy = false;
    this.latest = latest();
    $("measure").onclick = () => this.measure("");
    $("stopcauses").onclick = () => call("DELETE", `/api/causes?sys=${this.sys()}`, {});
    $("allcauses").onclick = () => this.measure("");
  }

  async measure(group) {
    if (!await call("POST", `/api/causes?sys=${this.sys()}`, { group })) return;
    $("causes").hidden = false;
    $("causes").scrollIntoView({ block: "nearest" });
    this.refresh();
  }

  // tasks hears from the feed what is going on.
  tasks(all) {
    const mine = all.find((t) => t.name === `causes of ${this.sys()}` && !t.state);
    $("measure").disabled = !!mine;
    $("causesrun").hidden = !mine;
    if (mine) {
      $("causes").hidden = false;
      $("causesbar").max = mine.total || 1;
      $("causesbar").value = mine.done;
    }
    if (this.busy && !mine) { this.refresh(); say("the causes have been measured"); }
    this.busy = !!mine;
  }

  async refresh() {
    const sys = this.sys(), s = await this.latest(call("GET", `/api/causes?sys=${sys}`, undefined, true));
    if (s && sys === this.sys()) { this.state = s; this.draw(); }
  }

  // draw writes what there is; the present version of the knobs tells if it is old.
  draw(version) {
    const s = this.state;
    if (version) this.version = version;
    $("causes").hidden = !s || !(s.running || s.failed || s.causes);
    if ($("causes").hidden) return;
    $("causesfailed").textContent = s.failed || "";
    $("causesfailed").hidden = !s.failed;
    const c = s.causes;
    $("causerows").replaceChildren(...(c ? this.rows(c) : []));
    $("causetable").hidden = !c;
    $("allcauses").hidden = !c || c.everything || s.running;
    const old = this.version && this.version !== s.knobs_version ? "The knobs have changed since: measure again. " : "";
    $("causehint").textContent = !c ? "The system runs again and again, each time with one part of what takes time a tenth faster. The live one goes on meanwhile, slower." :
      `${old}${c.partial ? "Cancelled: intervals rest on the runs that were finished. " : ""}Bars: % more throughput for 1 % less of that time, mean of ${c.seeds} pairs of runs; lines are 95 % intervals. ${c.total || ""}`;
  }

  rows(c) {
    const span = Math.max(0.2, ...c.elasticities.map((e) => e.throughput + (e.ci95 || 0)));
    return c.elasticities.map((e) => el("tr", {}, el("th", { scope: "row" }, c.everything ? el("button", { class: "link", title: "measure the numbers and costs of this group one by one", onclick: () => this.measure(e.group) }, e.what) : e.what),
      el("td", { class: "bars" }, bar(e, span)), el("td", {}, plusMinus(e.throughput, e.ci95)), el("td", {}, plusMinus(e.p50, e.p50_ci95)), el("td", {}, plusMinus(e.p99, e.p99_ci95))));
  }
}

const plusMinus = (x, half) => x === undefined ? "–" : x.toFixed(2) + (half === undefined ? "" : ` ± ${half.toFixed(2)}`);

// bar draws an elasticity and its interval; what is below 0 is cut off.
function bar(e, span) {
  const at = (v) => Math.max(0, Math.min(barWidth, v / span * barWidth)), svg = shape("svg", { viewBox: `0 0 ${barWidth + 2} 12`, "aria-hidden": "true" });
  svg.append(shape("rect", { x: 0, y: 2, width: at(e.throughput), height: 8, class: "cause" }));
  if (e.ci95 !== undefined) svg.append(shape("line", { x1: at(e.throughput - e.ci95), x2: at(e.throughput + e.ci95), y1: 6, y2: 6, class: "interval" }));
  return svg;
}
