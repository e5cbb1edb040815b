package dst

import (
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// locals are the LocalTS of Figure 5-7, one of each worker: the largest stamp that its transactions have committed with.
// The simulator keeps the words; each has a line in its machine's memory, which accesses are charged for.
type locals struct {
	words [][]timestamp.Stamp // by machine and thread
	lines []r2.Addr           // by machine: of its first thread
}

const lineBytes = 64

func newLocals(cl *r2.Cluster) (*locals, error) {
	l := &locals{}
	for m := range cl.Machines() {
		a, err := cl.Mem(m).Reserve("dst.local", uint64(cl.Threads(m))*lineBytes, 0)
		if err != nil {
			return nil, fmt.Errorf("local timestamps of machine %d: %w", m, err)
		}
		l.words, l.lines = append(l.words, make([]timestamp.Stamp, cl.Threads(m))), append(l.lines, a)
	}
	return l, nil
}

// get is that of c's worker.
func (l *locals) get(c *r2.Co) timestamp.Stamp {
	l.touch(c)
	return l.words[c.Machine()][c.Thread()]
}

// raise lets it be no less than s.
func (l *locals) raise(c *r2.Co, s timestamp.Stamp) {
	l.touch(c)
	w := &l.words[c.Machine()][c.Thread()]
	*w = max(*w, s)
}

func (l *locals) touch(c *r2.Co) { c.Touch(l.lines[c.Machine()]+r2.Addr(c.Thread())*lineBytes, 8) }
