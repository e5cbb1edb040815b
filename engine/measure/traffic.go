package measure

import (
	"drtmx/engine/fabric/host"
	"drtmx/engine/result"
)

// packedBus is both of a window.
type packedBus struct {
	pcie   result.PCIeStat
	caches result.CacheStat
}

func PackBus(from, to *host.Traffic) packedBus {
	words := func(from, to *[host.NumCauses]uint64) result.PCIeWords {
		d := func(c host.Cause) uint64 { return to[c] - from[c] }
		return result.PCIeWords{Write: d(host.ByWrite), Message: d(host.ByMessage), Fill: d(host.ByFill), Atomic: d(host.ByAtomic), Completion: d(host.ByCompletion)}
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
