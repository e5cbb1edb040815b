package xstore

import (
	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/xstore/published"
)

// index is what clients keep of the servers' indexes, in one mode. A change of the mode makes another one, with caches that
// are as at the start; what is under way ends with the one that it began with.
type index struct {
	mode   Mode
	began  []*published.Version // by server: what caches begin with
	caches [][]*cache           // by server and user of a cache: a machine, or a thread of it
	walks  [][]*walk            // likewise, where the mode caches nodes
}

func (s *Store) newIndex(m Mode) *index {
	x, users := &index{mode: m}, s.cl.Machines()
	if s.opt.PerThread {
		users = s.threads
	}
	for _, p := range s.parts {
		x.began = append(x.began, p.current)
		x.caches, x.walks = append(x.caches, make([]*cache, users)), append(x.walks, make([]*walk, users))
	}
	return x
}

// cache is a learned cache, and when its clients last looked for another version of the model (checkVersion).
type cache struct {
	published.Cache
	checkedAt r2.Time
	checking  bool
}

// newCache is a cache of the version that a server begins with.
func newCache(cl *r2.Cluster, machine, socket int, v *published.Version) (*cache, error) {
	x := &cache{}
	return x, x.Use(cl, machine, socket, v)
}

// bytes is what the cache holds in a mode.
func (x *cache) bytes(m Mode) int {
	top, subs, entries := x.Held()
	switch m {
	case Full:
		return top + subs + entries
	case Top:
		return top
	}
	return top + subs
}

// Client is what a coroutine of any machine calls the store with.
func (s *Store) Client(c *r2.Co) store.KVClient {
	return &client{s: s, c: c, caches: make([]*cache, len(s.parts)), walks: make([]*walk, len(s.parts))}
}

// begin is where an operation on a key begins: with the caches that clients use now.
func (x *client) begin(key uint64) *part {
	if x.index != x.s.index {
		if err := x.adopt(x.s.index); err != nil {
			x.c.Fail(err)
		}
	}
	return x.s.part(key)
}

// adopt takes the caches of the client's machine or thread, which are made for the first that asks.
func (x *client) adopt(to *index) (err error) {
	user := x.c.Machine()
	if x.s.opt.PerThread {
		user = x.s.users[x.c.Machine()] + x.c.Thread()
	}
	x.index, x.mode = to, to.mode
	for m, p := range x.s.parts {
		x.caches[m], x.walks[m] = nil, nil
		if to.mode.learned() {
			x.caches[m], err = of(to.caches[m], user, func() (*cache, error) { return newCache(x.s.cl, x.c.Machine(), x.c.Home(), to.began[m]) })
		} else {
			x.walks[m], err = of(to.walks[m], user, func() (*walk, error) { return x.s.newWalk(x.c, p, to.mode) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// of is the user's of a list, made by make if it is not there.
func of[T any](list []*T, user int, make func() (*T, error)) (*T, error) {
	if list[user] == nil {
		made, err := make()
		if err != nil {
			return nil, err
		}
		list[user] = made
	}
	return list[user], nil
}

// Crashed empties the caches of a machine's clients: they are as at the start.
func (s *Store) Crashed(machine int) {
	first, n := machine, 1
	if s.opt.PerThread {
		first, n = s.users[machine], s.cl.Threads(machine)
	}
	for m := range s.parts {
		for _, c := range within(s.index.caches[m], first, n) {
			c.Reset()
		}
		for _, w := range within(s.index.walks[m], first, n) {
			w.lose()
		}
	}
}

// within are n users' caches, those that are made.
func within[T any](list []*T, first, n int) (made []*T) {
	for i := first; i < min(first+n, len(list)); i++ {
		if list[i] != nil {
			made = append(made, list[i])
		}
	}
	return made
}

// setCache changes what clients keep. Where models were not in use, splits were not told to the trainers: they begin with a
// whole model.
func (s *Store) setCache(m Mode) {
	if m.learned() && !s.index.mode.learned() {
		for _, p := range s.parts {
			if p.untold > 0 {
				p.untold = 0
				p.retrainAll(nil)
			}
		}
	}
	s.opt.Cache = m
	s.index = s.newIndex(m)
}
