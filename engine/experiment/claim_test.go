package experiment

import (
	"testing"

	"drtmx/engine/history"
)

func TestClaimsOfPlain(t *testing.T) {
	for i := range Protocols {
		p := &Protocols[i]
		v, err := Resolve(Spec{Set: Knobs{"cc": p.Name, "workload": "registers"}})
		if err != nil {
			t.Fatal(err)
		}
		want := p.Claim
		if p.ClaimOf != nil {
			want = p.ClaimOf(v)
		}
		if all, writers := ClaimsOf(v); all != want || writers != want || history.Weaker(want, history.StrictSerializable) != want {
			t.Errorf("%s claims %s, %s among writers, want %s", p.Name, all, writers, want)
		}
	}
}
