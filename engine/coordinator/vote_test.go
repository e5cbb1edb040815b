package coordinator

import "testing"

// One no is enough to abort, and all yes to commit. One that cannot be reached leaves the attempt in doubt, unless another has said no.
func TestStands(t *testing.T) {
	for _, x := range []struct {
		votes []Vote
		want  Standing
	}{
		{nil, Prepared},
		{[]Vote{Yes, Yes}, Prepared},
		{[]Vote{Yes, Asked}, Undecided},
		{[]Vote{Asked, No}, Refused},
		{[]Vote{Lost, No}, Refused},
		{[]Vote{Yes, Lost}, InDoubt},
		{[]Vote{Lost, Asked}, InDoubt},
		{[]Vote{Asked, Lost, Yes}, InDoubt},
	} {
		if got := Stands(x.votes...); got != x.want {
			t.Errorf("votes %v: %v, want %v", x.votes, got, x.want)
		}
	}
}
