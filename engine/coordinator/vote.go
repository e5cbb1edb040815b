package coordinator

import "drtmx/engine/r2"

// Vote is what a participant has said when it was asked to prepare.
type Vote uint8

const (
	Asked Vote = iota
	Yes
	No
	Lost // it cannot be reached: whether it has prepared is not known
)

// VoteOf is what a participant has answered; err is what the wait for the answers has returned.
func VoteOf(r *r2.Reply, err error) Vote {
	switch {
	case SaysYes(r):
		return Yes
	case err != nil && len(r.B) == 0:
		return Lost
	}
	return No
}

// Standing is where an attempt stands with the votes that it has.
type Standing uint8

const (
	Prepared  Standing = iota // all have said yes: it may commit
	Undecided                 // votes are missing, and it may still go either way
	InDoubt                   // none has said no, and one cannot be reached: it may have prepared, and waits then for a decision
	Refused                   // one has said no: it aborts
)

// Stands says where an attempt stands. A participant that prepared may do nothing by itself any more until it hears of the decision.
func Stands(votes ...Vote) (s Standing) {
	for _, v := range votes {
		s = s.with(v)
	}
	return s
}

// StandsAfter is Stands of participants that were asked; err is what the wait for their answers has returned.
func StandsAfter[T any](parts []Part[T], err error) (s Standing) {
	for _, p := range parts {
		s = s.with(VoteOf(p.Rep, err))
	}
	return s
}

// with adds a vote: the worst one says where the attempt stands.
func (s Standing) with(v Vote) Standing {
	return max(s, [...]Standing{Asked: Undecided, Yes: Prepared, No: Refused, Lost: InDoubt}[v])
}
