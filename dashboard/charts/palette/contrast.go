package palette

import (
	"fmt"
	"image/color"
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

// RGBA is a colour #rrggbb for image packages.
func RGBA(colour string) color.RGBA {
	r, g, b := RGB(colour)
	return color.RGBA{r, g, b, 255}
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

// Between is a colour on the straight line from one to another; at goes from 0 to 1.
func Between(from, to string, at float64) string {
	r, g, b := RGB(from)
	r1, g1, b1 := RGB(to)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + at*(float64(y)-float64(x)))) }
	return fmt.Sprintf("#%02X%02X%02X", mix(r, r1), mix(g, g1), mix(b, b1))
}
