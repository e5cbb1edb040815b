package model

import "fmt"

// Field is a predictor of a multivariate model: some bits of the key.
type Field struct{ Shift, Bits uint8 }

// of is the field's value.
func (f Field) of(key uint64) float64 { return float64(key >> f.Shift & (1<<f.Bits - 1)) }

// MLR is linear regression on several fields of the key. Which bits they are is known from the table and is not counted as
// memory.
type MLR struct {
	fields    []Field
	weights   []float64
	intercept float64
}

// degenerate is the share of a predictor's variance that may be left when those before it explain the rest: below, the
// predictor is their combination, up to rounding, and gets no weight.
const degenerate = 1e-12

// trainMLR solves the normal equations of centred predictors by Cholesky's method. Predictors are scaled to the same spread, so
// that a field of 30 bits and one of 4 lose the same number of digits.
func trainMLR(s sample, fields []Field) (*MLR, error) {
	if len(fields) == 0 {
		return nil, fmt.Errorf("top model mlr: no fields")
	}
	for _, f := range fields {
		if f.Bits < 1 || int(f.Shift)+int(f.Bits) > 64 {
			return nil, fmt.Errorf("top model mlr: field of %d bits from bit %d does not fit 64", f.Bits, f.Shift)
		}
	}
	rows := make([][]float64, len(s.keys))
	for i, k := range s.keys {
		rows[i] = make([]float64, len(fields))
		for j, f := range fields {
			rows[i][j] = f.of(k)
		}
	}
	if len(rows) == 0 {
		return &MLR{fields: fields, weights: make([]float64, len(fields))}, nil
	}
	weights, intercept := Regress(rows, s.y)
	return &MLR{fields: fields, weights: weights, intercept: intercept}, nil
}

// Regress is least squares of y on the columns of rows, of which there is at least one.
func Regress(rows [][]float64, y []float64) (weights []float64, intercept float64) {
	n, p := float64(len(rows)), len(rows[0])
	mean, spread := make([]float64, p+1), make([]float64, p+1) // y is the last column
	column := func(i, j int) float64 {
		if j == p {
			return y[i]
		}
		return rows[i][j]
	}
	for j := range mean {
		for i := range rows {
			mean[j] += column(i, j)
		}
		mean[j] /= n
		for i := range rows {
			d := column(i, j) - mean[j]
			spread[j] += float64(d * d)
		}
	}
	gram := make([][]float64, p+1) // of the scaled columns: correlations
	for j := range gram {
		gram[j] = make([]float64, p)
		for k := 0; k <= min(j, p-1); k++ {
			for i := range rows {
				gram[j][k] += float64((column(i, j) - mean[j]) * (column(i, k) - mean[k]))
			}
			if scale := sqrt(spread[j]) * sqrt(spread[k]); scale > 0 {
				gram[j][k] /= scale
			}
		}
	}
	weights = cholesky(gram, p)
	intercept = mean[p]
	for j := range weights {
		if spread[j] > 0 {
			weights[j] *= sqrt(spread[p]) / sqrt(spread[j])
		}
		intercept -= float64(weights[j] * mean[j])
	}
	return weights, intercept
}

// cholesky solves a p x p system of which g has the lower triangle and, as its last row, the right-hand side. An unknown whose
// row depends on those before it is 0.
func cholesky(g [][]float64, p int) []float64 {
	for j := range p {
		for k := range j {
			g[j][j] -= float64(g[j][k] * g[j][k])
		}
		independent := g[j][j] > degenerate
		d := sqrt(max(g[j][j], 0))
		g[j][j] = d
		for i := j + 1; i <= p; i++ {
			for k := range j {
				g[i][j] -= float64(g[i][k] * g[j][k])
			}
			if independent {
				g[i][j] /= d
			} else {
				g[i][j] = 0
			}
		}
	}
	w := make([]float64, p)
	for j := p - 1; j >= 0; j-- {
		w[j] = g[p][j]
		for i := j + 1; i < p; i++ {
			w[j] -= float64(g[i][j] * w[i])
		}
		if w[j] != 0 {
			w[j] /= g[j][j]
		}
	}
	return w
}

// Predict implements Top.
func (t *MLR) Predict(key uint64) float64 {
	p := t.intercept
	for i, f := range t.fields {
		p += float64(t.weights[i] * f.of(key))
	}
	return inUnit(p)
}

func (t *MLR) Bytes() int     { return 8 * (1 + len(t.weights)) }
func (t *MLR) Monotone() bool { return false } // a key's low fields may weigh more than a step of its high ones
func (t *MLR) Name() string   { return fmt.Sprintf("MLR of %d", len(t.fields)) }

// Cycles implements Top. Assumed: 4 cycles for each sum, which waits for the last one, products and fields beside them; the
// first field's extraction, conversion and product, and the bounds.
func (t *MLR) Cycles() int { return 4*len(t.fields) + 2 + 4 + 4 + 2*6 }
