package knob

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxText bounds a typed value: nothing that a knob takes is longer.
const MaxText = 256

var DurationUnits = []Unit{{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

var byteUnits = []Unit{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
}

var CountUnits = []Unit{{"k", 1e3}, {"m", 1e6}, {"g", 1e9}}

// Unit is one that a number may end with.
type Unit struct {
	Suffix string
	Factor float64
}

// Parse turns what a person, YAML, JSON or Go code gave into the knob's canonical value: bool, int,
// float64 or string, within its range.
func (k Knob) Parse(v any) (any, error) {
	c, rule := k.Canonical(v)
	if rule == "" {
		rule = k.outOfRange(c)
	}
	if rule != "" {
		return nil, &Error{Field: k.Name, Value: Clip(v), Rule: rule, Next: "see `drtmx knobs " + k.Name + "`"}
	}
	return c, nil
}

func (k Knob) Canonical(v any) (value any, rule string) {
	v = Plain(v)
	if s, ok := v.(string); ok && utf8.RuneCountInString(s) > MaxText {
		return nil, fmt.Sprintf("longer than %d characters", MaxText)
	}
	switch k.Kind {
	case Bool:
		return toBool(v)
	case Int:
		return ToInt(v, CountUnits, "a whole number such as 8 or 100k")
	case Duration:
		return ToInt(v, DurationUnits, "a duration such as 500ns, 5us or 2ms")
	case Bytes:
		return ToInt(v, byteUnits, "a size such as 64KB or 300MB")
	case Float:
		return toFloat(v)
	case Choice:
		s, ok := v.(string)
		if !ok {
			return nil, "must be one of " + strings.Join(k.Choices, ", ")
		}
		for _, c := range k.Choices {
			if s == c {
				return s, ""
			}
		}
		return nil, "must be one of " + strings.Join(k.Choices, ", ") + cmp.Or(DidYouMean(s, k.Choices), TakenBy(s))
	case Text:
		s, ok := v.(string)
		if !ok {
			return nil, "must be text"
		}
		return s, ""
	}
	panic("knob:  " + k.Name + " has no kind")
}

// Plain reduces named and sized types to bool, int, float64 or string. time.Duration becomes its
// nanoseconds.
func Plain(v any) any {
	switch x := v.(type) {
	case nil, bool, int, float64, string:
		return v
	case time.Duration:
		return int(x)
	case json.Number:
		if i, err := strconv.Atoi(x.String()); err == nil {
			return i
		}
		f, err := x.Float64()
		if err != nil {
			return x.String()
		}
		return f
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Bool:
		return r.Bool()
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return int(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() > math.MaxInt64 {
			return float64(r.Uint())
		}
		return int(r.Uint())
	case reflect.Float32:
		return r.Float()
	case reflect.Float64:
		return r.Float()
	case reflect.String:
		return r.String()
	}
	return v
}

func toBool(v any) (any, string) {
	switch x := v.(type) {
	case bool:
		return x, ""
	case string:
		switch x {
		case "true", "on":
			return true, ""
		case "false", "off":
			return false, ""
		}
	}
	return nil, "must be true or false"
}

func ToInt(v any, units []Unit, want string) (any, string) {
	switch x := v.(type) {
	case int:
		return x, ""
	case float64:
		return wholeNumber(x, want)
	case string:
		s := strings.ReplaceAll(strings.TrimSpace(x), "_", "")
		if i, err := strconv.Atoi(s); err == nil {
			return i, ""
		}
		low := strings.ToLower(s)
		for _, u := range units {
			num, ok := strings.CutSuffix(low, u.Suffix)
			if !ok {
				continue
			}
			num = strings.TrimSpace(num)
			if i, err := strconv.Atoi(num); err == nil && abs(i) < 1<<20 {
				return i * int(u.Factor), ""
			}
			if f, ok := decimal(num); ok {
				// Rounded, for 2.3 has no exact double.
				return wholeNumber(math.Round(f*u.Factor*1e3)/1e3, want)
			}
		}
		if f, ok := decimal(low); ok {
			return wholeNumber(f, want)
		}
	}
	return nil, "must be " + want
}

// InUnits is a number in the knob's own unit, or what was typed if it is none.
func InUnits(s string, units []Unit) any {
	for _, u := range units {
		if num, ok := strings.CutSuffix(strings.TrimSpace(s), u.Suffix); ok {
			if f, ok := decimal(strings.TrimSpace(num)); ok {
				return math.Round(f*u.Factor*1e6) / 1e6 // 0.33 has no exact double
			}
		}
	}
	return s
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}

// decimal reads a plain decimal number: no hexadecimal, no Inf, no NaN.
func decimal(s string) (float64, bool) {
	if s == "" || strings.ContainsAny(s, "xXpPnNiI_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func wholeNumber(f float64, want string) (any, string) {
	if f != math.Trunc(f) || math.Abs(f) >= 1<<53 { // from there on a double stands for several whole numbers
		return nil, "must be " + want
	}
	return int(f), ""
}

func toFloat(v any) (any, string) {
	switch x := v.(type) {
	case int:
		return float64(x), ""
	case float64:
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			return x + 0, "" // JSON gives a -0 back as 0
		}
	case string:
		s := strings.TrimSpace(x)
		if p, ok := strings.CutSuffix(s, "%"); ok {
			if f, ok := decimal(p); ok {
				return f/100 + 0, ""
			}
		} else if f, ok := decimal(s); ok {
			return f + 0, ""
		}
	}
	return nil, "must be a number such as 0.99"
}

func (k Knob) outOfRange(v any) string {
	switch x := v.(type) {
	case int:
		if (k.Min != nil && x < k.Min.(int)) || (k.Max != nil && x > k.Max.(int)) {
			return "must be " + k.rangeText()
		}
	case float64:
		if (k.Min != nil && x < k.Min.(float64)) || (k.Max != nil && x > k.Max.(float64)) {
			return "must be " + k.rangeText()
		}
	}
	return ""
}

func (k Knob) rangeText() string {
	switch {
	case k.Min != nil && k.Max != nil:
		return fmt.Sprintf("from %s to %s", Format(k.Name, k.Min), Format(k.Name, k.Max))
	case k.Min != nil:
		return "at least " + Format(k.Name, k.Min)
	default:
		return "at most " + Format(k.Name, k.Max)
	}
}

// Range is what the knob takes, as it can be typed.
func (s State) Range() string {
	switch {
	case len(s.Choices) > 0:
		return strings.Join(s.Choices, "|")
	case s.Kind == Bool:
		return "true|false"
	case s.Min != nil && s.Max != nil:
		return Format(s.Name, s.Min) + ".." + Format(s.Name, s.Max)
	}
	return s.Kind
}
