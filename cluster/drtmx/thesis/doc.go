// Package thesis has the commands about the thesis's numbers: figure computes a figure or a gallery of all, predict the numbers of
// systems, verify the calibration table, and fit adjusts the numbers of a hardware profile to it.
package thesis
