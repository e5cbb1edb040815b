// Small things every panel needs.

export function el(tag, attrs = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
}

export function si(v) {
  for (const [f, p] of [[1e9, " G"], [1e6, " M"], [1e3, " k"]]) if (Math.abs(v) >= f) return (v / f).toPrecision(3) + p;
  return Number(v).toPrecision(3).replace(/\.?0+$/, "");
}

export function ms(ns) {
  const v = ns / 1e6;
  return v >= 1000 ? (v / 1000).toFixed(2) + " s" : (v < 10 ? v.toFixed(2) : v.toFixed(1)) + " ms";
}

let shownNotice = "";
export function notice(text) {
  if (text === shownNotice) return;
  shownNotice = text;
  const n = document.getElementById("notice");
  n.textContent = text;
  n.hidden = !text;
}

let passing;
// flash shows an error line for a while.
export function flash(text) {
  notice(text);
  clearTimeout(passing);
  passing = setTimeout(() => notice(""), 8000);
}

// call talks to the agent; errors are its one line and are shown.
export async function call(method, path, body) {
  try {
    const r = await fetch(path, {
      method, headers: body ? { "Content-Type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
    });
    if (r.status === 401) { location.href = "/login"; return; }
    const text = await r.text();
    if (!r.ok) { flash(text.trim() || `${method} ${path}: ${r.status}`); return; }
    return text ? JSON.parse(text) : {};
  } catch (e) {
    flash(`the agent does not answer: ${e.message}`);
  }
}

export function dialog(title, body) {
  document.getElementById("dialogtitle").textContent = title;
  document.getElementById("dialogbody").replaceChildren(body);
  document.getElementById("dialog").showModal();
}
