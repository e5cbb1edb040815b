package r2

import (
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/sim"
)

// What a core has just written for its RNIC is in the LLC: the RNIC finds it there, as it
// finds the requests that were written beside it, and no channel of DRAM is used.
func TestPayloadsAreFetchedFromTheCache(t *testing.T) {
	b := newBed(t, 2, Config{Threads: 1, Coroutines: 1, MaxMessage: 4096}, fabric.Config{})
	b.cl.handle(3, func(c *Co, from Peer, req, rep []byte) int { return 0 })
	bus := func() (busy Time) {
		for _, u := range b.f.Usage(nil) {
			if u.Resource == metrics.MemoryBus && u.Node == 0 {
				busy += Time(u.BusyPS)
			}
		}
		return busy
	}
	p := b.f.Profile()
	bytes := func(n float64) Time { return Time(1000 * n / p.PCIe.Bandwidth.Value) } // over PCIe
	finished := false
	b.cl.Spawn(0, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		var from Time
		for k := range 2000 { // until all buffers that are used have been before
			if k == 1900 {
				from = bus()
			}
			c.Reset()
			c.Call(1, 3, make([]byte, 256))
			c.Wait()
			c.Write(b.loc(1, 0), make([]byte, 256))
			d := metrics.NewBreakdown()
			c.TakeBreakdown(d)
			c.Wait()
			clear(d)
			c.TakeBreakdown(d)
			got, want := Time(d[phaseExecution][metrics.Doorbell]), 3*p.PCIe.OneWay.Time()+p.Memory.LLCDMA.Time()
			least, most := want+bytes(256), want+bytes(256+2*p.PCIe.HeaderReply.Value)+1 // one packet or two
			if k >= 1900 && (got < least || got > most) {
				t.Fatalf("from the doorbell until 256 bytes are in the RNIC: %d ps, three crossings, the LLC and the bytes are %d to %d", got, least, most)
			}
		}
		if now := bus(); now != from {
			t.Errorf("sending 256 bytes 200 times kept the channels of DRAM busy for %d ps", now-from)
		}
		finished = true
	})
	b.run(20 * sim.Millisecond)
	if !finished {
		t.Fatal("not finished")
	}
}
