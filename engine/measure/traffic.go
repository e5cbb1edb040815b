package measure

import (
	"drtmx/engine/fabric"
	"drtmx/engine/result"
)

// packedBus is both of a window.
type packedBus struct {
	pcie   result.PCIeStat
	caches result.CacheStat
}

func PackBus(from, to *fabric.Traffic) packedBus {
	words := func(from, to *[fabric.NumCauses]uint64) result.PCIeWords {
		d := func(c fabric.Cause) uint64 { return to[c] - from[c] }
		return result.PCIeWords{Write: d(fabric.ByWrite), Message: d(fabric.ByMessage), Fill: d(fabric.ByFill), Atomic: d(fabric.ByAtomic), Completion: d(fabric.ByCompletion)}
	}
	return packedBus{
		pcie: result.PCIeStat{ReadWords: to.ReadWords - from.ReadWords, WriteWords: words(&from.WriteWords, &to.WriteWords), Partial: words(&from.Partial, &to.Partial)},
		caches: result.CacheStat{
			DDIOHits: to.DMAHits - from.DMAHits, DDIOMisses: to.DMAMisses - from.DMAMisses, DDIOEvictions: to.Evictions - from.Evictions,
			Contexts: to.Contexts - from.Contexts, ContextMisses: to.ContextMisses - from.ContextMisses,
			Translations: to.Translations - from.Translations, TranslationMisses: to.TranslationMisses - from.TranslationMisses,
		},
	}
}
