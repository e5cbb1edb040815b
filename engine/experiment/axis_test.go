package experiment

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestBadAxes(t *testing.T) {
	for _, tt := range []struct{ over, want string }{
		{"coroutine=1,2", "did you mean coroutines?"},
		{"coroutines", "must be KNOB=VALUE"},
		{"coroutines=1,x", "coroutines = x: must be a whole number"},
		{"coroutines=1,,2", "whole number"},
	} {
		if _, err := ParseAxis(tt.over); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.over, err)
		}
	}
}

// The values of an axis that was written as JSON are those that it had.
func TestAxisReadsBackItsValues(t *testing.T) {
	a := Axis{Knob: "seed", Values: []any{1, 1<<53 + 1}}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var b Axis
	if err := json.Unmarshal(text, &b); err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v became %v, %v", a, b, err)
	}
}
