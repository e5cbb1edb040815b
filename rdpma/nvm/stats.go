package nvm

import "drtmx/engine/sim"

// Stats are the counters of one DIMM, or of all of them, since the start or the
// last ResetStats. The first four are those of the hardware (thesis §2.3.2.1) in
// units of 64 bytes, as ipmctl counts; it calls them TotalReadRequests,
// TotalWriteRequests, TotalMediaReads and TotalMediaWrites.
type Stats struct {
	ReadReq    uint64
	WriteReq   uint64
	MediaRead  uint64
	MediaWrite uint64

	ReadHits          uint64 // reads that found their line in the buffer
	WriteHits         uint64 // writes that found their XLine in the buffer
	Overwritten       uint64 // writes that replaced a line not yet written back
	FullWritebacks    uint64 // XLines written back that were complete
	PartialWritebacks uint64 // XLines that had to be read first: read-modify-write
	TranslationMisses uint64
	WearMoves         uint64

	ControllerBusyPS sim.Time // serving requests
	ControllerHeldPS sim.Time // waiting for room in the buffer, with requests behind it
	WriteWaitPS      sim.Time // of writes, before the write pending queue took them

	// What is there now, and is not reset.
	BufferXLines int // XLines in the buffer
	DirtyLines   int // dirty lines of 64 bytes in it, not yet written to the media
}

// WriteAmplification is the bytes written to the media for each byte of a write
// request (thesis §2.3.2.1), 0 without writes. What is still in the buffer has
// not been written: Flush before measuring few writes.
func (s Stats) WriteAmplification() float64 { return ratio(s.MediaWrite, s.WriteReq) }

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (s *Stats) add(o Stats) {
	s.ReadReq += o.ReadReq
	s.WriteReq += o.WriteReq
	s.MediaRead += o.MediaRead
	s.MediaWrite += o.MediaWrite
	s.ReadHits += o.ReadHits
	s.WriteHits += o.WriteHits
	s.Overwritten += o.Overwritten
	s.FullWritebacks += o.FullWritebacks
	s.PartialWritebacks += o.PartialWritebacks
	s.TranslationMisses += o.TranslationMisses
	s.WearMoves += o.WearMoves
	s.ControllerBusyPS += o.ControllerBusyPS
	s.ControllerHeldPS += o.ControllerHeldPS
	s.WriteWaitPS += o.WriteWaitPS
	s.BufferXLines += o.BufferXLines
	s.DirtyLines += o.DirtyLines
}
