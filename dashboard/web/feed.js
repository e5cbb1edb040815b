// The websocket feed. After a break it asks for what it missed; if that is no
// longer there, or a system began again, the panels reload.
export class Feed {
  constructor(on) {
    Object.assign(this, { on, seq: 0, wait: 250, epochs: {}, shown: "" });
  }
  // show tells the agent which system the page shows: that one gets a twin.
  show(sys) {
    this.shown = sys;
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify({ show: sys }));
  }
  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const ws = this.ws = new WebSocket(`${scheme}://${location.host}/ws${this.seq ? `?since=${this.seq}` : ""}`);
    ws.onopen = () => { this.wait = 250; this.on.status(true); if (this.shown) this.show(this.shown); };
    ws.onmessage = (m) => {
      const f = JSON.parse(m.data);
      if (f.v !== 1) return;
      if (f.gap || this.seq > f.seq) this.on.reload();
      this.seq = f.seq;
      if (!f.sys) return;
      if (this.epochs[f.sys] && this.epochs[f.sys] !== f.epoch) this.on.reload();
      this.epochs[f.sys] = f.epoch;
      this.on.frame(f);
    };
    ws.onclose = () => {
      this.on.status(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, 4000);
    };
  }
}
