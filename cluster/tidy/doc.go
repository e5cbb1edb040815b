// Package tidy holds what runs gave as a tidy table: a row is an observation, a column a variable, whose name says
// its unit. Tables are written as CSV and as Parquet, which notebooks of other languages read with their types.
//
// A column has one type: whole numbers, numbers, truth values or text. A cell may be missing, which is an empty one
// in CSV and null in Parquet.
package tidy
