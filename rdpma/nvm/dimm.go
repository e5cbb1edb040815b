package nvm

import (
	"math/bits"

	"drtmx/engine/sim"
)

// dimm is one DIMM with the memory controller's queues in front of it. The
// controller takes requests in order of arrival, and what a request does to the
// buffer is decided by what came before it. So all of it, waits included, can be
// computed at the call.
type dimm struct {
	free   sim.Time // when the controller can take the next request
	last   sim.Time // of the latest call
	ooo    uint64
	oooMax sim.Time

	accepts window // the write pending queue
	reads   window // reads under way
	backs   window // XLines between buffer and media

	buffer   lru // tags are XLines
	xlines   []xline
	complete list // of XLines with all lines dirty, in order of completion
	pages    lru  // tags are pages whose media address is at hand

	readMedia  sim.Booked // every access when the media are shared
	writeMedia sim.Booked
	wear       []uint16 // media writes per block

	t     timing
	count Stats
	check checker
}

// xline is what the buffer holds of an XLine, a bit per line.
type xline struct {
	valid uint64   // lines that are there, written or read
	dirty uint64   // of these, the ones not yet written to the media
	ready sim.Time // when what a read brought from the media, or the last write, is there
	// Neighbours in the list of complete XLines, none at its ends.
	before, after int32
}

// timing is what a Config comes to.
type timing struct {
	controllerRead, controllerWrite  sim.Time
	readHit, mediaRead, translation  sim.Time
	readXLine, writeXLine, wearMove  sim.Time
	full, lineMask, lines            uint64
	lineShift, pageShift, blockShift uint
	wearWrites                       uint16
	shared                           bool
}

func newDIMM(c Config) dimm {
	lines := uint64(c.XLineBytes / LineBytes)
	t := timing{
		controllerRead: c.ControllerReadPS, controllerWrite: c.ControllerWritePS,
		readHit: c.ReadHitPS, mediaRead: c.MediaReadPS, translation: c.TranslationMissPS,
		readXLine: c.mediaTime(c.MediaReadBytesPerSec), writeXLine: c.mediaTime(c.MediaWriteBytesPerSec),
		full: ^uint64(0) >> (maxXLineLines - lines), lineMask: lines - 1, lines: lines,
		lineShift: uint(bits.TrailingZeros64(lines)),
		pageShift: uint(bits.TrailingZeros(uint(c.TranslationPageBytes / c.XLineBytes))),
		shared:    c.MediaShared,
	}
	m := dimm{
		accepts: newWindow(c.WriteQueue), reads: newWindow(c.ReadQueue), backs: newWindow(c.WritebackQueue),
		buffer: newLRU(c.XBufferXLines), xlines: make([]xline, c.XBufferXLines),
		complete: list{none, none}, pages: newLRU(c.TranslationPages),
	}
	if c.WearWrites > 0 {
		t.wearWrites, t.wearMove = uint16(c.WearWrites), c.WearPS
		t.blockShift = uint(bits.TrailingZeros(uint(c.WearBlockXLines)))
		m.wear = make([]uint16, c.WearCounters)
	}
	m.t = t
	return m
}

// read serves a read request for a line.
func (m *dimm) read(now sim.Time, line uint64) (end sim.Time) {
	m.arrive(now)
	m.count.ReadReq++
	tag, bit := line>>m.t.lineShift, uint64(1)<<(line&m.t.lineMask)
	at := max(now, m.free, m.reads.room())
	m.drain(at)
	i := m.buffer.find(tag)
	if i == none {
		i, at = m.allocate(at, tag)
	} else {
		m.buffer.touch(i)
	}
	x := &m.xlines[i]
	if x.valid&bit != 0 {
		m.count.ReadHits++
	} else { // all of the XLine comes, and what is written already stays
		x.ready = m.fromMedia(at, tag)
		x.valid = m.t.full
	}
	m.free = at + m.t.controllerRead
	m.count.ControllerBusyPS += m.t.controllerRead
	end = max(at, x.ready) + m.t.readHit
	m.reads.push(end)
	if invariants {
		m.verify()
	}
	return end
}

// write serves a write request for a line. The write pending queue keeps it until
// the buffer has it.
func (m *dimm) write(now sim.Time, line uint64) (accepted sim.Time) {
	m.arrive(now)
	m.count.WriteReq++
	accepted = max(now, m.accepts.room())
	m.count.WriteWaitPS += accepted - now
	tag, bit := line>>m.t.lineShift, uint64(1)<<(line&m.t.lineMask)
	at := max(accepted, m.free)
	m.drain(at)
	i := m.buffer.find(tag)
	if i == none {
		i, at = m.allocate(at, tag)
	} else {
		m.count.WriteHits++
		m.buffer.touch(i)
	}
	x := &m.xlines[i]
	if x.dirty&bit != 0 {
		m.count.Overwritten++
	}
	m.free = at + m.t.controllerWrite
	x.valid |= bit
	if x.dirty != m.t.full {
		if x.dirty |= bit; x.dirty == m.t.full {
			x.ready = max(x.ready, m.free)
			m.append(i)
		}
	}
	m.count.ControllerBusyPS += m.t.controllerWrite
	m.accepts.push(m.free)
	if invariants {
		m.check.wrote(line)
		m.verify()
	}
	return accepted
}

func (m *dimm) arrive(now sim.Time) {
	if now < m.last {
		m.ooo++
		m.oooMax = max(m.oooMax, m.last-now)
		return
	}
	m.last = now
}

// drain writes back complete XLines as far as the write-back queue has room until
// at. There is nothing that waiting would add to them. They stay in the buffer
// and keep their place in the order of use, but can be displaced at no cost.
func (m *dimm) drain(at sim.Time) {
	for i := m.complete.first; i != none; i = m.complete.first {
		start := max(m.xlines[i].ready, m.backs.room())
		if start > at {
			return
		}
		m.writeBack(start, i)
	}
}

// allocate gives an XLine the place of the least recently used one, read or
// written, and returns when it has it. A dirty one has to go into the write-back
// queue first. The controller waits for that, and so do all requests behind it.
func (m *dimm) allocate(at sim.Time, tag uint64) (slot int32, start sim.Time) {
	if v := m.buffer.victim(); v != none && m.xlines[v].dirty != 0 {
		start = max(at, m.backs.room())
		m.count.ControllerHeldPS += start - at
		at = start
		m.writeBack(at, v)
	}
	slot = m.buffer.insert(tag)
	m.xlines[slot] = xline{}
	return slot, at
}

// writeBack moves the written lines of a slot to the media. The media take whole
// XLines: what is missing is read first (thesis §2.3.2.1). Write-backs reach the
// media in order, so one that need not read waits for one that does; no request waits
// for the translation of a write.
func (m *dimm) writeBack(at sim.Time, slot int32) {
	x := &m.xlines[slot]
	if x.dirty == m.t.full {
		m.remove(slot)
	}
	tag := m.buffer.nodes[slot].tag
	service := m.t.writeXLine + m.wearOut(tag)
	media := &m.writeMedia
	if m.t.shared {
		media = &m.readMedia
	}
	switch partial := x.valid != m.t.full; {
	case partial && m.t.shared: // in one go: two parts would leave a gap between them
		m.count.PartialWritebacks++
		m.count.MediaRead += m.t.lines
		m.translate(tag)
		service += m.t.readXLine
	case partial:
		m.count.PartialWritebacks++
		at = m.fromMedia(at, tag)
	default:
		m.count.FullWritebacks++
		m.translate(tag)
		at = max(at, x.ready)
	}
	m.count.MediaWrite += m.t.lines
	m.backs.push(media.Serve(m.last, at, service))
	if invariants {
		m.check.wroteBack(tag<<m.t.lineShift, x.dirty, m.t.lines)
	}
	x.dirty = 0
}

// fromMedia reads an XLine and returns when it is in the buffer.
func (m *dimm) fromMedia(at sim.Time, tag uint64) sim.Time {
	m.count.MediaRead += m.t.lines
	latency := m.t.mediaRead + m.translate(tag)
	end := m.readMedia.Serve(m.last, at, m.t.readXLine)
	return max(end, end-m.t.readXLine+latency)
}

// translate looks up the media address of an XLine and returns what it adds to
// the latency.
func (m *dimm) translate(tag uint64) sim.Time {
	page := tag >> m.t.pageShift
	if i := m.pages.find(page); i != none {
		m.pages.touch(i)
		return 0
	}
	m.pages.insert(page)
	m.count.TranslationMisses++
	return m.t.translation
}

// wearOut counts a write of an XLine's block and returns what moving the block
// away adds to it, if its time has come.
func (m *dimm) wearOut(tag uint64) sim.Time {
	if m.wear == nil {
		return 0
	}
	n := &m.wear[tag>>m.t.blockShift%uint64(len(m.wear))]
	*n++
	if *n < m.t.wearWrites {
		return 0
	}
	*n = 0
	m.count.WearMoves++
	return m.t.wearMove
}

func (m *dimm) flush(now sim.Time) (end sim.Time) {
	m.arrive(now)
	at := max(now, m.free)
	end = max(at, m.backs.latest) // what is on its way to the media is not done either
	// The least recently used first, as if they had been evicted.
	head := int32(len(m.buffer.nodes) - 1)
	for i := m.buffer.nodes[head].prev; i != head; i = m.buffer.nodes[i].prev {
		if m.xlines[i].dirty != 0 {
			at = max(at, m.backs.room())
			m.writeBack(at, i)
			// It is whole now, in the buffer as on the media.
			m.xlines[i].valid = m.t.full
			end = max(end, m.backs.latest)
		}
	}
	m.free = at
	if invariants {
		m.verify()
	}
	return end
}

func (m *dimm) stats() Stats {
	if invariants {
		m.verifyAll()
	}
	s := m.count
	s.BufferXLines = int(m.buffer.used)
	for i := range m.buffer.used {
		s.DirtyLines += bits.OnesCount64(m.xlines[i].dirty)
	}
	return s
}
