package model

import "encoding/binary"

// Entry is a translation table's entry of one leaf (thesis §3.4.1, Figure 3-6): a valid bit, 31 bits of the leaf's actual
// number (ALN), 24 bits of the incarnation that it is expected to have (INCA) and 8 bits of the number of its keys (CNT).
type Entry uint64

const (
	entryValid = 1 << 63
	alnBits    = 31
	incaBits   = 24
	cntBits    = 8
)

// MakeEntry is a valid entry. Numbers that are too large lose their high bits, as an incarnation does that wraps.
func MakeEntry(aln, inca uint32, cnt int) Entry {
	return entryValid | Entry(aln&(1<<alnBits-1))<<(incaBits+cntBits) | Entry(inca&(1<<incaBits-1))<<cntBits | Entry(uint8(cnt))
}

func (e Entry) Valid() bool  { return e&entryValid != 0 }
func (e Entry) ALN() uint32  { return uint32(e>>(incaBits+cntBits)) & (1<<alnBits - 1) }
func (e Entry) INCA() uint32 { return uint32(e>>cntBits) & (1<<incaBits - 1) }
func (e Entry) CNT() int     { return int(uint8(e)) }

// Invalid is the entry after a client found that the leaf has another incarnation.
func (e Entry) Invalid() Entry { return e &^ entryValid }

// Bytes of a translation table where clients READ it: a header, then the entries.
//
// The header is the TT field of the sub-model, which says size and generation, and the sub-model's number. A client that
// READs some entries READs the header after them, in the same doorbell: READs of one queue pair are performed in order. The
// server that replaces a table writes the new header first, then the entries, then the sub-model. So a header that still fits
// the sub-model says that the entries fitted it too.
const (
	EntryBytes = 8
	TTHeader   = 8
)

// TTBytes is the size of a translation table.
func TTBytes(entries int) int { return TTHeader + entries*EntryBytes }

// PutTTHeader writes the header of the table of sub-model m.
func PutTTHeader(b []byte, s Sub, m uint32) {
	binary.LittleEndian.PutUint32(b, s.TT)
	binary.LittleEndian.PutUint32(b[4:], m)
}

// TTHeaderOK says whether a header is of the table that belongs to s.
func TTHeaderOK(b []byte, s Sub, m uint32) bool {
	return binary.LittleEndian.Uint32(b) == s.TT && binary.LittleEndian.Uint32(b[4:]) == m
}

// PutTT writes a whole table.
func PutTT(b []byte, s Sub, m uint32, tt []Entry) {
	PutTTHeader(b, s, m)
	for i, e := range tt {
		binary.LittleEndian.PutUint64(b[TTHeader+i*EntryBytes:], uint64(e))
	}
}
