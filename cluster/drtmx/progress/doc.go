// Package progress tells of long work on standard error: a bar on a terminal, elsewhere a line every ten seconds.
package progress
