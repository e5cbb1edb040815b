package knob

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Error is the error of a bad spec: one line with the field, its value,
// the rule that it breaks and the next step.
type Error struct {
	Field string // the knob or key, "" where the whole document is meant
	Value string // as typed
	Rule  string
	Next  string
	Reset bool // a legal value, but only a new system can take it (HTTP 409)
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Field != "" {
		b.WriteString(e.Field)
		if e.Value != "" {
			fmt.Fprintf(&b, " = %s", e.Value)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Rule)
	if e.Next != "" {
		if !strings.HasSuffix(e.Rule, "?") {
			b.WriteByte(';')
		}
		b.WriteString(" " + e.Next)
	}
	return b.String()
}

// Invalid is the error of a value that breaks a rule.
func Invalid(field string, value any, next, rule string, args ...any) error {
	return &Error{Field: field, Value: Clip(value), Rule: fmt.Sprintf(rule, args...), Next: next}
}

// Clip keeps a typed value short enough for one line, and one that would look like none visible.
func Clip(v any) string {
	s := fmt.Sprint(v)
	switch reflect.ValueOf(v).Kind() {
	case reflect.Invalid: // nil, as JSON has it
		s = "null"
	case reflect.Map, reflect.Slice:
		if text, err := json.Marshal(v); err == nil {
			s = string(text)
		}
	case reflect.String:
		if strings.TrimSpace(s) == "" {
			s = strconv.Quote(s)
		}
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 60 {
		s = string(r[:57]) + "..."
	}
	return s
}
