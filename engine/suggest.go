package engine

import "strings"

// didYouMean names the nearest candidate, or nothing when none is near.
func didYouMean(s string, candidates []string) string {
	best, bestDist := "", len(s)/3+2
	low := strings.ToLower(s)
	if len(s) > maxText {
		return ""
	}
	for _, c := range candidates {
		d := editDistance(low, strings.ToLower(c))
		if tail := strings.HasSuffix(c, "."+low); tail {
			d = 1 // the last part alone, as in "validation" for "phase.validation"
		}
		if d < bestDist {
			best, bestDist = c, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diag
			if a[i-1] != b[j-1] {
				cost = 1 + min(diag, row[j], row[j-1])
			}
			diag, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}
