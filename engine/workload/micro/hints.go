package micro

import "drtmx/engine/r2"

// Hints are those of thesis Table 2-4 as far as they apply to reads and writes of
// remote NVM. H3 is a switch of the machines.
type Hints struct {
	OwnSocket     bool // H1: requests stay on the socket whose RNIC serves them
	DIMMPerThread bool // H2: two-sided, each server thread writes to one DIMM
	LargeNT       bool // H4: two-sided, 256 bytes and more with ntstore
	XLines        bool // H5: writes padded to 256 bytes
	Words         bool // H6: one-sided writes below 256 bytes padded to 64
	LinesNT       bool // H7: two-sided writes below 256 bytes padded to 64, with ntstore
	AtomicsInDRAM bool // H8
	Persist       bool // a write counts when it is persistent
	OneRoundTrip  bool // H9: WRITE and the flushing READ in one list
}

// xline is the granularity of the media; lineBytes is that of PCIe and cores.
const xline = 256

// socket is whose memory requests go to.
func (o *Options) socket() Socket {
	if o.Hints.OwnSocket {
		return Own
	}
	return o.Socket
}

// copies is what a server does with the bytes of a two-sided write.
func (o *Options) copies() Copy {
	if h := o.Hints; o.Verb == Write && o.Copy != CopyNothing && (h.LargeNT && o.Payload >= xline || h.LinesNT && o.Payload < xline) {
		return CopyStoreNT
	}
	return o.Copy
}

func (o *Options) onNVM() bool { return o.NVM && !(o.Verb == Atomic && o.Hints.AtomicsInDRAM) }

func (o *Options) dimmPerThread() bool { return o.onNVM() && o.TwoSided && o.Hints.DIMMPerThread }

// granule is what writes are aligned and padded to by a hint; 1: by none.
func (o *Options) granule() int {
	h, small := o.Hints, o.Payload < xline
	switch {
	case o.Verb != Write:
		return 1
	case small && (h.Words && !o.TwoSided || h.LinesNT && o.TwoSided):
		return lineBytes
	case h.XLines:
		return xline
	}
	return 1
}

// padded is the size of a write as memory sees it.
func (o *Options) padded() int {
	g := o.granule()
	if o.Verb == Write {
		g = max(g, o.Pad)
	}
	return (o.Payload + g - 1) / g * g
}

// write posts a one-sided write; persistent, with the READ that flushes it
// (thesis §2.3.2.2), behind it at once or when it is complete.
func (l *Loop) write(c *r2.Co, at r2.Loc) error {
	route := c.Route(at, false)
	list := l.packets(c, route, at)
	if !l.opt.Hints.Persist {
		list.Post()
		return nil
	}
	if !l.opt.Hints.OneRoundTrip {
		list.Post()
		if err := c.Wait(); err != nil {
			return err
		}
		list = c.ListVia(route)
	}
	list.Read(at, 8)
	list.Post()
	return nil
}

// packets adds the bytes of a write, and leaves the last list open. What is larger
// than a send buffer goes in WRITEs of a packet each: the RNIC would make those of
// one request, here each has its own.
func (l *Loop) packets(c *r2.Co, route r2.Route, at r2.Loc) *r2.List {
	left, most := l.opt.padded(), min(c.Cluster().MaxWrite(), maxMessage)
	list := c.ListVia(route)
	for k := 1; left > most; k++ {
		list.Write(at, l.zeros[:most])
		at.Addr += r2.Addr(most)
		left -= most
		if k%(r2.MaxList-2) == 0 { // room for the last one and a READ
			together := c.Mode()
			together.Outstanding = true
			before := c.Using(together)
			list.Post()
			c.Using(before)
			list = c.ListVia(route)
		}
	}
	list.Write(at, l.zeros[:left])
	return list
}
