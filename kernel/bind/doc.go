// Package bind makes compiled packages importable in notebooks. It is written
// by kernel/nbgen from packages.txt; blank-import it.
//
// Left out: generic functions and types, which the interpreter cannot use, and
// promoted methods as separate entries, which it would mix up.
package bind

//go:generate go run drtmx/kernel/nbgen -list packages.txt -o . -p bind
