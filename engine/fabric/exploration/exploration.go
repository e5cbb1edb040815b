package exploration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// Exploration is that of one run.
type Exploration struct {
	unit   sim.Time
	delays []Delay // not used yet
	left   int     // messages
	flows  map[Flow]sim.Time
	lines  map[lineAt]order
	sum    uint64 // over lines
	spans  []edge
}

// Delay is how long a message is held back.
type Delay struct{ Message, Units int }

// Flow is a direction between two queue pairs, which have any names.
type Flow struct {
	From, To any
	Reply    bool
}

// lineAt is a line of a machine.
type lineAt struct {
	machine int
	line    space.Addr
}

// order is that of the accesses to one line: all up to the last write, and those since, which commute.
type order struct{ until, since uint64 }

// edge is the begin or the end of a span.
type edge struct {
	at  sim.Time
	end bool
	who uint64
}

// MaxDelay bounds a delay: beyond it a message is rather lost.
const MaxDelay = sim.Millisecond

// New holds messages back by multiples of unit.
func New(unit sim.Time, delays []Delay) *Exploration {
	return &Exploration{unit: unit, delays: delays, flows: map[Flow]sim.Time{}, lines: map[lineAt]order{}}
}

// Messages is how many have left.
func (x *Exploration) Messages() int { return x.left }

// Leave is when a message of a flow arrives that would arrive at at.
func (x *Exploration) Leave(f Flow, at sim.Time) sim.Time {
	at = max(x.Hold(at), x.flows[f])
	x.flows[f] = at
	return at
}

// Hold numbers something that takes effect at at, and returns when it does so if it is held back.
func (x *Exploration) Hold(at sim.Time) sim.Time {
	n := x.left
	x.left++
	for len(x.delays) > 0 && x.delays[0].Message <= n {
		if x.delays[0].Message == n {
			at += min(sim.Time(x.delays[0].Units)*x.unit, MaxDelay)
		}
		x.delays = x.delays[1:]
	}
	return at
}

// Accessed notes that n bytes at a have just been read or written.
func (x *Exploration) Accessed(mem *host.Memory, a space.Addr, n int, write bool, who uint64) {
	for n > 0 {
		some := min(n, int(space.LineBytes-a%space.LineBytes))
		h := host.Fold(host.Fold(host.Fold(orderSeed, who), a%space.LineBytes), uint64(some))
		if mem.Has(a+space.Addr(some)-1) && a >= 1<<space.HugeShift { // else reserved: no bytes
			for _, b := range mem.Bytes(a, some) {
				h = host.Fold(h, uint64(b))
			}
		}
		x.access(lineAt{mem.Machine, a >> space.LineShift}, h, write)
		a, n = a+space.Addr(some), n-some
	}
}

func (x *Exploration) access(at lineAt, h uint64, write bool) {
	l, had := x.lines[at]
	if had {
		x.sum -= l.hash(at)
	}
	if write {
		l = order{until: host.Fold(host.Fold(l.until, l.since), h)}
	} else {
		l.since += h
	}
	x.lines[at] = l
	x.sum += l.hash(at)
}

func (l order) hash(at lineAt) uint64 {
	return host.Fold(host.Fold(host.Fold(host.Fold(orderSeed, uint64(at.machine)), at.line), l.until), l.since)
}

// Span notes that something which a client did took place between two times.
func (x *Exploration) Span(who uint64, from, to sim.Time) {
	x.spans = append(x.spans, edge{from, false, who}, edge{to, true, who})
}

// orderSeed keeps small numbers, which are all that goes in at first, from cancelling each other.
const orderSeed = 0x9e3779b97f4a7c15

// Order is a hash of what has been noted.
func (x *Exploration) Order() uint64 {
	slices.SortStableFunc(x.spans, func(a, b edge) int {
		if a.at == b.at && a.end != b.end { // a transaction that begins as another ends has not begun later
			return map[bool]int{true: 1, false: -1}[a.end]
		}
		return cmp.Compare(a.at, b.at)
	})
	var past order
	for i, e := range x.spans {
		if i > 0 && e.end != x.spans[i-1].end {
			past = order{until: host.Fold(past.until, past.since)}
		}
		past.since += host.Fold(orderSeed, e.who)
	}
	return host.Fold(host.Fold(host.Fold(orderSeed, x.sum), past.until), past.since)
}

// ParseDelays reads delays as FormatDelays writes them.
func ParseDelays(s string) ([]Delay, error) {
	if s == noDelays {
		return nil, nil
	}
	var list []Delay
	for _, item := range strings.Split(s, ",") {
		m, u, ok := strings.Cut(strings.TrimSpace(item), ":")
		message, err := strconv.Atoi(m)
		units, uerr := strconv.Atoi(u)
		if !ok || err != nil || uerr != nil || message < 0 || units < 1 {
			return nil, fmt.Errorf("%q is not MESSAGE:UNITS, such as 17:2", item)
		}
		list = append(list, Delay{message, units})
	}
	slices.SortFunc(list, func(a, b Delay) int { return cmp.Compare(a.Message, b.Message) })
	for i := range list[1:] {
		if list[i].Message == list[i+1].Message {
			return nil, fmt.Errorf("message %d is delayed twice", list[i].Message)
		}
	}
	return list, nil
}

const noDelays = "none"

// FormatDelays writes delays as text: "none", or "17:2,23:1" where message 17 is held back by two units and 23 by one.
func FormatDelays(list []Delay) string {
	if len(list) == 0 {
		return noDelays
	}
	items := make([]string, len(list))
	for i, d := range list {
		items[i] = fmt.Sprintf("%d:%d", d.Message, d.Units)
	}
	return strings.Join(items, ",")
}
