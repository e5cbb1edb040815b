package exploration

import (
	"reflect"
	"testing"
)

// Delays are written and read again, in the order of their messages; what is none is refused.
func TestDelaysAsText(t *testing.T) {
	for text, want := range map[string][]Delay{
		"none": nil, "17:2": {{17, 2}}, "23:1, 17:2": {{17, 2}, {23, 1}},
	} {
		list, err := ParseDelays(text)
		if err != nil || !reflect.DeepEqual(list, want) {
			t.Errorf("%q: %v, %v, want %v", text, list, err, want)
		}
		if again, err := ParseDelays(FormatDelays(list)); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("%q: %q reads as %v, %v", text, FormatDelays(list), again, err)
		}
	}
	for _, text := range []string{"", "17", "17:0", "-1:2", "a:1", "17:2,17:1", "17:2,", "1:2:3"} {
		if list, err := ParseDelays(text); err == nil {
			t.Errorf("%q is taken as %v", text, list)
		}
	}
}
