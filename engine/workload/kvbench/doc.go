// Package kvbench is the load of chapter 3: requests to an ordered key-value store, of YCSB A to F as Table 3-1 has
// them, and of two production mixes (§3.7.1). Any store.KVKind serves them.
//
// A client is a coroutine. It draws a type by weight, then a key, and sends one request after the other: a GET, an
// UPDATE, an INSERT, a SCAN of 1 to 100 pairs, or a read-modify-write, which is a GET and then an UPDATE of the same
// key, with nothing to keep others from coming between. Keys have 8 bytes, or, with workload.key_bytes, different lengths: then what is
// said of keys here is said of the numbers that they stand for, and there are no SCANs.
//
// # Which keys
//
//   - uniform: each initial key as likely.
//   - zipfian: the i-th key of the set with probability proportional to 1/(i+1)^theta, so that popular keys are
//     neighbours.
//   - scrambled: the same probabilities, the popular keys scattered over the set. It is YCSB's own "zipfian"; the
//     chapter does not say which of the two it has, and explains its results with a small range of memory.
//   - latest: the client's own inserts, the latest with the highest probability, of its last 1,024; until there is one,
//     any initial key.
//
// Where a client inserts, its uniform reads include its own last 1,024 inserts in their proportion. An INSERT's key
// is uniformly random between the lowest and the highest initial key and none of them; that a client inserted it before is
// rare, and then the store says so.
//
// With an insert rate the clients of the last machine insert, at that rate, and the others do not (§3.7.6).
//
// # What is assumed
//
// The chapter states neither theta (0.9 to 1.2) nor the data set of the production workloads nor how long
// their scans are; Prod2's skew is zipfian here. Its data sets have their own assumptions, see xstore/dataset.
//
// # What is checked
//
// A value names its key and its writer: 16 bits of a hash of the key, 20 of the writer, 28 of the writer's count;
// what is longer is filled with a hash of these and the key. So every value that a GET or a SCAN brings is checked by
// itself: whole, of that key, and written by a client by then. And since no two writes are alike, whether the answers
// of all clients fit together, key by key, can be decided exactly while they come in: see register. A key that is there is
// found (§3.4.3, "no lost keys"), and has a value that had not been overwritten when the request began.
//
// A SCAN is checked for order, for pairs without a writer, and for completeness: a key within its range that was there all
// the time is in it. Its pairs may be of different moments (§3.4.2.2). At rest every key that was written is looked up.
//
// The knob check chooses: full is all keys, sampled one of 64, off none. Memory is bounded: when more than 2 M keys
// have been written, every second of them is given up, and so on.
//
// # Crashes
//
// A server that logs has its keys again behind a crash (§3.4.4), without what had not reached its SSD. The store says up to
// which time answers are durable, and when it has recovered. Then each key that was written must have a value that no durable
// write has to come behind, and from then on it is judged as any other. Clients take a break behind an error, and go on.
//
// # Left out
//
//   - DELETE: no workload of the chapter has it, and the checks build on that.
//   - Verdicts on requests that were under way when their server crashed or came back: their clients have an error, or an
//     answer of before or after. A write of a client that crashed may take effect at any time.
package kvbench
