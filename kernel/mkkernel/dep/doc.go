// Package dep has files of ours that become part of the interpreter's package of that name, gomacro/base/dep, which puts the
// declarations of a cell in order. kernel/mkkernel puts them there when it builds the kernel; here they are empty.
package dep
