// Package nvm is the Optane persistent memory of one socket: the memory
// controller's queues, the DIMMs behind them, and in each DIMM the controller
// with its write-combining buffer and the media (thesis §2.3.2.1, figure 2-6).
//
// # Use
//
// New makes a Device from a Config. Read and Write are requests for a line of 64
// bytes as they reach the memory controller, in order of time; both return a
// time: when the data are there, and when the write is in the persistent domain.
// There are no events: a caller that has more writes than may wait calls again
// when one was accepted, and one that chooses among waiting writes asks Room when
// to choose. Bytes are not kept here, they are in the memory that is simulated
// above. Stats has the counters.
//
// # What is modelled
//
//   - Interleaving of the DIMMs by 4 KB.
//   - The write pending queue: a write is persistent when it is in it, and waits
//     outside when it is full. The number of reads under way.
//   - XController: takes reads and writes in order of arrival, each for some
//     nanoseconds. When the buffer has no room everything waits behind the request
//     that needs some.
//   - XBuffer: fully associative, XLines of 256 bytes with a bit per line for what
//     is there and what the media do not have. Reads and writes take places in it
//     alike. Replacement is exact LRU over all XLines, read or written. An XLine
//     with all its lines written goes to the media as soon as the write-back queue
//     has room and stays as a clean copy; an incomplete one goes when it is
//     displaced, and what is missing is read first. A line that was read before
//     need not be read again.
//   - The media: bandwidth for reads and bandwidth for writes, separate or shared,
//     latency of reads, and a queue of write-backs that lets reads for some overlap
//     with writes of others.
//   - Address translation: LRU over 4 KB pages; a miss adds to the latency of reads
//     and read-modify-writes.
//   - Wear levelling: a block moves after so many writes, and the media do not
//     write meanwhile.
//   - The counters of the hardware, and those that explain them.
//
// No number stands for an effect. Write amplification comes from XLines that
// leave the buffer incomplete; the penalty of DDIO (thesis figure 2-16) from the
// order in which the cache evicts; the collapse of many threads on one DIMM (figure
// 2-14) from more open XLines than the buffer has places. The tests remove each
// mechanism and the effect goes.
//
// # What is left out
//
//   - The way between cores or RNIC and the memory controller, caches, the disorder
//     they bring into streams, cross-socket traffic: engine/fabric has them.
//   - Cores that cache persistently, as the next generation does (thesis §2.4):
//     what leaves a cache is the same here.
//   - Reads that overtake writes in the memory controller. At most the write
//     pending queue's few entries are before a read.
//   - Data in the write-back queue do not answer reads unless they are also in the
//     buffer; the media answer.
//   - Bandwidth for translations, for the lines that wear levelling moves (its time
//     is charged, its reads and writes are not counted), and media banks: each
//     direction of the media is one server.
//   - Media write latency: a write leaves the write-back queue when its share of
//     the bandwidth is over.
//
// # Caveats
//
// A call decides what happens after all earlier calls, at the time at which the
// controller gets to it. Callers that do not wait for acceptance build up a queue
// in front of the DIMM in which later reads wait too, which no hardware has:
// limit what is outstanding.
//
// What is in the buffer has not been written yet, so counters of short runs show
// too few media writes; Flush before reading them.
package nvm
