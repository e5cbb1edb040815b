import { $, call, el, glide, keyed, ms, say, set, si, signed } from "./kit.js";

const few = 30; // cards that are shown unasked

// A card for every change, and one for every ghost. A card grows surer as windows
// come; then it stays as it is.
export class Cards {
  constructor(on) {
    Object.assign(this, { on, list: [], whys: new Map(), most: few, told: null, asked: 0, answered: 0 });
    $("morecards").onclick = () => {
      const first = this.most;
      this.most = Infinity;
      this.draw();
      $("cards").children[first]?.focus();
    };
  }
  // unsettled is true while another answer may say more: systems side by side have a card as soon as they are level.
  get unsettled() { return this.answered < this.asked || this.list.some((c) => !c.final) || this.on.many(); }
  // refresh fetches them, at most once a second.
  refresh(now) {
    if (this.timer && !now) return;
    clearTimeout(this.timer);
    const timer = this.timer = setTimeout(async () => {
      await this.load();
      if (this.timer === timer) this.timer = 0; // else a later one runs
    }, now ? 0 : 1000);
  }
  // load takes an answer unless a later question was answered before it.
  async load() {
    const question = ++this.asked, c = await call("GET", "/page/cards", undefined, true);
    if (!c || question < this.answered) return;
    this.answered = question;
    this.list = [...c.rivals, ...c.ghosts, ...c.changes];
    $("cardhint").hidden = this.list.length > 0;
    this.draw();
    const latest = c.changes.find((x) => x.sentence);
    if (this.told !== null && latest && keyOf(latest) !== this.told) say(`Change ${latest.number}: ${latest.sentence}`);
    this.told = latest ? keyOf(latest) : "";
  }
  // draw puts the newest card where it is in sight, and those before it further below; what
  // was undone is folded away.
  draw() {
    const list = this.list.map((c) => ({ ...c, ...c.needs && !c.needs.ghost && { paused: this.on.paused() }, ...!c.number && { why: this.whys.get(keyOf(c)) } }));
    const rivals = list.filter((c) => c.rival), newest = list.filter((c) => !c.rival).reduce((a, c) => !a || c.virtual_ns > a.virtual_ns ? c : a, null), render = (x, was) => x.undone ? folded(x, this.on, was) : card(x, { ...this.on, why: () => this.why(x) }, was);
    keyed($("newest"), [...rivals, ...newest ? [newest] : []], keyOf, render);
    const before = list.filter((c) => c !== newest && !c.rival);
    keyed($("cards"), before.slice(0, this.most), keyOf, render);
    $("earlier").hidden = !before.length;
    $("morecards").hidden = before.length <= this.most;
    $("morecards").textContent = `Show the ${before.length - this.most} before them`;
  }
  // why measures what limits both systems of a card, one after the other, and shows it with the difference. Causes that are there
  // already are not measured again.
  async why(c) {
    const key = keyOf(c), ask = () => call("GET", `/page/why?a=${c.before.sys}&b=${c.after.sys}`), tell = (w) => { this.whys.set(key, w); this.draw(); };
    let w = await ask();
    for (const sys of w?.measure || []) if (!await call("POST", `/api/causes?sys=${sys}`, {})) return;
    while (w && (w.running || w.measure.length)) {
      tell({ ...w, running: true });
      await new Promise((done) => setTimeout(done, 1000));
      if (!this.list.some((x) => keyOf(x) === key)) return;
      w = await ask();
      if (w && !w.running && w.measure.length) { tell({ ...w, failed: w.failed || "cancelled, or a knob was turned meanwhile: measure again" }); return; }
    }
    if (w) { tell(w); say(w.diff?.text || ""); }
  }
  // show scrolls to the card of a change.
  show(number) {
    if (this.list.findIndex((c) => c.number === number) >= this.most) $("morecards").click();
    const e = document.querySelector(`.cards [data-number="${number}"]`), fold = e?.closest(".folded");
    if (fold) fold.open = true;
    e?.scrollIntoView({ block: "center", behavior: glide() });
    e?.focus({ preventScroll: true });
  }
}

const keyOf = (c) => `${c.sys}/${c.number}/${c.rival ? "beside" : c.virtual_ns}`;

// folded is the card of a change that was taken back: a line, and the rest on demand.
function folded(c, on, was) {
  const how = c.undone === c.number ? "takes back what was before it" : `undone by ${c.undone}`;
  return el("details", { class: "folded", open: was?.matches("details") && was.open }, el("summary", {}, `${c.number}: ${c.title}, ${how}`), card(c, on, was));
}

function card(c, on, was) {
  const by = { page: "from the page", notebook: "from a notebook", script: "from a script" }[c.by] || "";
  const act = (name, title, onclick) => el("button", { class: "link", title, onclick }, name);
  const undo = Object.keys(c.undo || {}).length > 0, sides = c.number ? ["before", "after"] : c.rival ? [c.before.title, c.after.title] : ["ghost", "here"];
  return el("article", { class: `card${c.number ? "" : c.rival ? " rival" : " ghost"}${c.settling && c.final ? " brief" : ""}`, tabindex: -1, "data-number": c.number },
    el("h3", {}, el("span", { class: "number", "aria-label": c.number ? `change ${c.number}` : c.rival ? "side by side" : "ghost" }, c.number || (c.rival ? "⇄" : "◌")), c.title),
    el("div", { class: "body" },
      el("div", {}, el("p", { class: "hint" }, c.number ? `system ${c.sys} at ${ms(c.virtual_ns)} ${by}` : c.rival ? (c.virtual_ns ? `both since ${ms(c.virtual_ns)}, the latest change of either` : "both from the start on") : `both since ${ms(c.virtual_ns)}; here is system ${c.after.sys}`),
        c.with > 0 && el("p", { class: "hint" }, c.with > 1 ? `together with the ${c.with} changes right before it` : "together with the change right before it"),
        c.settling ? el("p", { class: "settling" }, c.settling) : el("p", {}, c.sentence),
        c.failed > 0 && el("p", {}, `${si(c.failed)} requests ended with an error because a machine was down.`),
        c.lost > 0 && el("p", {}, `${si(c.lost)} passively acknowledged writes were reported done but lost.`),
        c.rows && el("p", { class: "hint" }, `${c.before.windows} and ${c.after.windows} windows${c.after.skipped ? `, ${c.after.skipped} of the transient left out` : ""}${c.final ? "" : c.next_look ? `; judged again at ${c.next_look}` : ""}`),
        c.needs && needs(c, on)),
      el("div", {}, c.rows && table(c.rows, sides), c.absent && el("p", { class: "hint" }, c.absent),
        el("div", { class: "acts" },
          c.number > 0 && undo && act("Undo", c.with ? "take these changes back" : "take this change back", () => set(c.sys, c.undo)),
          c.number > 0 && undo && act("Ghost", "go on without this change and those after it, as a second system", () => on.ghost(c.sys, c.version - (c.with || 0))),
          !c.number && act("Why", "what limits each of the two, and the difference: both run again and again in the background, each time with a part of what takes time a tenth faster", () => on.why()),
          c.rows && !c.rival && act("Pin", "keep what was measured after it, to compare", () => on.pin({ ...c.after, title: c.number ? `system ${c.sys} after change ${c.number}` : `system ${c.after.sys}` })),
          c.number > 0 && act("Show", "show this moment on the time axis", () => on.look(c))))),
    c.why && because(c.why),
    c.moved?.length > 0 && el("p", { class: "hint moved" }, `${c.moved.length > 1 ? `${c.moved.length} other knobs moved` : "Another knob moved"}: ${c.moved.join(", ")}`),
    c.phases && el("details", { open: was?.querySelector("details")?.open }, el("summary", {}, "phases"), table(c.phases, sides)));
}

// because is what limits both systems of a card.
function because(w) {
  if (w.running) return el("p", { class: "hint" }, "Measuring what limits each of them: ", el("progress", { max: 1000, value: w.done, "aria-label": "causes of both systems" }));
  if (!w.diff) return el("p", { class: "hint" }, w.failed || "not measured");
  const d = w.diff, more = (g) => g ? `${signed(g.diff, (v) => v.toFixed(2))} ± ${g.half95.toFixed(2)}` : "–";
  return el("div", { class: "because" }, el("p", {}, d.text), el("div", { class: "slim", tabindex: 0, role: "region", "aria-label": "causes of both systems" }, el("table", { class: "rows" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "% more throughput for 1 % less of"), el("th", { scope: "col" }, d.a), el("th", { scope: "col" }, d.b), el("th", { scope: "col" }, "difference"), el("th", { scope: "col" }, "of p50"))),
    el("tbody", {}, ...d.rows.map((r) => el("tr", {}, el("th", { scope: "row" }, r.what), el("td", {}, r.a.toFixed(2)), el("td", {}, r.b.toFixed(2)),
      el("td", {}, r.gain.differs ? el("b", {}, more(r.gain)) : more(r.gain)), el("td", {}, r.p50?.differs ? el("b", {}, more(r.p50)) : more(r.p50))))))));
}

// needs says what length would tell the rows that are open, and offers it.
function needs(c, on) {
  const n = c.needs, names = n.rows.length > 1 ? `${n.rows.slice(0, -1).join(", ")} and ${n.rows.at(-1)}` : n.rows[0];
  const says = `About ${n.windows.toLocaleString("en")} windows on each side would tell ${names}: `;
  if (n.ghost) return el("p", { class: "needs" }, says, el("button", { class: "link", title: "a ghost goes on without the change, beside the system: both sides become as long as it takes", onclick: () => on.ghost(c.sys, c.version - (c.with || 0)) }, `compare side by side for ${ms(n.more_ns)}`));
  return el("p", { class: "needs" }, says, c.paused ? el("button", { class: "link", title: "let the cluster run on for so long, and pause again", onclick: () => on.run(n.more_ns) }, `run on for ${ms(n.more_ns)}`) : `${ms(n.more_ns)} more, while it runs`);
}

// table compares rows side by side; the interval decides about the verdict.
export function table(rows, [a, b]) {
  return el("table", { class: "rows" }, el("thead", {}, el("tr", {}, el("td"), el("th", { scope: "col" }, a), el("th", { scope: "col" }, b), el("th", { scope: "col" }, "difference"))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, el("th", { scope: "row", title: r.unit }, r.name.replace("ro_", "read-only "), /^\//.test(r.unit) ? "" : el("small", {}, ` ${r.unit || ""}`)), el("td", {}, si(r.before)), el("td", {}, si(r.after)),
      el("td", { class: r.verdict, title: r.why || r.ended && "every window before has some of it, and none after" || `${r.verdict}: ${signed(r.diff, si)} ± ${si(r.half95)} with 95 % confidence` }, ...[difference(r)].flat())))));
}

// A row that is open has no tick, and says why.
function difference(r) {
  const of = (v, sign) => r.before ? `${sign(100 * v / Math.abs(r.before), (x) => x.toFixed(1))}` : sign(v, si), unit = r.before ? " %" : "";
  if (r.verdict === "undecided" && !r.half95) return [of(r.diff, signed), unit, el("small", {}, r.drifts ? " still drifting" : ` ${r.says || "no interval"}`)];
  if (r.ended) return ["−100 %", el("small", {}, " 0 in every window")];
  const even = r.low === undefined || Math.abs(r.high + r.low - 2 * r.diff) < 0.1 * r.half95; // else an earlier look bounds it on one side
  return [even ? `${of(r.diff, signed)} ± ${of(r.half95, (v, text) => text(v))}${unit}` : `${of(r.diff, signed)}${unit}`, even ? "" : el("small", {}, ` ${of(r.low, signed)} to ${of(r.high, signed)}`), r.drifts ? el("small", {}, " still drifting") : ""];
}
