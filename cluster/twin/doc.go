// Package twin keeps a second system level with one that a page shows, so that the answer to "what if I had not turned that
// knob" is there at once. The twin takes the same changes at the same virtual times; when a knob is turned it stays
// behind as the ghost of that change, still hidden, and the next twin is built from 0.
//
// A Standby decides when there is a twin, a Follower what it does next, a Spare when it may have the CPU. The agent whose
// systems these are is behind the interface Host: this package knows no loop, no command and no page.
//
// A twin changes no result: it is a system like the shown one and is never ahead of it. Caveat: it takes the memory of
// another system, and is given up where that is short.
package twin
