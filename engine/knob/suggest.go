package knob

import (
	"slices"
	"strings"
	"unicode"
)

// DidYouMean names the candidates that s is the beginning of, or the nearest one, or
// those that begin as s does, or nothing when there are none of these.
func DidYouMean(s string, candidates []string) string { return within(len(s)/3+1, s, candidates) }

// within is DidYouMean with the most letters that may differ.
func within(most int, s string, candidates []string) string {
	best, bestDist := "", most+1
	low := strings.ToLower(s)
	if len(s) > MaxText {
		return ""
	}
	parts := siblings(low+".", candidates)
	for _, c := range candidates {
		d := editDistance(low, strings.ToLower(c))
		if tail := strings.HasSuffix(c, "."+low); tail {
			d = 1 // the last part alone, as in "validation" for "phase.validation"
		}
		if d < bestDist {
			best, bestDist = c, d
		}
	}
	switch {
	case parts != "":
		return parts
	case best != "":
		return ", did you mean " + best + "?"
	}
	if dot := strings.LastIndexByte(low, '.'); dot > 0 {
		return siblings(low[:dot+1], candidates)
	}
	return ""
}

// TakenBy names the knob that has a value among its choices, if there is one alone: "; cc takes rc".
func TakenBy(value string) (text string) {
	for _, e := range Rows() {
		switch {
		case !slices.Contains(e.Choices, value):
		case text != "":
			return ""
		default:
			text = "; " + e.Name + " takes " + value
		}
	}
	return text
}

// labelled names the knob with this word in its label, at its beginning if there is one,
// as nodes is labelled Machines.
func labelled(word string) string {
	stem := func(w string) string { return strings.TrimSuffix(strings.ToLower(w), "s") }
	inside := ""
	for _, e := range Rows() {
		for i, w := range strings.FieldsFunc(e.Label, func(r rune) bool { return !unicode.IsLetter(r) }) {
			switch {
			case stem(w) != stem(word):
			case i == 0:
				return ", did you mean " + e.Name + "?"
			case inside == "":
				inside = ", did you mean " + e.Name + "?"
			}
		}
	}
	return inside
}

// siblings names the candidates that begin with prefix, if they are many some of them.
func siblings(prefix string, candidates []string) string {
	var parts []string
	for _, c := range candidates {
		if strings.HasPrefix(c, prefix) {
			parts = append(parts, c)
		}
	}
	switch {
	case len(parts) > 3:
		return ", there are " + strings.Join(parts[:3], ", ") + " and others"
	case len(parts) > 0:
		return ", there is " + strings.Join(parts, ", ")
	}
	return ""
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
