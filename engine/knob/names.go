package knob

import (
	"fmt"
	"strings"
)

// NameOf is the word of a value whose words are listed, and of one beyond them its number.
func NameOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprint(i)
}

// Number is the place of a resolved choice among its words.
func (v Values) Number(name string, words []string) int {
	i, err := ParseName(name, words, v.Text(name))
	if err != nil {
		panic("knob: resolved: " + err.Error())
	}
	return i
}

// ParseName is the place of a word among those listed. The error says what it should have been.
func ParseName(what string, names []string, s string) (int, error) {
	for i, n := range names {
		if s == n {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%s %q is unknown: use one of %s", what, s, strings.Join(names, ", "))
}
