package explore

import (
	"fmt"
	"hash/fnv"

	"drtmx/engine/experiment"
)

// cursor is how far an exploration is: a place in the order in which it tries lists, which depends on the spec and the options
// alone. The lists of fewer delays that come before it are run again, for the later ones extend them; the lists of its own
// level are not, where nothing extends them.
type cursor struct {
	level, index int    // lists of so many delays, and how many of them are done
	mark         uint32 // of spec and options
}

// String is what Options.Resume takes.
func (c cursor) String() string { return fmt.Sprintf("%d.%d.%08x", c.level, c.index, c.mark) }

// before says that the list at c comes before the one at o.
func (c cursor) before(o cursor) bool {
	return c.level < o.level || c.level == o.level && c.index < o.index
}

func parseCursor(s string, mark uint32) (cursor, error) {
	var c cursor
	bad := func(rule string) (cursor, error) {
		return cursor{}, &experiment.SpecError{Field: "resume", Value: s, Rule: rule, Next: "give the cursor that an exploration has printed, with the same spec and flags"}
	}
	if n, err := fmt.Sscanf(s, "%d.%d.%x", &c.level, &c.index, &c.mark); n != 3 || err != nil || c.String() != s || c.level < 0 || c.index < 0 {
		return bad("is no cursor, such as 2.1500.0a1b2c3d")
	}
	if c.mark != mark {
		return bad("is of an exploration of another spec, or with another bound or other steps")
	}
	return c, nil
}

// mark identifies what an exploration depends on.
func (e *explorer) mark() uint32 {
	h := fnv.New32a()
	for _, name := range experiment.SortedNames(e.sys.values) {
		fmt.Fprintf(h, "%s=%v\n", name, e.sys.values[name])
	}
	fmt.Fprintf(h, "%d %d %v", e.opt.Bound, e.opt.Steps, e.opt.All)
	return h.Sum32()
}
