// Package service carries the operations of a server-centric ordered store to its servers (thesis §3.1): every request is
// an RPC that a worker of the server executes.
//
// # What is modelled
//
// Servers have ranges of the initial keys in order, as in §3.4.5. A server may have several instances, one for each of its
// first sockets, as §3.7.1 deploys eRPC+Masstree and RDMA-Memcached: an instance has a part of the server's keys, and
// threads of its socket serve them. A client's request goes to the thread of its own index, or of the neighbouring index
// where that is of the key's instance. On the own machine an operation is a call.
//
// Transport is r2's RPC for every store: one UD queue pair per thread, requests repeated by the client until answered,
// replies in batches of one doorbell. That is also the design of eRPC. What eRPC has beside it is left out: session credits
// and congestion control, which do nothing without congestion (eRPC's "common case" optimisations bypass them), RECV
// descriptors of several packets, and the zero-copy reception that spares copying a request of one packet, which r2
// does not copy either.
//
// # Keys of an instance
//
// By range, an instance has a contiguous share of its server's keys: a scan is as long as on one instance, and skewed
// keys that are neighbours meet in one instance. By hash, keys go to instances in turn: the key with i initial keys of the
// cluster below it belongs to instance i modulo their number. That stands for a hash function, and lets initial keys be computed
// one by one. A scan asks all instances of a server for as many pairs as it wants and merges what comes back.
//
// # Left out
//
//   - Values of different lengths.
//   - A request of several keys.
package service
