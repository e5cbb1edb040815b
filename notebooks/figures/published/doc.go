// Package published has the numbers that the thesis publishes: rows.csv for the calibration, with their use, and the results of
// whole systems, which package prediction keeps. Nothing here is measured.
package published
