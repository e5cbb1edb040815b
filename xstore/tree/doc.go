// Package tree is XTree, the concurrent B+ tree of an XStore server (thesis §3.4.1, §3.4.3): leaves in registered memory that
// clients READ without a message to the server, and an index above them for the server's own CPU.
//
// # Leaves
//
// A leaf begins on a line. First come the header of 8 bytes (INCA 24 bits, CNT 8, NXT 32) and the keys of all N slots, then the
// fence keys (the range that the tree routes to the leaf), which a lookup READ leaves out, then the values, each behind its key. NXT is the number of the right neighbour, all ones for none. Keys are in no order.
//
// What spans several lines has a 16-bit version at its start and at the start of each further line (record.Lines). That holds
// for values, and for header and keys as well: DELETE moves the last pair without a new incarnation. So with N = 16 the
// lookup READ is of 142 bytes: header 8, keys 128, three versions. The READ of a value is of 16 bytes for one of 8, and of 76 or 78
// for one of 64, with two or three versions: long values are not aligned to lines.
//
// A lookup that finds another key in front of the value, or versions that differ, begins again. What it finds is a value that the
// key had at some moment since the lookup began: the slot of a pair that DELETE has moved keeps its bytes.
//
// The incarnation grows when a leaf splits or is freed, and says that keys may be elsewhere. A leaf that is used again goes on
// with it. It wraps after 24 bits. Its upper 8 bits begin as the epoch, and each recovery has a new one.
//
// # Index
//
// Inner nodes have fence keys, level and an incarnation, and versions per line, so that clients of the stores XStore is compared
// with can READ them: 216 bytes with fanout 16. The root word says which node is the root.
//
// # Operations
//
// Each operation of the server is one HTM region. A region that runs under the fallback lock shows its stores one after the other
// to other machines, so stores are in an order in which that does no harm: a value before its key, a new leaf before what leads to
// it, and the leaf that it takes keys from last. Between the stores of a DELETE or a split a READ may find a key without its value,
// and is repeated.
//
// Trainers of models go through the leaves with a Cursor, whose loads are not in a region: others' changes come between, and
// instant training would hide what that does.
//
// # Memory
//
// Root word, inner nodes, leaves and heap are one region, interleaved over the sockets. All of it is a pure function of its place
// until it is touched: 100 million keys take address space only. Leaves are half full at the start, inner nodes ln 2 of full.
//
// Values of different lengths lie in a heap; the slot has a fat pointer. An entry repeats key and size, and a READ checks them.
//
// # Keys of different lengths
//
// They are kept by a hash (§3.6): Options.Real, and the operations whose names end in Real. The slot of a hash leads to records in the
// heap, which have key and value, one behind the other where keys share the hash; an operation compares the bytes of the key
// with each. A record is 22 bytes longer than key and value, and has a version of 2 bytes for each line if there are several: 46 for a key of
// 16 bytes and a value of 8. It takes whole lines, and those that are there from the start have room for the longest key.
//
// The thesis has the fat pointer with the hash in the place of the key, and a tree in the order of the keys. Here the order is that of
// the hashes: scans there are none.
//
// # Left out
//
//   - Scans of keys of different lengths, and values of different lengths beside them.
//   - Free memory of the heap serves entries of as many lines alone: after many deletes of short keys and inserts of long ones an
//     insert may find no room though keys are fewer than Spare.
//   - Inner nodes are never merged or freed. Shrink gives empty leaves back, but not the first one of an inner node.
//   - A leaf's range grows to the right without a new incarnation when Shrink frees its neighbour: readers learn of
//     that from the neighbour's own incarnation.
//   - A leaf that splits 65,536 times in one epoch reaches the incarnations of the next.
//   - Comparing keys takes a cycle each (assumed); what counts is the loads.
package tree
