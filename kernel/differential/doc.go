// Package differential has tests that the notebook kernel computes what compiled Go computes.
//
// A cell is run by an interpreter, and one that is wrong for a program does not say so. Here programs are run by the
// kernel without Jupyter: those that were wrong once, which the edits of kernel/mkkernel are for, and generated ones,
// which print the same when they are compiled.
//
// Generated programs have all basic types and types of their own, arrays, slices, maps, structs with embedded ones, pointers,
// functions and methods, interfaces with methods and what they hold, declarations in any order; all operators and assignments,
// constants at the ends of types, conversions, shadowed and captured variables eight scopes deep, all loops and switches, labels,
// defer, panic and recover.
//
// Left out: goroutines and channels, generics, what Go leaves open (the order of a map, of an operation that panics and a call, of
// a call and what it changes in the same statement), and types of a program in an interface without methods, which the kernel
// refuses where it would mix them up: a test lists how.
package differential
