import { $, call, el, glide, keyed } from "./kit.js";

const lookEvery = 300, drawEvery = 1000; // ms

// Look deeper: one transaction over time, and the inside of a node. The server draws both; here they
// are put in place, and tell what is under the pointer.
export class Deeper {
  constructor(systems) {
    Object.assign(this, { systems, sys: "a", node: 0, drawn: "" });
    $("pick").onclick = () => this.pick();
    $("pickcancel").onclick = () => call("DELETE", `/page/transaction?sys=${this.sys}`, {});
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
    this.show();
    this.inside();
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

  async pick() {
    $("pickfailed").hidden = true;
    const began = await call("POST", `/page/transaction?sys=${this.sys}`, { type: $("picktype").value, percentile: Number($("pickpercentile").value) });
    if (began) { this.drawn = ""; this.show(); }
  }

  // show asks for the transaction, and again while one is being looked for.
  async show() {
    clearTimeout(this.timer);
    if (!$("transactionbox").open) return;
    const sys = this.sys, width = Math.max(300, $("transactionbox").clientWidth - 4);
    const t = await call("GET", `/page/transaction?sys=${sys}&draw=1&w=${Math.floor(width)}&zoom=${$("zoom").value}`, undefined, true);
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
    if (t.svg && t.svg !== this.drawn) {
      $("transaction").replaceChildren(picture(t.svg));
      $("picktext").textContent = t.text;
      this.drawn = t.svg;
    }
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
    keyed($("inside"), t.drawings, (d) => d.sys, (d) => el("figure", {}, picture(d.svg)));
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
