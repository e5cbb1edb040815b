package fabric

// What only tests of this package use.

// SetRCLoss sets how many packets of a million RC must send again. Nothing is
// lost by it, but late.
func (f *Fabric) SetRCLoss(ppm uint32) { f.rcLoss = ppm }

// Transport is its transport.
func (q *QP) Transport() Transport { return q.transport }

// Overrun says that completions came while the queue was full. They are lost,
// and the queue pairs they belonged to are in the error state.
func (c *CQ) Overrun() bool { return c.overrun }

// listsInUse is how many gather lists are not released.
func (f *Fabric) listsInUse() (n int) {
	for _, p := range f.parts {
		n += p.gathers.InUse()
	}
	return n
}
