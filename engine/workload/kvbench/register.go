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
	versions []version // those that a client may still see
	many     int       // of them, from which on it is worth looking for those that no client may see

	// Of a key that is not there from the start:
	missed r2.Time // latest begin of an operation that did not find it
	found  r2.Time // earliest end of one that did
	insert id      // the INSERT that took effect; 0: none is known to
}

// version is a write and the requests that saw it.
type version struct {
	id      id
	ended   r2.Time // earliest end
	began   r2.Time // latest begin
	acked   r2.Time // end of the write, or never
	pending bool    // the write has not ended
	failed  bool    // nor will it: its client has an error
	seen    bool    // a client has read it
	inserts bool
}

const (
	never  = r2.Time(math.MaxInt64)
	always = r2.Time(math.MinInt64)
)

func newRegister(there bool) *register {
	r := &register{there: there, many: manyVersions, missed: always, found: never}
	if there {
		r.versions = append(r.versions, version{id: initial, ended: always, began: always, acked: always})
	}
	return r
}

// write notes a write that begins.
func (r *register) write(x id, begin r2.Time, inserts bool) {
	r.versions = append(r.versions, version{id: x, ended: never, began: begin, acked: never, pending: true, inserts: inserts})
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
	v.pending, v.acked = false, end
	if wrong := r.effective(v); wrong != "" {
		return wrong
	}
	return r.use(v, begin, end)
}

// effective notes that a write has taken effect. It returns what is wrong.
func (r *register) effective(v *version) string {
	switch {
	case !v.inserts && !r.inserted():
		return fmt.Sprintf("UPDATE %v found it, and no client had inserted it", v.id)
	case !v.inserts || r.insert == v.id:
		return ""
	case r.there:
		return "an INSERT added it, and it was there from the start"
	case r.insert != 0:
		return fmt.Sprintf("two INSERTs added it, %v and %v", r.insert, v.id)
	case r.found < v.began:
		return fmt.Sprintf("it was there by %s, and the INSERT that added it began at %s", us(r.found), us(v.began))
	}
	r.insert = v.id
	return ""
}

// inserted says that the key is there from the start, or some INSERT of it was not refused, and began before it was found.
func (r *register) inserted() bool {
	return r.there || r.insert != 0 || slices.ContainsFunc(r.versions, func(v version) bool { return v.inserts && v.began <= r.found })
}

// refused notes that a write has ended without effect. It returns what is wrong.
func (r *register) refused(x id, begin, end r2.Time) string {
	v := *r.find(x)
	r.forget(x)
	if v.seen {
		return fmt.Sprintf("%v was read, and was said to have no effect", x)
	}
	if !v.inserts {
		return r.miss(begin, end)
	}
	return r.show(end)
}

// forget takes a write out that has no effect.
func (r *register) forget(x id) {
	r.versions = slices.DeleteFunc(r.versions, func(v version) bool { return v.id == x })
}

// read notes that an operation saw a version. It returns what is wrong.
func (r *register) read(x id, begin, end r2.Time) string {
	v := r.find(x)
	if v == nil {
		return fmt.Sprintf("a request from %s to %s saw %v, which had been overwritten before, or was never there", us(begin), us(end), x)
	}
	v.seen = true
	if wrong := r.effective(v); wrong != "" {
		return wrong
	}
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
	switch {
	case !r.there && r.found < r.missed:
		return fmt.Sprintf("it was there by %s, and a request that began at %s did not find it", us(r.found), us(r.missed))
	case !r.inserted():
		return fmt.Sprintf("it was there by %s, and no client had inserted it", us(r.found))
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

// precedes is a time: a version comes before those with an operation that began later. One that it comes before may be over
// earlier than itself, and takes others with it.
func (r *register) precedes(v *version) r2.Time {
	first := v.ended
	for i := range r.versions {
		if u := &r.versions[i]; v.ended < u.began {
			first = min(first, u.ended)
		}
	}
	return first
}

// prune forgets versions that no client may see any more: requests that have not ended began at the horizon or later, and what was
// answered before durable survives a crash.
func (r *register) prune(horizon, durable r2.Time) {
	kept := 0
	for i, v := range r.versions {
		precedes := r.precedes(&v)
		gone := v.began <= horizon && slices.ContainsFunc(r.versions, func(o version) bool {
			return o.id != v.id && precedes < o.began && o.ended < horizon && (durable == never || o.acked < durable)
		})
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
	return fmt.Sprintf("%.3f µs", float64(t)/1e6)
}
