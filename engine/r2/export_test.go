package r2

import "drtmx/engine/r2/core"

// What only tests of this package use.

// SSDBusyPS is how long requests have crossed the link of a machine's SSD.
func (cl *Cluster) SSDBusyPS(m int) Time {
	return cl.cores.Disk(m, "the busy time").BusyPS(cl.sim.Now())
}

// WriteSSD appends n bytes that nobody will read to the machine's SSD, and blocks a shared
// thread until they are durable. For bytes that count see LogFile.
func (c *Co) WriteSSD(n int) {
	t := core.Logger(&c.Program, "WriteSSD")
	if n <= 0 {
		return
	}
	d := c.w.cl.cores.Disk(c.w.machine, "WriteSSD")
	c.w.Charge(d.Call + c.w.CopyCost(n))
	core.Sync(&c.Program)
	_, _, done := d.Write(c.w.cl.sim.Now(), d.Blocks(0, n))
	t.WaitForDisk(done)
}
