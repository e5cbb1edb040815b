// Package chapter4 has the figures of chapter 4: DrTM+H and prior designs, phase by phase, and a ranking of every choice of
// primitives. Figures lists them. curves.go says what they share, and why TPC-C/no is drawn twice.
package chapter4
