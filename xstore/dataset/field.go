package dataset

import (
	"math"

	"drtmx/engine/store"
	"drtmx/xstore/model"
)

// Field is a part of composite keys that a model takes as a predictor of its own (§3.4.1: multi-variate regression).
type Field struct {
	Name        string
	Shift, Bits uint
	Float       bool // 32 bits of a float, in an order that unsigned numbers have: see ordered
}

// Of is a key's field as a number.
func (f Field) Of(key uint64) float64 {
	x := key >> f.Shift & (1<<f.Bits - 1)
	if f.Float {
		return float64(float(uint32(x)))
	}
	return float64(x)
}

// Composite is a set whose keys have fields, the one that decides first first.
type Composite interface{ Fields() []Field }

// Predictors are what a multi-variate model predicts from: the fields of a set's keys, or, of keys without fields, the whole key.
func Predictors(keys store.Keys) (list []model.Field) {
	c, ok := keys.(Composite)
	if !ok {
		return []model.Field{{Bits: 64}}
	}
	for _, f := range c.Fields() {
		list = append(list, model.Field{Shift: uint8(f.Shift), Bits: uint8(f.Bits)})
	}
	return list
}

// ordered are the bits of a float, such that those of larger ones are larger.
func ordered(x float32) uint32 {
	b := math.Float32bits(x)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// float has these bits.
func float(b uint32) float32 {
	if b>>31 != 0 {
		return math.Float32frombits(b &^ (1 << 31))
	}
	return math.Float32frombits(^b)
}
