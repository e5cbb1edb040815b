package charts

// LinesPicture is the static form of LinesSized, for files: SVG, PNG and PDF.
func LinesPicture(title string, x, y Axis, series []Series, refs []Reference) Picture {
	return tracksPicture(title, x, []Track{{y, series, refs}}, nil, Size{defaultWidth, defaultHeight})
}

// RankingPicture is the static form of Ranking, for files.
func RankingPicture(title string, y Axis, parts []Part, bars []Bars) Picture {
	return stackedPicture(title, y, parts, bars, rankingSize(len(bars)))
}

// TablePicture is the static form of Table, for files.
func TablePicture(title string, rows [][]string) Picture { return tablePicture(title, rows) }
