import { call } from "./kit.js";

// The two charts. The server draws them: as an echarts option, or as SVG where
// the library is not built in. Here they are fetched when they are stale, at
// most three times a second, and not while the page is hidden.
export class Charts {
  constructor(timeline, phases, range) {
    Object.assign(this, { timeline, phases, range, dirty: true, busy: false, interactive: false });
    setInterval(() => this.tick(), 330);
  }
  stale() { this.dirty = true; }
  async start(interactive) {
    if (!interactive) return;
    await new Promise((done) => {
      const s = document.createElement("script");
      s.src = "/vendor/echarts.min.js";
      s.onload = () => { this.interactive = true; done(); };
      s.onerror = done;
      document.head.append(s);
    });
    if (!this.interactive) return;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const make = () => {
      for (const e of [this.timeline, this.phases]) {
        window.echarts.getInstanceByDom(e)?.dispose();
        window.echarts.init(e, dark.matches ? "dark" : null, { renderer: "canvas" });
      }
      this.dirty = true;
    };
    dark.addEventListener("change", make);
    make();
    addEventListener("resize", () => { for (const e of [this.timeline, this.phases]) window.echarts.getInstanceByDom(e)?.resize(); });
  }
  async tick() {
    if (!this.dirty || this.busy || document.hidden) return;
    this.busy = true;
    this.dirty = false;
    try {
      const last = this.range.value;
      await Promise.all([this.draw(this.timeline, `/page/timeline?last=${last}`), this.draw(this.phases, "/page/phases")]);
    } finally { this.busy = false; }
  }
  async draw(e, url) {
    if (!this.interactive) {
      const r = await fetch(url + (url.includes("?") ? "&" : "?") + "format=svg");
      if (!r.ok) return;
      const img = e.querySelector("img") || e.appendChild(document.createElement("img"));
      img.alt = e.getAttribute("aria-label");
      const old = img.src;
      img.src = URL.createObjectURL(await r.blob());
      if (old) URL.revokeObjectURL(old);
      return;
    }
    const o = await call("GET", url);
    if (!o) return;
    o.backgroundColor = "transparent";
    const c = window.echarts.getInstanceByDom(e);
    if (e === this.phases) {
      const bars = o.yAxis?.[0]?.data?.length || 1;
      const h = `${130 + 44 * bars}px`;
      if (e.style.height !== h) { e.style.height = h; c.resize(); }
    }
    c.setOption(o, { replaceMerge: ["series", "xAxis", "yAxis", "grid"] });
  }
}
