package engine

import (
	"encoding/json"
	"testing"

	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// A result has the version of what its system could execute: of its parts, or of the build once a change has chosen others.
func TestResultsSayTheirCode(t *testing.T) {
	s := open(t, small(experiment.Knobs{"cc": "rococo", "workload": "registers", "ts.scheme": "dst"}))
	for _, c := range []struct {
		set  experiment.Knobs
		want string
	}{
		{nil, code.Of(s.Values())},
		{experiment.Knobs{"coroutines": 1}, code.Of(s.Values())},
		{experiment.Knobs{"ts.scheme": "none"}, code.Build()},
		{experiment.Knobs{"ts.scheme": "dst"}, code.Build()},
	} {
		if c.set != nil {
			if _, err := s.Set(c.set, "test"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Advance(200_000); err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		if r.Code != c.want || !r.Current() {
			t.Errorf("after %v the result is of code %s, current %v, want %s", c.set, r.Code, r.Current(), c.want)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var kept result.Result
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		if kept.Code = "src-0"; kept.Current() {
			t.Errorf("after %v a result of other code is current", c.set)
		}
	}
}
