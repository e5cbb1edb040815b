package occ

import (
	"slices"

	"drtmx/engine/history"
	"drtmx/engine/knob"
	"drtmx/engine/record"
	"drtmx/engine/testbed"
	"drtmx/engine/txn"
)

// ReadCommitted is the protocol without the validation of what was only read (§5.5): no transaction aborts
// for a record that it does not write, so nothing that serialises can be much faster. It is incorrect and
// there for reference. A transaction reads what others have committed, but of different moments; what it writes is locked and has
// its version checked, so no update is lost. It waits for a record that is locked: the owner may have committed
// already, with what it wrote still on its way, and a READ could bring a part of that.
var ReadCommitted = txn.Kind{
	Name:  "rc",
	Doc:   "read committed, which is incorrect: occ that does not validate what it only reads (section 5.5)",
	Claim: history.ReadCommitted,
	Rows:  func(testbed.LoadOf) []knob.Row { return nil },
	Logs:  Kind.Logs,
	Has:   features(unvalidatedPhases()),
	Rules: Kind.Rules,
	Config: func(v knob.Values, load *testbed.Load, seen txn.Seen) txn.Config {
		c := Kind.Config(v, load, seen).(Config)
		c.ReadCommitted = true
		return c
	},
	Choices: func(c txn.Config) []txn.Choice { return choices(c, unvalidatedPhases()) },
	LooksUp: Kind.LooksUp,
	Costs:   Kind.Costs,
}

// unvalidatedPhases are those of occ but its validation.
func unvalidatedPhases() []Phase {
	return slices.DeleteFunc(slices.Clone(Phases), func(p Phase) bool { return p.ID == Validation || p.ID == ROValidation })
}

// postRowTwice READs a row that may come torn, and then its header again: no validation follows that finds out which row is not of one
// moment. A writer of the row changes its sequence first: if that is still what it was, no transaction has begun to in between.
func (s *session) postRowTwice(a *access) {
	a.head = nil
	if a.Table.Constant || record.OneLine(uint64(a.Loc.Addr), a.Table.RowBytes) {
		s.postRow(a)
		return
	}
	l := s.C.List(a.Loc.Loc, false)
	row, again := l.Read(a.Loc.Loc, a.Table.RowBytes), l.Read(a.Loc.Loc, s.p.off.head)
	l.Post()
	a.row, a.buf, a.head, a.again = row.B, row.Addr, again.B, again.Addr
}

// keptSequence says that a row's sequence was the same after the row was read, where it was read again.
func (s *session) keptSequence(a *access, row []byte) bool {
	if a.head == nil {
		return true
	}
	s.C.TouchDMA(a.again, len(a.head))
	return s.p.H.StampOf(a.head) == s.p.H.StampOf(row)
}
