import { $, call, el, glide, keyed, say } from "./kit.js";

// The gallery of the figures: a small picture of each, what became of its claims, and a
// button that computes what a chapter lacks. The agent computes; the page may be left.
export class Gallery {
  constructor() {
    this.most = new Map(); // how many of a chapter's figures were under way at once
    this.scale = new Map(); // that a reader chose for a chapter
  }

  show(list) {
    this.list = list;
    const chapters = [...new Set(list.map((f) => f.chapter))].map((n) => {
      const figures = list.filter((f) => f.chapter === n), going = figures.filter((f) => f.status === "running");
      const most = going.length ? Math.max(this.most.get(n) || 0, going.length) : 0;
      if (!going.length && this.most.get(n)) say(`Chapter ${n} is computed.`);
      this.most.set(n, most);
      return { n, figures, going, most, scale: this.scale.get(n) || "quick" };
    });
    keyed($("chapters"), chapters.map((c) => c.n), String, leader);
    keyed($("gallery"), chapters, (c) => String(c.n), (c, was) => this.chapter(c, was));
  }
  chapter({ n, figures, going, most, scale }, was) {
    const cards = was?.querySelector("ul") || el("ul"); // pictures that stay do not flicker
    keyed(cards, figures, (f) => f.id, card);
    return el("section", { "aria-label": `chapter ${n}` },
      el("div", { class: "head" }, el("h2", {}, `Chapter ${n}`), going.length ? this.progress(n, going, most) : this.offer(n, figures, scale)), cards);
  }
  // offer computes what a chapter lacks at a scale, and what other code has made; paper scale is more than quick scale.
  offer(n, figures, scale) {
    const there = figures.filter((f) => f.instant || f.claims && (scale === "quick" || f.scale === "paper")), other = there.filter((f) => f.made?.differs).length;
    const computed = there.length, all = figures.length;
    const choose = el("select", { "aria-label": `scale of chapter ${n}`, onchange: (e) => { this.scale.set(n, e.target.value); this.show(this.list); } }, ...["quick", "paper"].map((s) => el("option", { value: s, selected: s === scale }, `${s} scale`)));
    return el("span", { class: "acts" }, (computed < all || other > 0) && el("button", { title: `one figure after the other, at ${scale} scale`, onclick: () => call("POST", "/api/figures", { chapter: n, scale }) }, computed < all ? computed ? "Compute the rest" : "Compute the chapter" : other === 1 ? "Compute that one anew" : `Compute these ${other} anew`), choose,
      el("span", { class: "hint" }, `${computed} of ${all} computed${scale === "paper" ? " at paper scale, which takes every core for hours" : ""}${other ? `, ${other} with other code than this program has` : ""}`));
  }
  // progress counts figures, and the runs of the one that is computed.
  progress(n, going, most) {
    const now = going.find((f) => !f.waits) || going[0], part = now.total ? now.done / now.total : 0;
    return el("span", { class: "acts" }, el("progress", { max: most, value: most - going.length + part, "aria-label": `chapter ${n}` }),
      el("span", { class: "hint" }, `${now.scale} scale, ${now.id}${now.total ? `: ${now.done} of ${now.total} runs` : ""}${going.length > 1 ? `, ${going.length - 1} more to go` : ""}`),
      el("button", { onclick: () => call("DELETE", "/api/figures", { chapter: n }) }, "Cancel"));
  }
}

// leader leads to a chapter: an address that did would be that of the live page.
const leader = (n) => el("button", { class: "link", onclick: () => document.querySelector(`#gallery [data-key="${n}"]`).scrollIntoView({ behavior: glide() }) }, `Chapter ${n}`);

const card = (f) => el("li", {}, el("a", { href: `#figures/${encodeURIComponent(f.id)}`, class: f.status },
  el("img", { src: `/page/figure/sketch?id=${encodeURIComponent(f.id)}&v=${f.sketch}`, alt: "", loading: "lazy", width: 220, height: 124 }),
  el("span", {}, el("b", {}, f.id), ` ${f.title}`), el("small", { class: "state" }, ...state(f))));

// state is what became of a figure: how many claims hold, or why there is nothing yet.
function state(f) {
  if (f.status === "running") return [f.waits ? "waits" : f.total ? `${f.done} of ${f.total} runs` : "begins"];
  const c = f.claims, words = [[c?.holds, "holds", "✓", "hold"], [c?.contradicted, "contradicted", "✗", "contradicted"], [c?.undecided, "undecided", "?", "undecided"]];
  const counts = words.filter(([n]) => n).map(([n, name, sign, word]) => el("span", { class: `verdict ${name}`, title: `${n} ${word}` }, `${sign} ${n}`));
  if (f.status === "failed") return ["✗ failed", ...counts];
  if (!c) return [f.instant ? "as they are recorded" : "not computed"];
  if (f.scale === "paper") counts.push(el("span", {}, "paper scale"));
  if (f.made?.differs) counts.push(el("span", { class: "older", title: f.made.text }, "other code"));
  return counts.length ? counts : ["computed; no claims"];
}
