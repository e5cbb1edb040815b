// Package figure is the frame of a figure: the definition that a chapter gives, the recipe that computes it, the figure that
// comes out, and the claims that are measured of it.
//
// A Definition has the figure's axes, a Plan for each scale, and a function that measures the thesis's sentences. A Recipe runs
// the plan, keeps the runs in the run store, and measures runs that are not steady again. A Figure draws itself as text, HTML,
// SVG, PNG, PDF and CSV.
//
// Claims are measured by ratios of lines (Ratio, Pair), by numbers of points, or by what a chapter makes of both; each has a
// verdict that follows from the 95 % intervals, and says what limited the runs behind it.
//
// Caveat: a chapter's code asks for its own lines by name (Line), and a name that the figure does not have is a bug of the
// chapter, which panics.
package figure
