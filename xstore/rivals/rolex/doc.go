// Package rolex is a rival of XStore that the thesis does not have: an ordered learned store for disaggregated memory, in the
// manner of ROLEX (Li, Hua, Zuo, Chen, Sheng, "ROLEX: A Scalable RDMA-oriented Learned Key-Value Store for Disaggregated Memory
// Systems", FAST 2023), by what is publicly described of it. Memory nodes have leaves and nothing to compute with. Clients predict by
// models, READ leaves, lock them by CAS, and WRITE them. They train the models too, which ROLEX leaves to dedicated cores of its
// memory nodes: here these have none, and the time and the READs of a training are the clients'.
//
// # What is modelled
//
// Servers are memory nodes: none of their cores ever serves a request. A leaf has up to 16 pairs in order, and the range of keys
// that belongs to it. Initial leaves lie one behind the other; each begins a group. A leaf that is full gets a
// synonym: a new leaf, behind it in the group, that takes the upper half of its pairs and of its range, and that it
// links to. No pair ever leaves its group. That is what keeps models valid: one that was trained long ago leads to
// the group's first leaf, or to the synonym that it knew, and the links lead on from there.
//
// Models are piecewise linear functions with a bounded error (model.Pieces) from a key to a place among leaves. They are trained
// with the lowest keys of the leaves, and since they never fall, the bounds that training finds hold for all keys, absent
// ones and later ones included. A segment is 256 initial leaves, whose models are trained together; a top model of the same kind
// leads to the segment. Clients have all models. Those of initial leaves need no table of leaves; later ones bring theirs.
//
//   - GET READs the leaves that the model predicts, mostly one, with their values, in one round trip; then synonyms if the key
//     is behind the last leaf that begins below it. Versions in each line show a leaf that was caught in a change.
//   - SCAN READs up to 32 leaves at once, and the synonyms between them.
//   - UPDATE, INSERT and DELETE lock the leaf and READ it by one chain of CAS and READ, check its range, and WRITE it back with the lock
//     released in its first line. A new synonym is written before the leaf that links to it, by the same queue pair. A
//     lock that is taken is tried again after a random pause.
//   - Memory for leaves is taken by fetch-and-add, 16 at a time for each thread.
//
// # Retraining
//
// Each split counts in the segment's entry of the directory, by fetch-and-add. The client whose split is the 16th since the last time
// has its thread train the segment: a coroutine of the thread, beside those of the workload, takes the
// segment's lock, READs the headers of all leaves along the links, trains, WRITEs model and table of leaves into new
// memory, and then the word that leads there. Other clients learn of it when they READ a synonym: the same round trip brings that
// word. No client waits for a training, and none moves a pair; what was split while it ran is found by links.
//
// # What is assumed
//
// Leaves begin half full, as XStore's. Segment, error and the number of splits are knobs whose defaults are ours, as are the cycles of
// training a leaf. The error is as small as models allow that take no more memory than XStore's cache. Models are Go values on the client; looks at them are charged as of arrays with as much room for each as initial models
// take in the mean.
//
// # Left out
//
//   - Reuse of leaves and of published models: deletes leave leaves empty, and what is short of memory is not trained again.
//   - Segments never divide: one with over 4,096 leaves keeps its last model.
//   - Clients that crash: their locks stay.
//   - A table of leaves with its locks and synonyms apart from them, as ROLEX has it: here lock and link are in the
//     leaf, so that the READ of a leaf brings both.
//   - Values of different lengths. A leaf with its values has to fit a WRITE of 4 KB.
package rolex
