package charts

// LinesPicture is the static form of Lines, for files: SVG, PNG and PDF.
func LinesPicture(title string, x, y Axis, series []Series) Picture {
	return tracksPicture(title, x, []Track{{y, series}}, nil, Size{defaultWidth, defaultHeight})
}

// RankingPicture is the static form of Ranking, for files.
func RankingPicture(title string, y Axis, parts []Part, bars []Bars) Picture {
	return stackedPicture(title, y, parts, bars, rankingSize(len(bars)))
}
