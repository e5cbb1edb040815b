// Package bind makes compiled packages importable in notebooks: those that packages.txt names. A type of a cell that implements
// an interface of theirs implements what optional.txt names for it as well, if it has the methods. Its files are written by
// kernel/nbgen when kernel/mkkernel builds the kernel, and are nowhere else: without them the package is empty.
//
// Left out: generic functions and types, which the interpreter cannot use, and
// promoted methods as separate entries, which it would mix up.
package bind
