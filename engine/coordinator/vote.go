package coordinator

// Vote is what a participant has said when it was asked to prepare.
type Vote uint8

const (
	Asked Vote = iota
	Yes
	No
	Lost // it cannot be reached: whether it has prepared is not known
)

// Standing is where an attempt stands with the votes that it has.
type Standing uint8

const (
	Undecided Standing = iota // votes are missing, and it may still go either way
	Prepared                  // all have said yes: it may commit
	Refused                   // one has said no: it aborts
	InDoubt                   // none has said no, and one cannot be reached: it may have prepared, and waits then for a decision
)

// Stands says where an attempt stands. A participant that prepared may do nothing by itself any more until it hears of the decision.
func Stands(votes ...Vote) Standing {
	stands := Prepared
	for _, v := range votes {
		switch {
		case v == No:
			return Refused
		case v == Lost:
			stands = InDoubt
		case v == Asked && stands == Prepared:
			stands = Undecided
		}
	}
	return stands
}
