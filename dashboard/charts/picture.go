package charts

// LinesPicture is the static form of Lines, for files: SVG, PNG and PDF.
func LinesPicture(title string, x, y Axis, series []Series) Picture {
	return tracksPicture(title, x, []Track{{y, series}}, nil, Size{defaultWidth, defaultHeight})
}
