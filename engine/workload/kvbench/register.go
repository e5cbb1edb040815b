package kvbench

import (
	"fmt"
	"math"
	"slices"

	"drtmx/engine/r2"
)

// A register is what is known of one key. Whether the answers of all clients about it fit together is decided as for an
// atomic register with unique writes (Gibbons and Korach, 1997): the operations that wrote or saw a version have
// to be beside each other in any order of all. Of two versions a comes before b if an operation on a ended before
// one on b began; the order exists unless some a comes before some b and b before a. So of each version the earliest
// end and the latest begin are enough.
//
// That a key is not there is a version too, the first one, and an INSERT comes next: nothing deletes.
type register struct {
	there    bool      // from the start
	versions []version // those that somebody may still see
	many     int       // of them, from which on it is worth looking for those that nobody may

	// Of a key that is not there from the start:
	missed r2.Time // latest begin of an operation that did not find it
	found  r2.Time // earliest end of one that did
	insert id      // the INSERT that succeeded; 0: none has
}

// version is a write and who saw it.
type version struct {
	id      id
	ended   r2.Time // earliest end
	began   r2.Time // latest begin
	pending bool    // the write has not ended
	seen    bool    // somebody has read it
	inserts bool
}

const (
	never  = r2.Time(math.MaxInt64)
	always = r2.Time(math.MinInt64)
)

func newRegister(there bool) *register {
	r := &register{there: there, many: manyVersions, missed: always, found: never}
	if there {
		r.versions = append(r.versions, version{id: initial, ended: always, began: always})
	}
	return r
}

// write notes a write that begins.
func (r *register) write(x id, begin r2.Time, inserts bool) {
	r.versions = append(r.versions, version{id: x, ended: never, began: begin, pending: true, inserts: inserts})
}

func (r *register) find(x id) *version {
	for i := range r.versions {
		if r.versions[i].id == x {
			return &r.versions[i]
		}
	}
	return nil
}

// wrote notes that a write has ended and taken effect. It returns what is wrong.
func (r *register) wrote(x id, begin, end r2.Time) string {
	v := r.find(x)
	v.pending = false
	switch {
	case !v.inserts && !r.inserted():
		return fmt.Sprintf("an UPDATE from %s to %s found it, and nobody had inserted it", us(begin), us(end))
	case v.inserts && r.there:
		return "an INSERT added it, and it was there from the start"
	case v.inserts && r.insert != 0:
		return fmt.Sprintf("two INSERTs added it, %v and %v", r.insert, x)
	case v.inserts && r.found < begin:
		return fmt.Sprintf("it was there by %s, and the INSERT that added it began at %s", us(r.found), us(begin))
	case v.inserts:
		r.insert = x
	}
	return r.use(v, begin, end)
}

// inserted says that the key is there from the start, or some INSERT of it has begun and was not refused.
func (r *register) inserted() bool {
	return r.there || r.insert != 0 || slices.ContainsFunc(r.versions, func(v version) bool { return v.inserts })
}

// refused notes that a write has ended without effect. It returns what is wrong.
func (r *register) refused(x id, begin, end r2.Time) string {
	v := *r.find(x)
	r.versions = slices.DeleteFunc(r.versions, func(v version) bool { return v.id == x })
	if v.seen {
		return fmt.Sprintf("%v was read, and was said to have no effect", x)
	}
	if !v.inserts {
		return r.miss(begin, end)
	}
	if !r.inserted() {
		return fmt.Sprintf("an INSERT from %s to %s said that it is there, and nobody had inserted it", us(begin), us(end))
	}
	return r.show(end)
}

// read notes that an operation saw a version. It returns what is wrong.
func (r *register) read(x id, begin, end r2.Time) string {
	v := r.find(x)
	if v == nil {
		return fmt.Sprintf("a request from %s to %s saw %v, which had been overwritten before, or was never there", us(begin), us(end), x)
	}
	v.seen = true
	return r.use(v, begin, end)
}

// use notes an operation on a version.
func (r *register) use(v *version, begin, end r2.Time) string {
	v.ended, v.began = min(v.ended, end), max(v.began, begin)
	for i := range r.versions {
		o := &r.versions[i]
		switch {
		case o.id == v.id:
		case v.ended < o.began && o.ended < v.began:
			return fmt.Sprintf("%v was there by %s and again after %s, %v by %s and after %s", v.id, us(v.ended), us(v.began), o.id, us(o.ended), us(o.began))
		case o.id == r.insert && v.ended < o.began, v.id == r.insert && o.ended < v.began:
			return fmt.Sprintf("%v was there before the INSERT %v", v.id, r.insert)
		}
	}
	return r.show(end)
}

// show notes that an operation found the key.
func (r *register) show(end r2.Time) string {
	r.found = min(r.found, end)
	if !r.there && r.found < r.missed {
		return fmt.Sprintf("it was there by %s, and a request that began at %s did not find it", us(r.found), us(r.missed))
	}
	return ""
}

// miss notes that an operation did not find the key. It returns what is wrong.
func (r *register) miss(begin, end r2.Time) string {
	r.missed = max(r.missed, begin)
	switch {
	case r.there:
		return fmt.Sprintf("it was there from the start, and a request from %s to %s did not find it", us(begin), us(end))
	case r.found < r.missed:
		return fmt.Sprintf("it was there by %s, and a request from %s to %s did not find it", us(r.found), us(begin), us(end))
	}
	return ""
}

// prune forgets versions that nobody may see any more: whoever has not ended began at the horizon or later.
func (r *register) prune(horizon r2.Time) {
	kept := 0
	for i, v := range r.versions {
		gone := !v.pending && v.began <= horizon && slices.ContainsFunc(r.versions, func(o version) bool { return o.id != v.id && v.ended < o.began && o.ended < horizon })
		if !gone {
			r.versions[i], r.versions[kept] = r.versions[kept], v // those that go stay for now: they may be why others go
			kept++
		}
	}
	r.versions = r.versions[:kept]
}

// String is a write as messages have it.
func (x id) String() string {
	if x == initial {
		return "the initial value"
	}
	return fmt.Sprintf("write %d of client %d", x.seq(), x.writer())
}

func us(t r2.Time) string {
	switch t {
	case always:
		return "the start"
	case never:
		return "the end"
	}
	return fmt.Sprintf("%.3f us", float64(t)/1e6)
}
