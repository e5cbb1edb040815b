package prediction

import "math"

// Ratio is a number of this row as the ratio of two lines; package prediction has the rule.
func (p *Published) Ratio(v float64) float64 {
	switch p.Compare {
	case compareMore:
		return 1 + v/100
	case compareLess:
		return 1 - v/100
	case compareShare:
		return v / 100
	}
	return v
}

// Off is how far a prediction is off what is published, as a share of it and with a sign: both as ratios, the end of a range
// that is farther off. false: there is no number.
func (p *Published) Off(predicted string) (float64, bool) {
	if p.Order() {
		return 0, false
	}
	from, to, err := Span(predicted)
	if err != nil {
		return 0, false
	}
	a, b := p.Ratio(from)/p.Ratio(p.From)-1, p.Ratio(to)/p.Ratio(p.To)-1
	if math.IsNaN(a) || math.IsInf(a, 0) {
		return 0, false
	}
	if math.Abs(a) > math.Abs(b) {
		return a, true
	}
	return b, true
}

// Share is a prediction by what is published, both as ratios: 1 is as published, of a range the end that is farther off.
func (p *Published) Share(predicted string) (float64, bool) {
	off, ok := p.Off(predicted)
	return 1 + off, ok
}
