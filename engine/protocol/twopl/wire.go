package twopl

// rpcs are the ids of the protocol's requests.
type rpcs struct{ lock, insert, commit uint8 }

// Messages are a head and an array of items; their number follows from the length of the message.
const (
	lockHead   = 8 + 8 // attempt; age 62 bits | upgrade 1 bit | reads take no lock 1 bit
	insertItem = 8     // table 8 bits | key 56 bits
	lockBack   = 8     // of an item in a reply: found 1 bit | location, then the sequence and, but for upgrades, the value; or the version of the gap
	seqBack    = 8
	stampsBack = 8 + 8 // in front of the sequence, where records have versions: tuple timestamp, stamp of the version
	guardBack  = 8     // behind it, where records have versions: timestamp of the gap

	commitHead = 8 + 8     // attempt; messages of the request 62 bits | committed 1 bit
	stampBytes = 8         // behind it, where records have versions: the stamp
	commitItem = 8 + 8 + 8 // table 8 bits | key 56 bits; deleted 1 bit | value bytes 13 bits | location 48 bits; sequence; the value follows

	commitBack = 8 // of the reply, behind which are the readers of what was overwritten

	lessBits   = 2
	upgradeBit = 2
	lessReads  = 1

	refMask    = 1<<48 - 1
	deletedBit = 1 << 63
	maxOwn     = 24 // bytes that a row begins with and backups do not have
	bytesAt    = 48
	bytesMask  = 1<<13 - 1
)
