// Small things that every panel needs.

export const $ = (id) => document.getElementById(id);

export function el(tag, attrs = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) {
    if (v === undefined || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null && c !== false));
  return e;
}

const NS = "http://www.w3.org/2000/svg";
export function shape(tag, attrs = {}, ...children) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

// keyed makes the children of a root from items and leaves those alone that are
// as they were, so that focus and selection stay where they are, and a click that
// has begun on one ends there: even to take it out and put it back would undo that.
export function keyed(root, items, keyOf, render) {
  const old = new Map([...root.children].map((e) => [e.dataset.key, e])), refocus = focusIn(root);
  const next = items.map((x) => {
    const key = String(keyOf(x)), as = JSON.stringify(x), was = old.get(key);
    if (was && was.drawnAs === as) return was;
    const e = render(x, was);
    e.dataset.key = key;
    e.drawnAs = as;
    return e;
  });
  const stay = new Set(next);
  for (const e of [...root.children]) if (!stay.has(e)) e.remove();
  next.forEach((e, i) => { if (root.children[i] !== e) root.insertBefore(e, root.children[i] || null); });
  refocus();
}

// focusIn remembers which control of a root has the focus. What it returns is called when
// the root has other children, and gives the focus to the control of the same name, else to the
// one that is in its place or, where there is none, to one near it: without a pointer one would
// have to begin at the top of the page. It is false if nothing in the root can take it.
export function focusIn(root) {
  const controls = (e) => [...e.querySelectorAll("a[href],button,input,select,summary")];
  const at = document.activeElement, i = [...root.children].findIndex((e) => e.contains(at)), was = root.children[i];
  const place = was ? controls(was).indexOf(at) : -1, twins = (all) => all.filter((e) => e.tagName === at.tagName && nameOf(e) === nameOf(at));
  const twin = was ? twins(controls(was)).indexOf(at) : -1; // one card may have two of a name
  return () => {
    if (!was || root.contains(at)) return true;
    const now = [...root.children], same = now.find((e) => e.dataset.key === was.dataset.key), inside = same ? controls(same) : [];
    const near = [at === was ? same : twins(inside)[twin], inside[place], ...inside.slice(0, Math.max(place, 0)).reverse(), ...inside, ...now.slice(0, i + 1).reverse().flatMap(controls), ...controls(root)];
    return near.some((e) => { e?.focus({ preventScroll: true }); return e && document.activeElement === e; });
  };
}

const nameOf = (control) => control.id || control.getAttribute("aria-label") || control.textContent;

// glide is how to scroll to what was asked for: what a script asks for goes before a style sheet.
export const glide = () => matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth";

export function si(v) {
  for (const [f, p] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) if (Math.abs(v) >= f) return digits(v / f) + p;
  return digits(v);
}

function digits(v) {
  const a = Math.abs(v);
  return Number.isInteger(v) && a < 1000 ? String(v) : a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 0.005 || a === 0 ? v.toFixed(2) : v.toPrecision(1);
}

export const signed = (v, text) => (v < 0 ? "−" : "+") + text(Math.abs(v));

export function ms(ns) {
  const v = ns / 1e6;
  return v >= 10000 ? (v / 1000).toFixed(2) + " s" : (v < 10 ? v.toFixed(2) : v.toFixed(1)) + " ms";
}

let lasting = "", passing;
export function notice(text) {
  lasting = text;
  if (!passing) show(text);
}

// flash shows an error line for a while.
export function flash(text) {
  show(text);
  clearTimeout(passing);
  passing = setTimeout(() => { passing = 0; show(lasting); }, 9000);
}

// calm takes an error line away: what it complained of has been put right.
export function calm() {
  if (!passing) return;
  clearTimeout(passing);
  passing = 0;
  show(lasting);
}

function show(text) {
  if ($("notice").textContent === text) return;
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

// say is for those who listen to the page.
export function say(text) { $("said").textContent = text; }

// latest makes a filter of answers, which may come in another order than they were asked for: it gives that to the latest question,
// undefined in place of the others.
export function latest() {
  let asked = 0;
  return async (answer) => { const mine = ++asked, a = await answer; return mine === asked ? a : undefined; };
}

// call talks to the agent; an error is its one line and is shown, unless quiet, which
// may be a function that takes it.
export async function call(method, path, body, quiet) {
  let r, text;
  try {
    r = await fetch(path, { method, headers: { "Drtmx-By": "page", ...body && { "Content-Type": "application/json" } }, body: body && JSON.stringify(body) });
    text = await r.text();
  } catch {
    if (!quiet) flash("the agent does not answer");
    else if (quiet.call) quiet("the agent does not answer");
    return;
  }
  if (r.status === 401) { location.href = "/login"; return; }
  if (!r.ok) {
    const line = text.trim() || `${method} ${path}: ${r.status}`;
    if (!quiet) flash(line);
    else if (quiet.call) quiet(line);
    return;
  }
  if (method !== "GET") calm();
  return text ? JSON.parse(text) : {};
}

export const set = (sys, values) => call("PATCH", `/api/knobs?sys=${sys}`, values);

export function dialog(title, ...body) {
  $("dialogtitle").textContent = title;
  $("dialogbody").replaceChildren(...body);
  $("dialog").showModal();
}

// copier puts a text into the clipboard. Browsers have one for pages of this
// machine and over https only; elsewhere the text is selected.
export function copier(text) {
  const b = el("button", { onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(b.parentElement.nextElementSibling);
      b.textContent = "Selected: Ctrl-C";
    }
    say(b.textContent);
  } }, "Copy");
  return b;
}
