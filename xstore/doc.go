// Package xstore is XStore (thesis chapter 3): an ordered key-value store whose server keeps a B+tree (package tree), and whose
// clients find keys by machine-learning models of it (package model), with one READ in the common case.
//
// # What is modelled
//
//   - The server has the tree, a version of the model with its sub-models and translation tables in registered memory, and
//     threads that retrain what splits have made stale. UPDATE, INSERT and DELETE are RPCs.
//   - A client predicts the leaves of a key, READs their keys with one doorbell, compares incarnations, and READs the value:
//     GET and SCAN without the server's CPU. What its cache cannot answer the server does, and its reply brings the
//     sub-model and the table that are newer.
//   - A split leaf's sub-models are retrained in the background, one task for each split; a model with more or fewer
//     sub-models is built beside the one in use and committed by its number (§3.4.3.2).
//   - Modes of the cache: the whole model, sub-models without tables, the top model only; and, to compare with, caches of
//     the tree's nodes: all of them, those that Cell keeps, none.
//   - Servers have ranges of keys; a scan goes on at the next one (§3.4.5).
//
// # When a lookup may be answered
//
// A leaf's incarnation is compared with that of the table's entry. After a mismatch only "found" is answered, for the leaf may
// have lost half of its keys to its right neighbour; a key that is neither in the leaf nor in that is the server's to look for.
// "Not found" needs all leaves of the prediction as they were when the sub-model was trained, whose errors cover every key that
// the tree would route to them. Sub-model and table are of one generation, which every line of the table carries. A value's
// slot has its key: if that is another one the lookup begins again.
//
// # Keys of different lengths
//
// The thesis leaves them to future work, and discusses fat pointers with a hash in the leaves (§3.6). Here tree and models have
// the hash of a key, of 64 bits, for the key. The hash is computed by the client, on all bytes; requests, records and logs have
// the bytes of the key too, and a lookup that has found the hash compares them: the client that READs, and the server for all else. Keys
// that share a hash are behind each other in a list, in which a key that is there all the time is never missed (package tree), so that
// xstore.hash_bits, which makes hashes narrow, changes nothing but the time.
//
// A GET is two round trips, as with keys of 8 bytes: the lookup READ brings the slots with the fat pointers too, 320 bytes of a leaf that
// is half full instead of 142, and the second one key and value.
//
// What a hash loses is the order of the keys. There are no SCANs, ranges of servers are ranges of hashes, and keys that are close to
// each other are not for the models: to those all data sets are uniformly random.
//
// # What a client cannot know
//
// It learns of a new version of the model from a word that it READs every 200 us. It learns of a retrained sub-model when a
// lookup falls back, or fetches it when a scan did. With speculation on, lookups that still find their key in a split leaf or at its right do not: the stale
// sub-model stays until a key is in neither.
//
// # Crashes
//
// A server that logs (§3.4.4) rebuilds its tree from the initial keys and its logs when it starts again, in a new epoch of
// incarnations: no entry that a client still has cached matches. Clients can reach it from then on, and ask it for everything until a
// trainer has made a whole model. What had not reached the SSD is lost, answered or not. A client's machine that crashes has
// caches as at the start.
//
// # Secondary indexes of transactions
//
// Indexes are stores whose keys are a part's number and below it the part's key, so all of both has to fit 64 bits. An entry's
// value has 8 bytes. A scan goes up or down by the translation tables, and ends where the sub-model predicts the other end if that
// is one of its keys. An index takes part in a transaction's phase, and posts as a client of XStore does. Its servers run
// transactions, too: what they do with their own parts they do on the tree. The indexes of a machine share its trainers, the
// cores of which are those of workers that hold locks meanwhile. An index is as linearizable by key as a store is; a scan is not
// read at one moment, which package txn does not count on.
//
// Where the parts' keys are far from each other, as the orders of districts are, a top model that is linear in the whole key sends
// all keys of a part to few sub-models.
//
// # Left out
//
//   - Initial keys of different lengths are sorted by their hashes at the start, 16 bytes of the host's memory each.
//   - An index of a server that has crashed is not made anew. Transactions have no such fault.
//   - Logs are never cut, and a checkpoint is the keys of the start. Recovery is charged for reading the logs and for
//     making the tree, by one thread; sorting the changes is free.
//   - The bytes of a top model are READ, but its numbers are those of the simulator's own object.
//   - A client's cache is Go values. Looks at it are charged as of two arrays in its memory, of sub-models and of entries.
//   - Memory of old versions of the model, and of tables that have outgrown their places, is not used again.
//   - A generation has 12 bits: a client that keeps a sub-model while it is retrained 4,096 times takes the new table for
//     its own.
package xstore
