// Package exploration holds some messages back, and notes in which order clients accessed memory and which of them ended
// before another began. It is for running a small system through many orders: see engine/explore.
//
// Messages are numbered in the order in which they leave their RNIC, from 0: requests, responses, datagrams. So is, among
// them, what wakes a thread in the background, such as a trainer. What leaves before message n does not depend on whether n is
// held back, so that a list of delays is a path through a tree. Those behind a delayed message from the same queue pair to the
// same other one wait for it, as on a network that keeps their order.
//
// Two runs of one spec with the same Order had, on every line of memory, the same accesses with the same bytes, by the
// same threads and in the same order, but for reads between two writes. So every thread has read the same. The bytes of
// messages are not part of it, nor is what code keeps outside of simulated memory and does not touch there.
package exploration
