import { call, el } from "./kit.js";

const most = 4; // systems at once

// inPlace opens a system beside the others: open is called with "", or where all places are taken
// with the system that a reader chooses to give up. The question is asked in an element.
export async function inPlace(question, open) {
  const all = await call("GET", "/api/systems") || [];
  if (all.length < most) { open(""); return; }
  question.replaceChildren(el("p", {}, "Four systems run already, and that is the most. Which one shall it replace?"),
    el("div", { class: "acts" }, ...all.filter((s) => s.sys !== "a").map((s) => el("button", { class: `sys ${s.sys}`, onclick: () => open(s.sys) }, s.sys))), el("p", { class: "hint" }, "System a stays as long as the agent."));
  question.querySelector("button").focus();
}
