// Package rings has the buffers of RPC by WRITE: rings in a thread's memory, one for each other thread that writes its messages into it.
//
// It is their memory and what they hold. When a thread looks at its rings, what that costs, and who writes when is r2's.
package rings
