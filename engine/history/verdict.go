package history

import (
	"encoding/json"
	"fmt"
)

// Verdict is what checks come to. In JSON it is true, false or null.
type Verdict uint8

const (
	Undecided Verdict = iota // nothing was judged, or not everything that has to be
	Holds
	Violated
)

var verdicts = [...]string{Undecided: "undecided", Holds: "true", Violated: "false"}

func (v Verdict) String() string { return verdicts[v] }

// MarshalJSON is true, false, or null for Undecided.
func (v Verdict) MarshalJSON() ([]byte, error) {
	if v == Undecided {
		return []byte("null"), nil
	}
	return []byte(v.String()), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Verdict) UnmarshalJSON(text []byte) error {
	var ok *bool
	if err := json.Unmarshal(text, &ok); err != nil {
		return err
	}
	switch {
	case ok == nil:
		*v = Undecided
	case *ok:
		*v = Holds
	default:
		*v = Violated
	}
	return nil
}

// Why says why the verdict is undecided, or what it leaves out; "" where it is whole.
func (r *Report) Why() string {
	switch {
	case r.Incomplete != "" || r.OK != Undecided:
		return r.Incomplete
	case r.Mode == Off:
		return "the knob check is off"
	case r.Claimed == "":
		return "no transactions to check"
	case r.Seen == 0:
		return "no transaction has committed"
	}
	return fmt.Sprintf("none of %d transactions was judged", r.Seen)
}
