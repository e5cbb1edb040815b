package knob

import (
	"fmt"
	"math"
	"strconv"
)

// Readable writes durations and sizes with the largest unit that divides them, and numbers that have a word as the word.
func Readable(name string, v any) any {
	e, n := Find(name), 0
	if i, ok := v.(int); ok && e != nil && i != 0 {
		n = i
	} else {
		return v
	}
	if word, ok := e.Words[n]; ok {
		return word
	}
	units := []Unit(nil)
	switch e.Kind {
	case Duration:
		units = []Unit{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}
	case Bytes:
		units = []Unit{{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
	}
	for _, u := range units {
		if n%int(u.Factor) == 0 {
			return strconv.Itoa(n/int(u.Factor)) + u.Suffix
		}
	}
	return v
}

// Format writes a value as a person would type it.
func Format(knob string, v any) string {
	v = Readable(knob, v)
	if f, ok := v.(float64); ok && math.Abs(f) >= 1 {
		return strconv.FormatFloat(f, 'f', -1, 64) // 1e+09 is hard to read
	}
	return fmt.Sprint(v)
}
