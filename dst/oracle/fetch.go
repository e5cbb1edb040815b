package oracle

import (
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// fetcher is the dedicated fetch thread of a machine (§5.5): the last of its threads runs no transactions, and asks for the point
// again and again, for all snapshots of the machine. They read it in memory, without a message, and it is older. It
// rests while no snapshot reads it; then the next one waits until it is new.
type fetcher struct {
	o        *client
	machine  int
	co       *r2.Co          // begins with the first snapshot: clients have the first numbers of their threads
	line     timestamp.Point // shared by the machine's threads
	at       r2.Addr         // reserved: of the line
	incoming timestamp.Point
	asked    bool // since the last fetch
	resting  bool
	fresh    bool
	err      error
}

func newFetcher(o *client, machine, words int) (f *fetcher, err error) {
	cl := o.env.Cluster
	f = &fetcher{o: o, machine: machine}
	if f.at, err = cl.Mem(machine).Reserve("oracle."+o.name+".point", uint64(8*words), 0); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *fetcher) run(c *r2.Co) {
	for {
		for f.asked {
			f.asked = false
			c.Reset()
			_, err := f.o.fetch(c, &f.incoming)
			c.Touch(f.at, 8*len(f.incoming.Words))
			f.line.Copy(f.incoming.Words)
			f.fresh, f.err = true, err
			c.Sleep(f.o.opt.period)
		}
		f.resting, f.fresh = true, false
		c.Suspend()
	}
}

// await reads the line until it covers what the freshness wants.
func (f *fetcher) await(c *r2.Co, s *timestamp.Session, fresh timestamp.Freshness, p *timestamp.Point) error {
	for {
		f.ask(c)
		c.Touch(f.at, 8*len(f.line.Words))
		if f.fresh {
			p.Copy(f.line.Words)
			if f.err != nil || covers(p, s, fresh, 0) {
				return f.err
			}
		}
		calm(c)
	}
}

// ask has the line kept up to date.
func (f *fetcher) ask(c *r2.Co) {
	f.asked = true
	switch cl := c.Cluster(); {
	case f.co == nil:
		f.co = cl.SpawnBackground(f.machine, cl.Threads(f.machine)-1, f.o.name+".fetch", f.run)
	case f.resting:
		f.resting = false
		c.Wake(f.co)
	}
}
