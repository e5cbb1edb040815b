package kv

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// region is registered memory of one machine.
type region struct {
	base r2.Addr
	rkey uint32
}

func newRegion(cl *r2.Cluster, machine int, a host.Alloc, p host.Perm) (region, error) {
	mem := cl.Mem(machine)
	base, err := mem.Alloc(a)
	if err != nil {
		return region{}, fmt.Errorf("%s of machine %d: %w", a.Name, machine, err)
	}
	return region{base: base, rkey: mem.Register(base, a.Bytes, p).RKey}, nil
}

// shard is the part of a table that one socket of one server holds: hash table and rows, so that a lookup
// and the READ or CAS after it go to the same RNIC. Its records from the start are numbered 0 to n-1; record
// j has row j.
//
// Nodes are numbered: first nodes, of full pages, then as many second nodes of chains, third ones and so on, then
// nodes for what is inserted. The longer a chain has to be for a node, the fewer of its pages are ever touched.
type shard struct {
	table           *Table
	machine, socket int
	*bucket
	scatter
	records     uint64 // from the start; scatter.n is those that may come, too
	chains      uint64 // first nodes, padded
	firstSpare  uint64
	nodeEnd     uint64
	nodes, rows region
	tree        *tree // in the place of nodes; shared by the server's shards
	rowEnd      uint32
	before      uint64   // records of the table in the shards before this one
	members     []uint64 // scratch of between
	block       block    // likewise
	scratch     []byte   // of initialNode

	// What the owner keeps in private memory, charged at private.
	private  r2.Addr
	nextRow  uint32
	nextNode uint64
	promised uint64 // spare nodes that inserts under way will take
	freeRows []uint32
}

// newShard computes the geometry of a shard that has n records from the start and may have room at some time,
// without memory.
func newShard(t *Table, machine, socket int, n, room uint64) *shard {
	seed := mix(t.spec.Seed ^ uint64(t.spec.ID)<<48 ^ uint64(machine)<<16 ^ uint64(socket))
	s := &shard{table: t, machine: machine, socket: socket, records: n, bucket: t.bucket, scatter: newScatter(room, max(1, (room+t.fill-1)/t.fill), sparse, seed)}
	if t.spec.Sequential {
		s.scatter = newSequential(room, pageNodes*t.fill, seed)
	}
	s.chains = (s.places + pageNodes - 1) / pageNodes * pageNodes
	// As long as a chain would be if all hash values of its place belonged to records.
	s.firstSpare = s.chains * uint64(s.nodesOf(int(s.longest())))
	s.nodeEnd = s.firstSpare + t.spec.Spare
	if room > n { // inserted records have their buckets: few overflow
		s.nodeEnd = s.firstSpare + min(t.spec.Spare, (room+t.spec.Spare)/8+pageNodes)
	}
	s.rowEnd = uint32(n + t.spec.Spare)
	s.nextRow, s.nextNode = uint32(n), s.firstSpare
	return s
}

func (s *shard) check() error {
	if s.records+s.table.spec.Spare > math.MaxUint32 || !s.table.spec.Tree && s.nodeEnd > math.MaxUint32-1 {
		return fmt.Errorf("%d records and %d spare rows on one socket: %w", s.records, s.table.spec.Spare, store.ErrRows)
	}
	return nil
}

// allocate gives the shard its memory.
func (s *shard) allocate(cl *r2.Cluster) (err error) {
	name := fmt.Sprintf("kv.%s.%d", s.table.spec.Name, s.socket)
	if !s.table.spec.Tree {
		s.nodes, err = newRegion(cl, s.machine, host.Alloc{
			Name: name + ".index", Bytes: s.nodeEnd * uint64(s.bytes), Socket: s.socket,
			Fill: func(block uint64, dst []byte) { s.fillNodes(block*uint64(len(dst)), dst) },
		}, host.LocalWrite|host.RemoteRead)
		if err != nil {
			return err
		}
	}
	s.rows, err = newRegion(cl, s.machine, host.Alloc{
		Name: name + ".rows", Bytes: s.rowBytes(), Socket: s.socket, Fill: s.rowFiller(),
	}, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic)
	if err != nil {
		return err
	}
	s.private, err = cl.Mem(s.machine).Reserve(name+".free", record.LineBytes, s.socket)
	return err
}

// keyOf is the key of record j.
func (s *shard) keyOf(j uint64) uint64 {
	return s.table.placement.Partition.Key(s.machine, j*uint64(s.table.sockets(s.machine))+uint64(s.socket))
}

// homeRef is where record j is unless it was deleted.
func homeRef(j uint64) Ref { return NewRef(uint32(j), 0) }

func (s *shard) nodeAddr(node uint64) r2.Addr { return s.nodes.base + r2.Addr(node*uint64(s.bytes)) }

func (s *shard) rowAddr(row uint32) r2.Addr {
	return s.rows.base + r2.Addr(uint64(row)*uint64(s.table.rows.Stride))
}

// rowBytes is the size of the rows' region: of one row at least, for a socket may have got none.
func (s *shard) rowBytes() uint64 { return uint64(max(1, s.rowEnd)) * uint64(s.table.rows.Stride) }

// fillNodes computes the initial bytes of the nodes from offset at of the index region on. Nodes may reach over the boundaries of blocks.
func (s *shard) fillNodes(at uint64, dst []byte) {
	clear(dst)
	size, end := uint64(s.bytes), at+uint64(len(dst))
	for node := at / size; node*size < end && node < s.firstSpare; node++ {
		if from := node * size; from >= at && from+size <= end {
			s.fillNode(node, dst[from-at:][:size])
		} else if b := s.initialNode(node); from < at {
			copy(dst, b[at-from:])
		} else {
			copy(dst[from-at:], b)
		}
	}
}

// initialNode is a node as it is at the start, valid until the next call.
func (s *shard) initialNode(node uint64) []byte {
	if s.scratch == nil {
		s.scratch = make([]byte, s.bytes)
	}
	clear(s.scratch)
	if node < s.firstSpare {
		s.fillNode(node, s.scratch)
	}
	return s.scratch
}

// fillNode writes what a node has at the start into zeros.
func (s *shard) fillNode(node uint64, dst []byte) {
	place, before := node%s.chains, node/s.chains*uint64(s.slots)
	if place >= s.places {
		return
	}
	records := s.membersOf(place)
	if uint64(len(records)) <= before {
		return
	}
	records = records[before:]
	link := uint32(0)
	if len(records) > s.slots {
		records, link = records[:s.slots], uint32(node+s.chains)+1
	}
	binary.LittleEndian.PutUint64(dst, head(0, link))
	for i, j := range records {
		s.set(dst, i, s.keyOf(j), homeRef(j))
	}
}

// membersOf lists the records of a place in the order of their hash values. The list is valid until the
// next call.
func (s *shard) membersOf(place uint64) []uint64 {
	return s.between(s.span(place))
}

// rank is how many records of a place have hash values below the given one.
func (s *shard) rank(place, hash uint64) int {
	from := s.start(place)
	if s.sequential && s.block.has(from) {
		return len(s.between(from, hash))
	}
	return s.count(from, hash)
}

// between is membersOf for the hash values [from, to) of one place.
func (s *shard) between(from, to uint64) []uint64 {
	if s.members == nil {
		s.members = make([]uint64, s.longest())
	}
	if s.sequential {
		members := s.block.members(&s.scatter, from, to, s.members[:0])
		if s.records < s.n {
			members = slices.DeleteFunc(members, func(j uint64) bool { return j >= s.records })
		}
		return members
	}
	members, k := s.members[:to-from], 0
	for h := from; h < to; h++ {
		j := s.number(h)
		members[k] = j
		k += int((j - s.records) >> 63) // 1 if j < records, without a branch that is hard to predict
	}
	return members[:k]
}

// rowFiller computes the initial bytes of a block of rows, for the memory of the primary and for that of each backup:
// each of them is a machine's, and so is what its filler needs. Rows may reach over the boundaries of blocks.
func (s *shard) rowFiller() func(block uint64, dst []byte) {
	first := newFirstRow(s.table.rows)
	return func(block uint64, dst []byte) {
		clear(dst)
		stride := uint64(s.table.rows.Stride)
		from := block * uint64(len(dst))
		for j := from / stride; j < s.records && j*stride < from+uint64(len(dst)); j++ {
			row := first.of(s, j)
			if at := j * stride; at < from {
				copy(dst, row[min(uint64(len(row)), from-at):])
			} else {
				copy(dst[at-from:], row)
			}
		}
	}
}

// firstRow makes rows as they are at the start.
type firstRow struct {
	row   []byte
	image []byte // the same as it is in memory, if that is not the row itself
}

func newFirstRow(rows record.Rows) firstRow {
	f := firstRow{row: make([]byte, rows.Bytes())}
	if n := rows.ImageBytes(); n > rows.Bytes() {
		f.image = make([]byte, n)
	}
	return f
}

// of is the row of record j of a shard as it is in memory, valid until the next call.
func (f *firstRow) of(s *shard, j uint64) []byte {
	t := s.table
	clear(f.row)
	t.rows.Layout.Init(f.row)
	if init := t.spec.Init; init != nil {
		init(s.keyOf(j), t.rows.Layout.Value(f.row))
	}
	if len(f.image) == 0 {
		return f.row
	}
	t.rows.Image(f.image, f.row)
	return f.image
}
