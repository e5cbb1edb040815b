package r2

// What only tests of this package use.

// SSDBusyPS is how long requests have crossed the link of a machine's SSD.
func (cl *Cluster) SSDBusyPS(m int) Time {
	return cl.disk(m, "the busy time").BusyPS(cl.sim.Now())
}

// Keep bounds the bytes of the file that are kept, 64 MB unless told. Of a longer one the oldest
// durable bytes are forgotten, as by Trim; whoever recovers from it sees by Kept that they are
// gone. That so many bytes are not durable yet ends the run: its logger does not keep up.
func (f *LogFile) Keep(bytes int64) { f.most = bytes }

// WriteSSD appends n bytes that nobody will read to the machine's SSD, and blocks a shared
// thread until they are durable. For bytes that count see LogFile.
func (c *Co) WriteSSD(n int) {
	t := c.logger("WriteSSD")
	if n <= 0 {
		return
	}
	d := c.w.cl.disk(c.w.machine, "WriteSSD")
	c.w.charge(d.Call + c.w.copyCost(n))
	c.sync()
	_, _, done := d.Write(c.w.cl.sim.Now(), d.Blocks(0, n))
	t.waitForDisk(done)
}

// Preempted counts how often the thread, or the worker of a coroutine, was taken off its core
// for another one. Between two calls with the same result it was not.
func (c *Co) Preempted() uint64 {
	if t := c.w.timed; t != nil {
		return t.lost
	}
	return 0
}
