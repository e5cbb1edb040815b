// Package canvas has what static pictures are drawn on and with beside a plotting library's own: a canvas of another size, one whose text
// LaTeX sets, bars with a pattern, which tell parts apart in print, a second vertical axis, and titles of logarithmic axes.
package canvas
