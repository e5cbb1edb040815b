package host

import "drtmx/engine/fabric/space"

// Traffic is what RNICs moved over the PCIe buses of a socket, and what the caches on
// both sides made of it, since time 0. A word is what one PCIe packet carries: a line
// of memory or a part of one. Nothing that a run depends on looks at it.
type Traffic struct {
	ReadWords  uint64            // that RNICs read from the host
	WriteWords [NumCauses]uint64 // that they wrote there
	Partial    [NumCauses]uint64 // of these, parts of a line: the rest has to be read, unless it is in the LLC
	DMAHits    uint64            // lines written with DDIO that the socket's LLC had
	DMAMisses  uint64            // that took one of the ways for DDIO
	Evictions  uint64            // dirty lines that left for them

	Contexts, ContextMisses         uint64 // queue-pair contexts that packets needed, and that were not in the RNIC
	Translations, TranslationMisses uint64 // of pages, likewise
}

// Cause is why an RNIC writes to its host.
type Cause uint8

// The causes.
const (
	ByWrite      Cause = iota // a WRITE from elsewhere
	ByMessage                 // a message fills a RECV
	ByFill                    // a READ or atomic brings back what it found
	ByAtomic                  // an atomic from elsewhere stores
	ByCompletion              // a completion
	NumCauses
)

// Write counts the words of a DMA write.
func (t *Traffic) Write(why Cause, a space.Addr, bytes uint32) {
	if bytes == 0 {
		return
	}
	first, last := space.Lines(a, int(bytes))
	t.WriteWords[why] += last - first + 1
	head, tail := a%space.LineBytes != 0, (a+space.Addr(bytes))%space.LineBytes != 0
	switch {
	case head && tail && first != last:
		t.Partial[why] += 2
	case head || tail:
		t.Partial[why]++
	}
}

// Read counts the words of a DMA read.
func (t *Traffic) Read(a space.Addr, bytes uint32) {
	if bytes > 0 {
		first, last := space.Lines(a, int(bytes))
		t.ReadWords += last - first + 1
	}
}

// Add adds other traffic.
func (t *Traffic) Add(o *Traffic) {
	t.ReadWords += o.ReadWords
	for i := range t.WriteWords {
		t.WriteWords[i] += o.WriteWords[i]
		t.Partial[i] += o.Partial[i]
	}
	t.DMAHits += o.DMAHits
	t.DMAMisses += o.DMAMisses
	t.Evictions += o.Evictions
	t.Contexts += o.Contexts
	t.ContextMisses += o.ContextMisses
	t.Translations += o.Translations
	t.TranslationMisses += o.TranslationMisses
}

// countDMA counts a line that an RNIC writes to the LLC.
func (s *socket) countDMA(hit bool) {
	if hit {
		s.dmaHits++
	} else {
		s.dmaMisses++
	}
}

// CacheTraffic is what a socket's LLC made of DMA writes.
func (m *Machine) CacheTraffic(socket int) Traffic {
	s := m.Processors[socket]
	return Traffic{DMAHits: s.dmaHits, DMAMisses: s.dmaMisses, Evictions: s.evictions}
}
