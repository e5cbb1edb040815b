package palette

import (
	"math"
	"strconv"
)

// RGB are the parts of a colour #rrggbb.
func RGB(colour string) (r, g, b uint8) {
	n, err := strconv.ParseUint(colour[1:], 16, 32)
	if err != nil {
		panic("palette: " + colour + " is no #rrggbb") // all colours are of this package
	}
	return uint8(n >> 16), uint8(n >> 8), uint8(n)
}

// InkOn is the colour of text on a ground: of two inks the one with the higher contrast, as WCAG
// computes it.
func InkOn(ground string) string {
	if Contrast(ground, DarkInk) > Contrast(ground, LightInk) {
		return DarkInk
	}
	return LightInk
}

// Contrast is that of WCAG 2: the quotient of two luminances, of which 0.05 is what a screen reflects.
func Contrast(a, b string) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

func luminance(colour string) float64 {
	r, g, b := RGB(colour)
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// linear is a part of a colour without the curve of sRGB.
func linear(v uint8) float64 {
	x := float64(v) / 255
	if x > 0.04045 {
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return x / 12.92
}
