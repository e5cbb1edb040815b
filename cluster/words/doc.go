// Package words writes what people read of a cluster in one line: numbers with units, knobs, errors.
// What it leaves out: documents, tables and pictures, which are with what they show.
package words
