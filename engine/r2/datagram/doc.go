// Package datagram has the formats of RPC messages, and what a thread keeps of those that are under way: which requests of a peer have
// arrived, replies that may be asked for again, requests that are here in part, how long answers take, and the memory of messages.
//
// It is arithmetic and bookkeeping: what is sent when, and what it costs, is r2's. The header is the original's 32 bits (type, rpc id,
// payload size, coroutine) and 32 more for sequence, cumulative acknowledgement and the oldest unanswered request. A message that does
// not fit a datagram goes in segments of its kind and sequence number, whose header has the size of the whole.
package datagram
