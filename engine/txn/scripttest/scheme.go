package scripttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drtmx/dst"
	"drtmx/dst/oracle"
	"drtmx/engine/knob"
	"drtmx/engine/r2"
	"drtmx/engine/sim"
	"drtmx/engine/timestamp"
)

// schemes are those that a script's cluster may have.
var schemes = timestamp.Kinds{dst.DST, dst.TrueTime, oracle.GTS, oracle.VTS}

// switches are the values that schemes of timestamps ask for. Those that are options of the cluster command are taken out of these.
func switches(machines int, oracle bool, options map[string]string) knob.Values {
	v := schemes.Defaults()
	maps.Copy(v, knob.Values{"nodes": machines, "servers": 0, "clients": 0, "threads": 1, "oracle": oracle, "oracle.threads": 0})
	for name, x := range options { // order-free: each sets a value of its own
		if strings.HasPrefix(name, "ts.") {
			v[name] = x == "true"
			delete(options, name)
		}
	}
	return v
}

// watch is between a host and its scheme: it sees stamps and points, and holds transactions between the two.
type watch struct {
	held   map[uint32]string // by coroutine: where
	stamps map[uint32]timestamp.Stamp
	points map[uint32][]uint64
	last   map[string]uint32 // coroutine that ran a transaction, also one that has ended
	state  func() string     // of the oracle
}

// over are the schemes, watched.
func (w *watch) over() (list timestamp.Kinds) {
	for _, k := range schemes {
		open := k.Open
		k.Open = func(e timestamp.Env) (timestamp.Scheme, error) {
			x, err := open(e)
			return &watched{x, w}, err
		}
		list = append(list, k)
	}
	return list
}

// watched is a scheme that is.
type watched struct {
	timestamp.Scheme
	w *watch
}

// Draw notes the stamp.
func (x *watched) Draw(c *r2.Co, tx *timestamp.Txn) error {
	err := x.Scheme.Draw(c, tx)
	x.w.stamps[c.ID()] = tx.TS
	return err
}

// Wait holds a transaction that has its stamp and has not installed anything.
func (x *watched) Wait(c *r2.Co, tx *timestamp.Txn) {
	x.Scheme.Wait(c, tx)
	x.w.hold(c, "stamped")
}

// Done holds one that has its versions in place.
func (x *watched) Done(c *r2.Co, tx *timestamp.Txn, s *timestamp.Session) {
	x.w.hold(c, "installed")
	x.Scheme.Done(c, tx, s)
}

func (w *watch) hold(c *r2.Co, where string) {
	for w.held[c.ID()] == where {
		c.Sleep(200 * sim.Nanosecond)
	}
}

// Point notes it.
func (x *watched) Point(c *r2.Co, s *timestamp.Session, f timestamp.Freshness, p *timestamp.Point) error {
	err := x.Scheme.Point(c, s, f, p)
	x.w.points[c.ID()] = slices.Clone(p.Words)
	return err
}

// Switch is the scheme's, if it has one. What is in force is asked for its state.
func (x *watched) Switch(on bool) {
	if y, ok := x.Scheme.(timestamp.Switched); ok {
		y.Switch(on)
	}
	if y, ok := x.Scheme.(interface{ State() string }); ok && on {
		x.w.state = y.State
	}
}

// ask does a command about the scheme.
func (s *script) ask(what string, w []string) string {
	switch what {
	case "oracle":
		if s.watch.state == nil {
			s.t.Fatal("no oracle is in force")
		}
		return s.watch.state() + "\n"
	case "writes":
		return s.writes(w[0], int(number(s.t, w[1])), w[2])
	}
	co, ok := s.watch.last[w[0]]
	if !ok {
		s.t.Fatalf("no transaction %s", w[0])
	}
	switch what {
	case "stamp":
		return fmt.Sprintf("%s: %s\n", w[0], s.stamp(s.watch.stamps[co]))
	case "point":
		return fmt.Sprintf("%s: reads at %s\n", w[0], pointText(s.watch.points[co]))
	}
	if delete(s.watch.held, co); what == "hold" {
		s.watch.held[co] = w[1]
	}
	return ""
}

// writes runs transactions whose results do not matter.
func (s *script) writes(on string, n int, key string) string {
	for i := range n {
		const name = "writer"
		s.begin(name, []string{"on=" + on})
		a := s.txns[name]
		for _, step := range [][]string{{"put", key, fmt.Sprint(i + 1)}, {"commit"}} {
			a.step, a.answer = step, ""
			if text := s.do(a); strings.Contains(text, "abort") {
				s.t.Fatalf("writes: %s", text)
			}
		}
	}
	return "ok\n"
}

// stamp is <worker:number> as in Figure 5-5 where stamps are of vectors. Workers are counted from 1.
func (s *script) stamp(x timestamp.Stamp) string {
	o := s.db.Config().Common().Timestamps
	if k := schemes.Named(o.Scheme); k != nil && k.Traits(o.Values).Words > 1 {
		return StampText(x)
	}
	return fmt.Sprint(uint64(x))
}

// StampText is a stamp of a vector as Figure 5-5 has it; 0 is that of what was there from the start.
func StampText(x timestamp.Stamp) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("<%d:%d>", x.Slot()+1, x.Counter())
}

func pointText(p []uint64) string {
	if len(p) == 1 {
		return fmt.Sprint(p[0])
	}
	words := make([]string, len(p))
	for i, x := range p {
		words[i] = fmt.Sprint(x)
	}
	return "(" + strings.Join(words, ",") + ")"
}
