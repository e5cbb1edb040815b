import { $, call, el, glide, keyed, ms, say, set, si, signed } from "./kit.js";

const few = 30; // cards that are shown unasked

// A card for every change, and one for every ghost. A card grows surer as windows
// come; then it stays as it is.
export class Cards {
  constructor(on) {
    Object.assign(this, { on, list: [], most: few, told: null, asked: 0, answered: 0 });
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
    const list = this.list.map((c) => c.needs && !c.needs.ghost ? { ...c, paused: this.on.paused() } : c);
    const rivals = list.filter((c) => c.rival), newest = list.filter((c) => !c.rival).reduce((a, c) => !a || c.virtual_ns > a.virtual_ns ? c : a, null), render = (x, was) => x.undone ? folded(x, this.on, was) : card(x, this.on, was);
    keyed($("newest"), [...rivals, ...newest ? [newest] : []], keyOf, render);
    const before = list.filter((c) => c !== newest && !c.rival);
    keyed($("cards"), before.slice(0, this.most), keyOf, render);
    $("earlier").hidden = !before.length;
    $("morecards").hidden = before.length <= this.most;
    $("morecards").textContent = `Show the ${before.length - this.most} before them`;
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
          c.rows && !c.rival && act("Pin", "keep what was measured after it, to compare", () => on.pin({ ...c.after, title: c.number ? `system ${c.sys} after change ${c.number}` : `system ${c.after.sys}` })),
          c.number > 0 && act("Show", "show this moment on the time axis", () => on.look(c))))),
    c.moved?.length > 0 && el("p", { class: "hint moved" }, `${c.moved.length > 1 ? `${c.moved.length} other knobs moved` : "Another knob moved"}: ${c.moved.join(", ")}`),
    c.phases && el("details", { open: was?.querySelector("details")?.open }, el("summary", {}, "phases"), table(c.phases, sides)));
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
