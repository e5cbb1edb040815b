import { $, call, el, keyed, latest, say } from "./kit.js";

// The handbook: its topics, a page of it (#handbook/snapshots, #handbook/snapshots/clocks for a heading in it), and a search over all pages.
const first = "concepts"; // beside the list, where no page is named

export class Handbook {
  constructor(figures) {
    Object.assign(this, { figures, name: "", newest: latest() });
    addEventListener("hashchange", () => this.route()); // after those of figures and runs, which show the live page for every other address
    $("helpfind").oninput = () => { clearTimeout(this.typed); this.typed = setTimeout(() => this.search(), 150); };
    $("helpform").onsubmit = (e) => { e.preventDefault(); this.search(true); };
  }
  get open() { return !$("handbook").hidden; }

  async route() {
    const at = location.hash.match(/^#handbook(?:\/([\w-]+)(?:\/(.+))?)?$/), was = this.open;
    $("handbook").hidden = !at;
    if (!at) { if (was && !this.figures.open && $("runs").hidden) this.figures.on.leave(); return; }
    $("livepage").hidden = $("jump").hidden = true;
    for (const a of document.querySelectorAll("#views a")) if (a.hash === "#handbook") a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
    $("handbook").classList.toggle("one", !!at[1]);
    $("helpfind").value = "";
    this.hits(null);
    const name = at[1] || first;
    if (name !== this.name && !await this.load(name)) return;
    document.title = `drtmx: ${this.title}`;
    const heading = at[2] && $(`help-${decodeURIComponent(at[2])}`);
    if (heading) { heading.scrollIntoView(); heading.focus({ preventScroll: true }); } else scrollTo(0, 0);
  }
  // load shows a page; it is false where there is none, or another one was asked for meanwhile.
  async load(name) {
    const got = await this.newest(call("GET", `/page/help?id=${encodeURIComponent(name)}`, undefined, (line) => this.wrong(line)));
    if (!got) return false;
    this.wrong("");
    this.name = name;
    this.title = got.topics.find((t) => t.name === name).title;
    const items = [...got.topics.map((t) => ({ ...t, here: t.name === name }))];
    keyed($("helptopics"), items, (t) => t.name, (t) => el("a", { href: `#handbook/${t.name}`, "aria-current": t.here && "page" }, el("b", {}, t.title), el("small", {}, t.summary)));
    $("helppage").innerHTML = got.html; // of pages that are built in
    $("helppage").prepend(el("a", { id: "alltopics", href: "#handbook" }, "← all topics"));
    say(this.title);
    return true;
  }
  async search(go) {
    const words = $("helpfind").value.trim();
    if (!words) { this.hits(null); return; }
    const hits = await this.newest(call("GET", `/page/help/search?words=${encodeURIComponent(words)}`, undefined, (line) => this.wrong(line)));
    if (!hits || words !== $("helpfind").value.trim()) return;
    this.hits(hits, words.toLowerCase().split(/\s+/));
    if (go && hits.length) $("helphits").querySelector("a").focus();
  }
  // hits shows what was found in place of the page; null brings the page back.
  hits(list, words) {
    $("helppage").hidden = !!list;
    $("helphits").hidden = !list?.length;
    $("handbook").classList.toggle("found", !!list);
    $("helpcount").textContent = !list ? "" : list.length ? `${list.length} place${list.length > 1 ? "s" : ""}` : "No page has all of these words.";
    $("helphits").replaceChildren(...(list || []).map((h) => el("li", {}, el("a", { href: `#handbook/${h.page}${h.anchor && `/${h.anchor}`}` }, h.title, h.head && `: ${h.head}`), el("p", {}, ...marked(h.excerpt, words)))));
  }
  wrong(line) {
    $("helpwrong").textContent = line;
    $("helpwrong").hidden = !line;
  }
}

// marked puts words of a text into marks.
function marked(text, words) {
  const any = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i");
  return text.split(any).map((piece, i) => i % 2 ? el("mark", {}, piece) : piece);
}
