package engine

import "drtmx/engine/fabric"

// PCIeStat is what RNICs moved over PCIe in a window, in words of at most 64 bytes: the words that
// they read, those that they wrote, and of these the ones that are less than a line of memory, which
// the host has to read before it can write it (section 2.3.4.1).
type PCIeStat struct {
	ReadWords  uint64    `json:"read_words"`
	WriteWords PCIeWords `json:"write_words"`
	Partial    PCIeWords `json:"partial_words"`
}

// PCIeWords are words by why they were written.
type PCIeWords struct {
	Write      uint64 `json:"write"`      // a WRITE from elsewhere
	Message    uint64 `json:"message"`    // a message fills a RECV
	Fill       uint64 `json:"fill"`       // a READ or atomic brings back what it found
	Atomic     uint64 `json:"atomic"`     // an atomic from elsewhere
	Completion uint64 `json:"completion"` // a completion
}

// Sum is all words.
func (w PCIeWords) Sum() uint64 { return w.Write + w.Message + w.Fill + w.Atomic + w.Completion }

// CacheStat is how the caches between RNICs and memory did in a window: the ways of the LLC into which
// DDIO writes, and the RNICs' caches of queue-pair contexts and of translations.
type CacheStat struct {
	DDIOHits          uint64 `json:"ddio_hits"`
	DDIOMisses        uint64 `json:"ddio_misses"`
	DDIOEvictions     uint64 `json:"ddio_evictions"` // dirty lines that left for those that missed
	Contexts          uint64 `json:"contexts"`
	ContextMisses     uint64 `json:"context_misses"`
	Translations      uint64 `json:"translations"`
	TranslationMisses uint64 `json:"translation_misses"`
}

// traffic is that of all sockets.
func (s *System) traffic() (sum fabric.Traffic) {
	for m := range s.fab.Machines() {
		for k := range s.fab.Machine(m).Type.Sockets.Int() {
			t := s.fab.Machine(m).Traffic(k)
			sum.Add(&t)
		}
	}
	return sum
}

// packedBus is both of a window.
type packedBus struct {
	pcie   PCIeStat
	caches CacheStat
}

func packBus(from, to *fabric.Traffic) packedBus {
	words := func(from, to *[fabric.NumCauses]uint64) PCIeWords {
		d := func(c fabric.Cause) uint64 { return to[c] - from[c] }
		return PCIeWords{d(fabric.ByWrite), d(fabric.ByMessage), d(fabric.ByFill), d(fabric.ByAtomic), d(fabric.ByCompletion)}
	}
	return packedBus{
		pcie: PCIeStat{to.ReadWords - from.ReadWords, words(&from.WriteWords, &to.WriteWords), words(&from.Partial, &to.Partial)},
		caches: CacheStat{
			to.DMAHits - from.DMAHits, to.DMAMisses - from.DMAMisses, to.Evictions - from.Evictions,
			to.Contexts - from.Contexts, to.ContextMisses - from.ContextMisses,
			to.Translations - from.Translations, to.TranslationMisses - from.TranslationMisses,
		},
	}
}
