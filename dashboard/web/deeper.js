import { $, call, el, glide, keyed, say } from "./kit.js";
import { perfetto } from "./perfetto.js";

const lookEvery = 300, drawEvery = 1000; // ms

// Look deeper: one transaction over time, and the inside of a node. The server draws both; here they
// are put in place, and tell what is under the pointer.
export class Deeper {
  constructor(systems) {
    Object.assign(this, { systems, sys: "a", node: 0, drawn: "", nth: 0, at: -1, want: -1, waiting: null });
    $("pick").onclick = () => this.pick();
    $("pickcancel").onclick = () => call("DELETE", `/page/transaction?sys=${this.sys}`, {});
    $("txnback").onclick = () => this.turn(-1);
    $("txnon").onclick = () => this.turn(1);
    $("stepback").onclick = () => this.step(-1);
    $("stepon").onclick = () => this.step(1);
    $("perfetto").onclick = () => perfetto($("perfettofile").href);
    $("transaction").addEventListener("keydown", (k) => this.key(k));
    $("transaction").addEventListener("click", (e) => { const g = e.target.closest("[data-step]"); if (g) this.choose(this.steps().indexOf(g)); });
    $("inside").addEventListener("click", (e) => this.part(e.target.closest("[data-part]") || document.elementFromPoint(e.clientX, e.clientY)?.closest("[data-part]"))); // a drawing may have come between press and release
    $("inside").addEventListener("keydown", (k) => { const p = k.target.closest("[data-part]"); if (p && (k.key === "Enter" || k.key === " ")) { k.preventDefault(); k.stopPropagation(); this.part(p); } });
    $("zoom").onchange = () => this.show();
    $("transactionbox").ontoggle = () => this.refresh();
    $("insidebox").ontoggle = () => this.inside();
    $("insidenode").onchange = () => { this.node = Number($("insidenode").value); this.inside(); };
    $("beside").onchange = () => this.inside();
    $("cluster").addEventListener("click", (e) => { const at = e.target.closest("[data-node]"); if (at) this.open(Number(at.dataset.node)); });
    for (const id of ["historylines", "historyedn"]) $(id).onclick = (e) => this.history(e);
    for (const id of ["transaction", "inside"]) tips($(id));
    setInterval(() => { if ($("insidebox").open && !document.hidden && !$("livepage").hidden) this.inside(); }, drawEvery);
    addEventListener("resize", () => { clearTimeout(this.resized); this.resized = setTimeout(() => this.show(), 300); });
  }

  // refresh shows what there is of the system that is shown.
  refresh() {
    for (const a of document.querySelectorAll("a[data-of]")) a.href = a.dataset.of + this.sys;
    this.drawn = "";
    if (this.of !== this.sys) Object.assign(this, { of: this.sys, nth: 0, waiting: null });
    this.show();
    this.inside();
  }

  // turn goes to another of the transactions that were traced.
  turn(by) {
    const n = this.nth + by;
    if (n < 1 || n > this.count) return;
    Object.assign(this, { nth: n, drawn: "", want: -1 });
    this.show();
  }
  // steps are the phases and requests of the transaction, in the order in which they begin.
  steps() { return [...$("transaction").querySelectorAll("[data-step]")].sort((a, b) => a.dataset.at - b.dataset.at); }
  step(by) {
    const n = this.steps().length;
    if (n) this.choose(this.at < 0 ? (by > 0 ? 0 : n - 1) : Math.max(0, Math.min(this.at + by, n - 1)));
  }
  // choose marks a step and tells all of it.
  choose(i) {
    const all = this.steps();
    this.at = i;
    for (const g of all) g.classList.toggle("chosen", g === all[i]);
    $("stepwords").textContent = all[i] ? `${i + 1} of ${all.length}: ${all[i].dataset.step}` : "";
    if (!all[i]) return;
    const box = $("transaction"), r = all[i].getBoundingClientRect(), b = box.getBoundingClientRect();
    if (r.left < b.left || r.right > b.right) box.scrollLeft += r.left - b.left - 40;
  }
  key(k) {
    if (k.ctrlKey || k.metaKey || k.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[k.key], turn = { PageUp: -1, PageDown: 1 }[k.key];
    if (step) this.step(step); else if (turn) this.turn(turn); else if (k.key === "Escape" && this.at >= 0) { this.choose(-1); k.stopPropagation(); } else return;
    k.preventDefault();
  }
  // part follows some transactions, and lists their requests by how long they were at a part of the node.
  async part(p) {
    if (!p) return;
    this.waiting = { node: this.node, part: p.dataset.part };
    $("transactionbox").open = true;
    $("transactionbox").scrollIntoView({ behavior: glide() });
    await this.pick(this.waiting);
  }
  async waits() {
    const w = this.waiting, t = await call("GET", `/page/waits?sys=${this.sys}&node=${w.node}&part=${w.part}`, undefined, true);
    if (!t || w !== this.waiting) return;
    $("waitwords").textContent = t.words;
    const us = (ns) => ns < 1000 ? `${ns.toFixed(0)} ns` : `${(ns / 1000).toFixed(2)} µs`;
    $("waitlist").replaceChildren(...t.rows.map((r) => el("li", {}, el("button", { class: "link", onclick: () => this.request(r) }, `${us(r.ns)}, ${(100 * r.share).toFixed(0)} % of its time: ${r.text}`))));
    $("waitlist").querySelector("button")?.focus({ preventScroll: true });
    if (t.rows.length) this.request(t.rows[0]);
    say(t.words);
  }
  // request shows a request in its transaction.
  request(r) {
    Object.assign(this, { nth: r.n, drawn: "", want: r.verb });
    this.show();
  }

  // history saves nothing that the agent refuses: it says why instead.
  async history(e) {
    const a = e.currentTarget;
    if (a.asked) { a.asked = false; return; }
    e.preventDefault();
    const ok = await fetch(a.href, { method: "HEAD" }).then((r) => r.ok, () => false);
    if (!ok) { call("GET", `${a.getAttribute("href")}&to=0`); return; } // its answer says why, or is empty
    a.asked = true;
    a.click();
  }

  // listed offers the systems that one may be put beside another.
  listed() {
    const others = this.systems().filter((s) => s !== this.sys), now = $("beside").value;
    $("besidebox").hidden = !others.length;
    if (options($("beside"), [["", "nothing"], ...others.map((s) => [s, `system ${s}`])])) $("beside").value = others.includes(now) ? now : "";
  }

  async pick(waits) {
    $("pickfailed").hidden = true;
    if (!waits) this.waiting = null;
    $("waitwords").textContent = waits ? "Following some of them." : "";
    $("waitlist").replaceChildren();
    const began = await call("POST", `/page/transaction?sys=${this.sys}`, waits || { type: $("picktype").value, percentile: Number($("pickpercentile").value) });
    if (began) { Object.assign(this, { drawn: "", nth: 0, want: -1 }); this.show(); }
  }

  // show asks for the transaction, and again while one is being looked for.
  async show() {
    clearTimeout(this.timer);
    if (!$("transactionbox").open) return;
    const sys = this.sys, width = Math.max(300, $("transactionbox").clientWidth - 4);
    const t = await call("GET", `/page/transaction?sys=${sys}&n=${this.nth}&draw=1&w=${Math.floor(width)}&zoom=${$("zoom").value}`, undefined, true);
    if (!t || sys !== this.sys) return;
    const type = $("picktype").value;
    if (options($("picktype"), [["", "any type"], ...t.types.map((x) => [x, x])])) $("picktype").value = t.types.includes(type) ? type : "";
    $("picking").hidden = !t.looking;
    $("pick").disabled = t.looking;
    $("pickbar").max = t.total || 1;
    $("pickbar").value = t.done;
    $("pickingtext").textContent = t.total ? `${t.done} of at most ${t.total} transactions` : "";
    $("pickfailed").hidden = !t.failed;
    $("pickfailed").textContent = t.failed || "";
    $("pickwords").textContent = t.words || "";
    $("transaction").hidden = $("picktextbox").hidden = $("zoombox").hidden = !t.svg;
    $("waitbox").hidden = !this.waiting;
    $("foundbar").hidden = !t.svg;
    if (this.nth || !t.looking) this.nth = t.n; // while it is looked for, the latest is shown
    this.count = t.count;
    $("txnwhich").textContent = `${t.n} of ${t.count}`;
    $("txnback").disabled = t.n <= 1;
    $("txnon").disabled = t.n >= t.count;
    $("perfettofile").href = `/page/transaction/trace.json?sys=${sys}&n=${t.n}`;
    if (t.svg && t.svg !== this.drawn) {
      $("transaction").replaceChildren(picture(t.svg));
      $("picktext").textContent = t.text;
      this.drawn = t.svg;
      this.choose(this.want < 0 ? -1 : this.steps().findIndex((g) => Number(g.dataset.verb) === this.want));
    }
    if (this.looked && !t.looking && this.waiting) this.waits();
    this.looked = t.looking;
    if (t.looking) this.timer = setTimeout(() => this.show(), lookEvery);
  }

  // open shows the inside of a node.
  open(node) {
    this.node = node;
    $("insidebox").open = true;
    this.inside();
    $("insidebox").scrollIntoView({ behavior: glide() });
  }

  async inside() {
    if (!$("insidebox").open || this.asking) return;
    this.asking = true;
    const two = $("beside").value && innerWidth > 760, w = Math.min(630, Math.floor(($("inside").clientWidth - (two ? 40 : 12)) / (two ? 2 : 1)));
    const t = await call("GET", `/page/inside?sys=${this.sys}&beside=${$("beside").value}&node=${this.node}&w=${Math.max(300, w)}`, undefined, true);
    this.asking = false;
    if (!t) return;
    options($("insidenode"), Array.from({ length: t.nodes }, (_, i) => [String(i), String(i)]));
    $("insidenode").value = String(this.node);
    $("insidewords").textContent = t.drawings.length ? t.drawings.map((d) => (t.drawings.length > 1 ? `${d.sys}: ` : "") + d.words).join("; ") : t.nodes ? `there is no node ${this.node}` : "nothing measured yet";
    const on = document.activeElement?.closest?.("#inside [data-part]"), figure = on?.closest("figure")?.dataset.key, place = on ? [...on.ownerSVGElement.querySelectorAll("[data-part]")].indexOf(on) : -1;
    keyed($("inside"), t.drawings, (d) => d.sys, (d) => el("figure", {}, picture(d.svg)));
    if (on && !on.isConnected) $("inside").querySelector(`figure[data-key="${figure}"]`)?.querySelectorAll("[data-part]")[place]?.focus({ preventScroll: true }); // it is drawn anew each second
  }
}

// options fills a select, if that changes it.
function options(select, items) {
  const now = items.map(([v, t]) => `${v}=${t}`).join("|");
  if (select.dataset.items === now) return false;
  select.dataset.items = now;
  select.replaceChildren(...items.map(([value, text]) => el("option", { value }, text)));
  return true;
}

function picture(svg) {
  return document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
}

// tips says what is under the pointer, beside it; a tap does on a phone.
function tips(place) {
  const tip = $("tip"), hide = () => { tip.hidden = true; };
  const show = (e) => {
    const words = e.target.closest?.("[data-tip]")?.dataset.tip;
    if (!words) { hide(); return; }
    tip.textContent = words;
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - width - 8))}px`;
    tip.style.top = `${e.clientY + 16 + height < innerHeight ? e.clientY + 16 : e.clientY - height - 10}px`;
  };
  place.addEventListener("pointermove", show);
  place.addEventListener("pointerdown", show);
  place.addEventListener("pointerleave", hide);
  addEventListener("scroll", hide, { passive: true });
}
