// Package space is how the memory of a simulated machine is addressed, in lines, blocks and pages, and where
// the host keeps it: address space that takes memory when it is first touched. Systems without mmap have
// ordinary memory.
package space
