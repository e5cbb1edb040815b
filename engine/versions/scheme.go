package versions

import (
	"errors"
	"fmt"

	"drtmx/engine/membership"
	"drtmx/engine/r2"
	"drtmx/engine/timestamp"
)

// opened is a scheme that is in force or was. It stays open, for its handlers, memory and coroutines cannot be given back.
type opened struct {
	name   string
	kind   *timestamp.Kind // nil: unstamped
	scheme timestamp.Scheme
}

// use puts the scheme of the options in force. One that was not yet is opened.
func (s *Store) use() error {
	now, err := s.open(s.opt.Scheme)
	if err != nil {
		return fmt.Errorf("%s %s: %w", timestamp.Knob, s.opt.Scheme, err)
	}
	for _, x := range s.schemes { // the scheme that leaves frees what the new one needs
		if y, ok := x.scheme.(timestamp.Switched); ok && x.name != now.name {
			y.Switch(false)
		}
	}
	if y, ok := now.scheme.(timestamp.Switched); ok {
		y.Switch(true)
	}
	s.kind, s.scheme, s.traits = now.kind, now.scheme, now.scheme.Traits()
	if s.traits.Readers {
		return s.openReaders()
	}
	return nil
}

func (s *Store) open(name string) (opened, error) {
	if name == timestamp.None {
		return opened{name: name, scheme: unstamped{}}, nil
	}
	for _, x := range s.schemes {
		if x.name == name {
			return x, nil
		}
	}
	k, e := s.db.Options().Schemes.Named(name), s.env()
	switch {
	case k == nil:
		return opened{}, fmt.Errorf("it is not one of the schemes of this database, %v", s.db.Options().Schemes.Names())
	case k.Traits(s.opt.Values).Oracle && len(e.Members.Of(membership.Oracle)) == 0:
		return opened{}, errors.New("no machine is its oracle: set oracle=true, and reset")
	}
	scheme, err := k.Open(e)
	x := opened{name, k, scheme}
	if err == nil {
		s.schemes = append(s.schemes, x)
	}
	return x, err
}

// env is what a scheme is opened on.
func (s *Store) env() timestamp.Env {
	return timestamp.Env{Cluster: s.cl, Clocks: s.clocks, Members: s.db.Members(), Options: func() *timestamp.Options { return &s.opt }}
}

// Changes says that options give versions other stamps, which needs a drain and Restamp: by another scheme, or as the one in force says.
func (s *Store) Changes(o timestamp.Options) bool {
	if !o.Versions() || !s.opt.Versions() {
		return o.Versions() != s.opt.Versions()
	}
	if o.Scheme != s.opt.Scheme {
		return true
	}
	for _, name := range s.kind.Restamps {
		if o.Values[name] != s.opt.Values[name] {
			return true
		}
	}
	return false
}

// Follow takes in options: at once, or by Restamp where Changes says so. A nil store has none.
func (s *Store) Follow(o timestamp.Options) error {
	switch {
	case s == nil:
		return nil
	case s.Changes(o):
		return s.Restamp(o)
	case o.Versions():
		s.setClocks(o)
		s.opt = o
		if x, ok := s.scheme.(timestamp.Tuned); ok {
			x.Tune()
		}
	}
	return nil
}

// setClocks has the clocks drift, and one be off, as options say.
func (s *Store) setClocks(o timestamp.Options) {
	if o.DriftNS != s.opt.DriftNS {
		s.clocks.SetDrift(o.DriftNS)
	}
	s.clocks.Skew(s.opt.SkewMachine, 0)
	s.clocks.Skew(o.SkewMachine, o.SkewNS)
}

// NeedsReset says why options cannot come into force: rows are laid out when the database is opened. s is nil where they have
// no versions.
func (s *Store) NeedsReset(o timestamp.Options) (knob, why string) {
	if s == nil && o.Versions() {
		return timestamp.Knob, "the records of this system have no versions"
	}
	return "", ""
}

// unstamped is the scheme of ts.scheme=none, where records have versions all the same: all have stamp 0, and no snapshot reads
// old ones.
type unstamped struct{}

func (unstamped) Traits() timestamp.Traits                              { return timestamp.Traits{} }
func (unstamped) Begin(*r2.Co, *timestamp.Txn)                          {}
func (unstamped) Saw(*timestamp.Txn, timestamp.Stamp)                   {}
func (unstamped) Over(*timestamp.Txn, timestamp.Stamp, timestamp.Stamp) {}
func (unstamped) Draw(_ *r2.Co, x *timestamp.Txn) error                 { x.TS, x.Drawn = 0, true; return nil }
func (unstamped) Wait(*r2.Co, *timestamp.Txn)                           {}
func (unstamped) Done(*r2.Co, *timestamp.Txn, *timestamp.Session)       {}
func (unstamped) Void(*r2.Co, *timestamp.Txn)                           {}
func (unstamped) Low(_ *r2.Co, p *timestamp.Point)                      { p.Words = p.Words[:0] }
func (unstamped) Bound() (ns int64, ok bool)                            { return 0, false }
func (unstamped) Point(*r2.Co, *timestamp.Session, timestamp.Freshness, *timestamp.Point) error {
	return errors.New("a snapshot without timestamps: set " + timestamp.Knob)
}
