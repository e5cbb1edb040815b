package shell

import "testing"

func TestWord(t *testing.T) {
	for _, c := range [][2]string{{"ddio=false", "ddio=false"}, {"", "''"}, {"a b", "'a b'"}, {"it's", `'it'\''s'`}, {"$HOME", "'$HOME'"}, {"r=open:1e6/s", "r=open:1e6/s"}} {
		if got := Word(c[0]); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
}
