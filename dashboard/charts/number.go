package charts

import (
	"math"
	"strconv"
)

// Exact writes a value of an axis in full: a payload of 131072 bytes is not 131070 and
// not 1.3e+05.
func Exact(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// ByteCount writes a size with its unit: 64 bytes, 4 KB. As in the thesis a KB has 1024 of them.
func ByteCount(v float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1 << 20, " MB"}, {1 << 10, " KB"}} {
		if v >= u.of && math.Mod(v, u.of) == 0 {
			return Exact(v/u.of) + u.name
		}
	}
	return Exact(v) + " bytes"
}
