import { flash } from "./kit.js";

const viewer = "https://ui.perfetto.dev", patience = 15000, every = 100; // ms

// perfetto hands a trace to the viewer, in a window of its own: it answers PONG when it is there, and then takes the file. The file
// does not leave the browser. Where the viewer cannot be reached the link beside the button saves the file.
export async function perfetto(file) {
  const w = open(viewer), offline = () => flash("Perfetto does not answer: save the file and open it there when you are online");
  if (!w) { flash("the browser opens no window for Perfetto: save the file and open it there"); return; }
  const trace = fetch(file).then((r) => r.arrayBuffer());
  const ping = setInterval(() => w.postMessage("PING", viewer), every), late = setTimeout(() => { end(); offline(); }, patience);
  const end = () => { clearInterval(ping); clearTimeout(late); removeEventListener("message", answer); };
  async function answer(m) {
    if (m.origin !== viewer || m.source !== w || m.data !== "PONG") return;
    end();
    w.postMessage({ perfetto: { buffer: await trace, title: "drtmx: a transaction", fileName: "transaction.json" } }, viewer);
  }
  addEventListener("message", answer);
}
