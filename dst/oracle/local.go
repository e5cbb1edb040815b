package oracle

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// Local is the state of an oracle without the network in front of it: threads of its machine do what its handlers would, to measure
// what they are good for (Figure 5-6(a)).
type Local struct {
	global *global // of GTS
	vector *vector // of VTS, with a slot for each thread
	drawn  []uint64
}

// OpenLocal makes the oracle of a scheme on a machine.
func OpenLocal(cl *r2.Cluster, machine int, scheme string) (l *Local, err error) {
	l = &Local{drawn: make([]uint64, cl.Threads(machine))}
	switch scheme {
	case GTS.Name:
		l.global, err = newGlobal(cl, machine)
	case VTS.Name:
		l.vector, err = newVector(cl, machine, "oracle.vts", cl.Threads(machine))
	default:
		return nil, fmt.Errorf("scheme %q has no oracle: %s or %s", scheme, GTS.Name, VTS.Name)
	}
	return l, err
}

// Count is a transaction without stable timestamps: GTS takes a number, VTS publishes the one that its worker has.
func (l *Local) Count(c *r2.Co) {
	if l.global != nil {
		l.global.draw(c, c.Machine(), 1)
		return
	}
	l.vector.raise(c, l.next(c))
}

// Install is one with them: GTS takes a number and installs it, VTS installs one.
func (l *Local) Install(c *r2.Co) {
	if l.global != nil {
		for n := l.global.draw(c, c.Machine(), 1); !l.global.install(c, n); {
			calm(c)
		}
		return
	}
	for ts := l.next(c); !l.vector.install(c, ts, nil); {
		calm(c)
	}
}

func (l *Local) next(c *r2.Co) timestamp.Stamp {
	l.drawn[c.Thread()]++
	return timestamp.Slotted(uint16(c.Thread()), l.drawn[c.Thread()])
}

// Point reads the stable timestamp into memory that it reuses.
func (l *Local) Point(c *r2.Co) {
	if l.global != nil {
		l.global.point(c)
		return
	}
	l.vector.point(c, c.Buf(8*len(l.drawn)).B)
}
