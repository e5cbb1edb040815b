// Package fast has files of ours that become part of the interpreter's package of that name, gomacro/fast: what
// the edits of kernel/mkkernel call. kernel/mkkernel puts them there when it builds the kernel; here they are empty.
package fast
