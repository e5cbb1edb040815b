// Package runtable makes the table of a kept row of several runs, for the page: of a sweep its points, of a figure the points of its
// lines, of seeds the runs and their means, of systems side by side the runs. A line names the run behind it, if that is there.
package runtable
