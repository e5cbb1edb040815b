import { $, call, copier, dialog, el, keyed, say, si } from "./kit.js";
import { draw } from "./charts.js";
import { table } from "./cards.js";
import { inPlace } from "./places.js";

// The runs that are kept: a list with filters, one of them (#runs/r12, #runs/r12.3 for a run in it), or two side by
// side (#runs/r12,r13). The address says what is shown, so it can be kept and sent.
export class Runs {
  constructor(figures, on) {
    Object.assign(this, { figures, on, list: [], refs: [], turn: 0 });
    for (const id of ["runkind", "runworkload", "runpreset", "runsince"]) $(id).onchange = () => this.load();
    $("runnote").oninput = () => { clearTimeout(this.typed); this.typed = setTimeout(() => this.load(), 250); };
    $("runsform").onsubmit = (e) => { e.preventDefault(); this.load(); };
    $("moreruns").onclick = () => this.load(true);
    addEventListener("hashchange", () => this.route()); // after that of the figures, which shows the live page for every other address
  }
  get open() { return !$("runs").hidden; }

  route() {
    const at = location.hash.match(/^#runs(?:\/(.*))?$/), was = this.open;
    $("runs").hidden = !at;
    if (at) $("livepage").hidden = $("jump").hidden = true;
    const here = at ? "#runs" : this.figures.open ? "#figures" : "#live";
    for (const a of document.querySelectorAll("#views a")) if (a.hash === here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    if (!at) { this.refs = []; if (was && here === "#live") this.figures.on.leave(); return; }
    const refs = (at[1] ? decodeURIComponent(at[1]) : "").split(",").filter((x) => /^r\d+(\.\d+)?$/.test(x)).slice(0, 2);
    document.title = `drtmx: ${refs.join(" against ") || "runs"}`;
    if (String(refs) !== String(this.refs)) { this.refs = refs; this.show(); this.drawList(); }
    if (!was) { scrollTo(0, 0); this.load(); }
  }

  query(more) {
    const q = new URLSearchParams(), days = Number($("runsince").value);
    for (const [name, id] of [["kind", "runkind"], ["workload", "runworkload"], ["preset", "runpreset"], ["note", "runnote"]]) if ($(id).value) q.set(name, $(id).value);
    if (days) q.set("since_ms", Date.now() - days * 86400e3);
    if (more) q.set("until_ms", this.list.at(-1).at_ms);
    return q;
  }
  async load(more) {
    const turn = ++this.turn;
    const got = await call("GET", `/api/runs?${this.query(more)}`, undefined, (line) => this.wrong(line));
    if (!got || turn !== this.turn) return;
    this.wrong("");
    const seen = new Set(more ? this.list.map((k) => k.id) : []);
    this.list = [...(more ? this.list : []), ...got.runs.filter((k) => !seen.has(k.id))];
    const filtered = [...this.query()].length > 0;
    $("moreruns").hidden = !got.more;
    $("norun").hidden = this.list.length > 0 || filtered;
    $("runscount").textContent = this.list.length ? `${this.list.length}${got.more ? " and more" : ""}` : filtered ? "none is like that" : "";
    for (const [id, name] of [["runworkload", "workload"], ["runpreset", "preset"]]) this.offer($(id), this.list.map((k) => k[name]));
    this.drawList();
  }
  // offer adds values to a filter; those that were offered stay.
  offer(select, values) {
    const have = new Set([...select.options].map((o) => o.value));
    for (const v of [...new Set(values)].sort()) if (v && !have.has(v)) select.append(el("option", { value: v }, v));
  }
  wrong(line) {
    $("runswrong").textContent = line;
    $("runswrong").hidden = !line;
  }

  drawList() {
    const chosen = this.refs.map((r) => r.split(".")[0]), rows = this.list.map((k) => ({ ...k, side: this.refs.length > 1 ? "AB"[chosen.indexOf(k.id)] || "" : "", here: chosen.includes(k.id) }));
    const head = [["", ""], ["kept", "plain"], ["kind", "plain"], ["of", "plain"], ["throughput", ""], ["±", ""], ["p50 µs", ""], ["p99 µs", ""], ["aborts", ""], ["checks", ""], ["note and knobs", "words"], ["", ""]];
    if (!rows.length) { $("runlist").replaceChildren(); return; }
    let t = $("runlist").querySelector("table");
    if (!t) {
      t = el("table", { class: "rows", "aria-label": "kept runs" }, el("thead", {}, el("tr", {}, ...head.map(([h, c]) => el("th", { scope: "col", class: c || undefined }, h)))), el("tbody"));
      $("runlist").replaceChildren(t);
    }
    keyed(t.tBodies[0], rows, (k) => k.id, (k) => this.row(k));
  }
  row(k) {
    const share = (x) => x === undefined ? "–" : `${si(100 * x)} %`, us = (x) => x === undefined ? "–" : si(x), at = new Date(k.at_ms);
    const checks = k.checks === undefined ? "–" : k.checks ? el("span", { class: "better" }, "ok") : el("span", { class: "worse" }, "failed");
    return el("tr", { class: k.here ? "here" : undefined },
      el("th", { scope: "row" }, el("a", { href: `#runs/${k.id}` }, k.id)), el("td", { class: "plain", title: at.toString() }, when(at)), el("td", { class: "plain" }, k.points > 1 ? `${k.kind} of ${k.points}` : k.kind),
      el("td", { class: "plain" }, `${k.workload} ${k.preset}`), el("td", {}, k.throughput === undefined ? "–" : `${si(k.throughput)}/s`), el("td", {}, share(k.throughput_ci95)), el("td", {}, us(k.p50_us)), el("td", {}, us(k.p99_us)), el("td", {}, share(k.abort_rate)), el("td", {}, checks),
      el("td", { class: "words" }, k.note && el("b", {}, `${k.note} `), el("span", { class: k.note ? "hint" : undefined }, k.about)),
      el("td", {}, el("button", { "aria-pressed": String(k.here), title: k.here ? `let go of ${k.id}` : `compare ${k.id}`, onclick: () => this.toggle(k.id) }, k.side || (k.here ? "✓" : "compare"))));
  }
  // toggle takes a run into the comparison, or out of it. Of three the first goes.
  toggle(id) {
    const refs = this.refs.some((r) => r.split(".")[0] === id) ? this.refs.filter((r) => r.split(".")[0] !== id) : [...this.refs, id].slice(-2);
    location.hash = refs.length ? `#runs/${refs}` : "#runs";
  }

  async show() {
    const refs = this.refs, place = $("runplace"), shown = this.shown = (this.shown || 0) + 1;
    if (!refs.length) { place.replaceChildren(); return; }
    let wrong = "";
    const infos = await Promise.all(refs.map((id) => call("GET", `/page/run?id=${id}`, undefined, (line) => { wrong = line; })));
    const many = infos.find((i) => i && !i.one && !i.seeds);
    const c = refs.length > 1 && !wrong && !many && await call("GET", `/page/run/compare?a=${refs[0]}&b=${refs[1]}`, undefined, (line) => { wrong = line; });
    if (shown !== this.shown) return;
    const close = el("button", { class: "link", "aria-label": "close", onclick: () => { location.hash = "#runs"; } }, "✕");
    if (wrong) place.replaceChildren(el("p", { class: "wrong" }, wrong, close));
    else if (c) place.replaceChildren(this.beside(refs, infos, c, close));
    else place.replaceChildren(...infos.filter((i) => refs.length < 2 || !i.one && !i.seeds).map((i) => this.card(i, close)));
    if (c) draw(place.querySelector(".chart"), `/page/run/chart?a=${refs[0]}&b=${refs[1]}`, { high: 300 });
    else for (const e of place.querySelectorAll(".chart")) draw(e, `/page/run/chart?a=${e.dataset.ref}`, { high: e.classList.contains("many") ? 420 : 300 });
    say(c ? `${refs[0]} against ${refs[1]}` : refs[0]);
  }
  card(k, close) {
    const facts = (list) => el("table", { class: "rows" }, el("tbody", {}, ...list.map((f) => el("tr", {}, el("th", { scope: "row" }, f.name), el("td", {}, f.text)))));
    const copy = (name, text) => el("button", { onclick: () => dialog(name, el("h3", {}, "This run again", copier(text)), el("pre", { tabindex: 0 }, text)) }, name);
    return el("article", { class: "card", "aria-label": k.ref },
      el("div", { class: "head" }, el("h3", {}, `${k.ref}: ${k.note || k.about || k.kind}`), el("span", { class: "hint" }, `a ${k.kind} kept ${new Date(k.at_ms).toLocaleString()}`), close),
      !k.one && this.within(k),
      k.table && this.table(k),
      k.one && el("div", { class: "acts" }, el("button", { onclick: () => this.live(k.ref) }, "Open live"), k.command && copy("Command", k.command), k.notebook && copy("Notebook cell", k.notebook), el("span", { class: "hint" }, "choose a second one in the list to compare")),
      el("div", { id: "runreplace" }),
      k.one && el("div", { class: "two" }, el("section", {}, el("h2", {}, "Measured"), facts(k.facts)), el("section", {}, el("h2", {}, k.knobs.length ? "Knobs that are not the defaults" : "All knobs have their defaults"), facts(k.knobs)), el("section", {}, el("h2", {}, "Distribution of latency"), el("div", { class: "chart", role: "img", "data-ref": k.ref, "aria-label": "cumulative distribution of latency" })),
        k.changes && el("section", {}, el("h2", {}, "Changes in the session"), facts(k.changes))));
  }
  // table has the runs of a row of several, and their chart.
  table(k) {
    const t = k.table, line = (r) => el("tr", {}, ...r.cells.map((c, i) => i ? el("td", { class: c === "FAILED" ? "worse" : undefined }, c) : el("th", { scope: "row" }, r.ref ? el("a", { href: `#runs/${r.ref}` }, c) : c)),
      r.why && el("td", { class: "plain", colspan: Math.max(1, t.head.length - r.cells.length) }, r.why));
    return el("div", { class: "two" }, el("section", {}, el("div", { class: "chart many", role: "img", "data-ref": k.ref, "aria-label": `the runs of ${k.ref}; the table beside it has them` })),
      el("section", { class: "scroll" }, el("table", { class: "rows", "aria-label": `the runs of ${k.ref}` }, el("thead", {}, el("tr", {}, ...t.head.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...t.rows.map(line))), t.note && el("p", { class: "hint" }, t.note)));
  }
  // within is the way to one of several runs.
  within(k) {
    const n = el("input", { type: "number", min: 1, max: k.points, value: 1, "aria-label": "number of the run" });
    return el("div", {}, k.note && el("p", {}, k.about), k.figure && el("p", {}, el("a", { href: `#figures/${encodeURIComponent(k.figure)}` }, `Figure ${k.figure}`)),
      k.missing > 0 && el("p", { class: "hint" }, `${k.missing} of ${k.points} results have left the cache of points; the ${k.kind} computes them again.`),
      k.points > 0 && el("form", { class: "within", onsubmit: (e) => { e.preventDefault(); const ref = `${k.id}.${n.value}`; location.hash = `#runs/${this.refs.length > 1 ? this.refs.map((r) => r === k.ref ? ref : r) : ref}`; } }, el("label", {}, `of its ${k.points} runs show number `, n), el("button", {}, "Show")));
  }
  beside([a, b], [A, B], c, close) {
    const swap = el("button", { class: "link", onclick: () => { location.hash = `#runs/${b},${a}`; } }, "⇄ swap");
    return el("article", { class: "card beside", "aria-label": `${a} against ${b}` },
      el("div", { class: "head" }, el("h3", {}, `A: ${a} ${A.note}  against  B: ${b} ${B.note}`), swap, close),
      c.same && el("p", { class: "hint" }, "The same run twice: equal digests."),
      el("div", { class: "two" }, el("section", {}, el("h2", {}, "Numbers"), table(c.rows, ["A", "B"]), ...c.limit.map((l, i) => l && el("p", { class: "hint" }, `${"AB"[i]} is ${l}`))),
        el("section", {}, el("h2", {}, c.knobs.length ? `${c.knobs.length === 1 ? "One knob differs" : `${c.knobs.length} knobs differ`}` : "No knob differs"), c.knobs.length > 0 && el("table", { class: "rows" }, el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, "A"), el("th", { scope: "col" }, "B"))), el("tbody", {}, ...c.knobs.map((k) => el("tr", {}, el("th", { scope: "row" }, k.name), el("td", {}, k.a), el("td", {}, k.b)))))),
        el("section", {}, el("h2", {}, "Distribution of latency"), el("div", { class: "chart", role: "img", "aria-label": "cumulative distributions of latency, A and B" }))),
      (A.seeds || B.seeds) && el("p", { class: "hint" }, "Several seeds are compared by their means; the distributions are of the first seed."),
      el("div", { class: "acts" }, ...[[a, A], [b, B]].map(([ref, k], i) => k.one && el("button", { onclick: () => this.live(ref) }, `Open ${"AB"[i]} live`))), el("div", { id: "runreplace" }));
  }
  // live opens the system of a run beside the others.
  live(ref) {
    return inPlace($("runreplace"), async (replace) => {
      const s = await call("POST", `/api/runs/${ref}/live`, { replace });
      if (!s) return;
      location.hash = "#live";
      this.on.opened(s.sys);
      say(`System ${s.sys} is that of ${ref}.`);
    });
  }
}

// when is a day and a time, or a date of another year.
function when(at) {
  const two = (n) => String(n).padStart(2, "0"), day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return at.getFullYear() === new Date().getFullYear() ? `${day} ${two(at.getHours())}:${two(at.getMinutes())}` : `${at.getFullYear()}-${day}`;
}
