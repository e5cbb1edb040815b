// The websocket feed. After a break it asks for what it missed; if that is no
// longer there, or the system began again, the panels reload.
export class Feed {
  constructor(frame, status, reload) {
    Object.assign(this, { frame, status, reload, seq: 0, wait: 250, epochs: {} });
  }
  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const ws = new WebSocket(`${scheme}://${location.host}/ws${this.seq ? `?since=${this.seq}` : ""}`);
    ws.onopen = () => { this.wait = 250; this.status(true); };
    ws.onmessage = (m) => {
      const f = JSON.parse(m.data);
      if (f.v !== 1) return;
      this.seq = f.seq || this.seq;
      if (f.gap) this.reload();
      if (!f.sys) return;
      if (this.epochs[f.sys] && this.epochs[f.sys] !== f.epoch) this.reload();
      this.epochs[f.sys] = f.epoch;
      this.frame(f);
    };
    ws.onclose = () => {
      this.status(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, 4000);
    };
  }
}
