import { el } from "./kit.js";

// tip says what is under the pointer: where it is on X, and each line's value with its axis' name.
export function tip(o, at) {
  const panel = (p) => o.series[p.seriesIndex]?.yAxisIndex || 0;
  const rows = at.filter((p) => Array.isArray(p.value) && typeof p.value[1] === "number").sort((a, b) => panel(a) - panel(b));
  if (!rows.length) return el("div", {}, at[0]?.name || "");
  const x = titleOf(o.xAxis.at(-1));
  return el("div", {}, el("div", {}, `${x.name} ${number(rows[0].value[0])} ${x.unit}`), ...rows.map((p) => {
    const y = titleOf(o.yAxis[panel(p)]), dot = el("span", { class: "dot" });
    dot.style.background = p.color; // a style attribute would be against the content policy
    return el("div", {}, dot, `${p.seriesName}: ${o.yAxis.length > 1 ? `${y.name} ` : ""}`, el("b", {}, number(p.value[1])), ` ${y.unit}${p.name ? `, ${p.name}` : ""}`);
  }));
}

// titleOf takes an axis' title, name (unit), apart; where the axis begins is left out.
function titleOf(axis) {
  const [, name, unit] = (axis.name || "").match(/^(.*?)(?: \((.*?)\))?(?:, axis from .*|, log scale)?$/) || [];
  return { name: name || "", unit: unit || "" };
}

const number = (v) => String(Number.isInteger(v) ? v : Math.abs(v) >= 1e5 ? Math.round(v) : Number(v.toPrecision(5)));
