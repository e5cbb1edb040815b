package xstore

import (
	"fmt"

	"drtmx/engine/fabric/profile"
	"drtmx/engine/store"
	"drtmx/xstore/model"
)

// Choice is a number of sub-models, and why it is a good one.
type Choice struct {
	SubModels int
	Because   string
}

const (
	// autoSamples is how many sub-models of each candidate are trained to see how well it predicts.
	autoSamples = 200
	// autoWorth is by how much twice as many sub-models have to make a lookup cheaper: the memory of clients is worth something
	// too, and more sub-models are trained more often. Assumed.
	autoWorth = 0.01
	// autoMost and autoFewest are keys of a sub-model that are tried, from many to few.
	autoMost, autoFewest = 12_800, 25
)

// Auto chooses the number of sub-models of a server for some keys: the smallest for which twice as many would not save the
// server's RNIC a hundredth of its time for a lookup, among those whose models and tables fit into so many bytes of a client, 0
// meaning any. Every candidate trains some sub-models, evenly spread, and counts the leaves that a lookup of their keys READs;
// what a READ of a leaf takes is the profile's.
func Auto(keys store.Keys, low, high uint64, o Options, profile *profile.Profile, clientBytes uint64) (Choice, error) {
	fill := max(o.Slots/2, 1)
	tables := (keys.Len()/uint64(fill) + 1) * model.EntryBytes
	read := readNS(profile, o.readBytes())
	top, err := model.TrainTop(model.TopSpec{Kind: o.TopModel, Fields: o.Fields}, keys)
	if err != nil {
		return Choice{}, err
	}
	best, before, why := 0, 0.0, ""
	for per := uint64(autoMost); per >= autoFewest; per /= 2 {
		m := max(keys.Len()/per, 1)
		if m > MaxSubModels {
			break
		}
		if int(m) == best { // there are fewer keys than that
			continue
		}
		if need := m*model.SubBytes + tables; clientBytes > 0 && need > clientBytes && best > 0 {
			why = fmt.Sprintf("twice as many need %s of a client, and there are %s", bytesOf(need), bytesOf(clientBytes))
			break
		}
		leaves, wide := sampleLeaves(keys, low, high, o, top, uint32(m), fill)
		cost := leaves * read
		if best > 0 && cost > before*(1-autoWorth) {
			why = fmt.Sprintf("twice as many would READ %.2f leaves, %.0f ns of the server's RNIC", leaves, cost)
			break
		}
		best, before = int(m), cost
		why = fmt.Sprintf("predictions are %.1f slots wide", wide)
	}
	return Choice{best, fmt.Sprintf("a lookup READs %.2f leaves, %.0f ns of the server's RNIC; %s", before/read, before, why)}, nil
}

// sampleLeaves is how many leaves a lookup READs with so many sub-models, and how wide predictions are, in slots. A sub-model that
// cannot predict costs an RPC, which counts as all leaves of a prediction that is as wide as one can be.
func sampleLeaves(keys store.Keys, low, high uint64, o Options, top model.Top, m uint32, fill int) (leaves, wide float64) {
	x := model.NewModel(top, m, keys, low, high)
	in := &model.Initial{Keys: keys, Fill: fill, Low: low, High: high}
	t := model.NewTrainer(model.Config{Slots: o.Slots, LeafErrors: !o.KeyErrors})
	n, sum, errors := 0, 0, 0
	step := max(m/autoSamples, 1)
	var tt []model.Entry
	for k := uint32(0); k < m; k += step {
		var s model.Sub
		s, tt = t.Initial(in, x, k, 0, tt)
		span := x.Span(k)
		from, _ := keys.Rank(span.Low)
		to, ok := keys.Rank(span.High)
		if ok {
			to++
		}
		if span.Empty() || from >= to {
			continue
		}
		each := max((to-from)/16, 1)
		for i := from; i < to; i += each {
			n++
			if s.Fallback() {
				sum += 2 * model.MaxError / o.Slots
				errors += 2 * model.MaxError
				continue
			}
			first, last := s.Range(x.Base(k), keys.Key(i), o.Slots)
			sum += last - first + 1
			errors += int(s.MinErr) + int(s.MaxErr)
		}
	}
	if n == 0 {
		return 1, 0
	}
	return float64(sum) / float64(n), float64(errors) / float64(n)
}

// readNS is what a READ of so many bytes takes of the RNIC that answers it: of its slower pipeline, or of the link.
func readNS(p *profile.Profile, bytes int) float64 {
	wire := float64(bytes+int(p.Wire.Header.Value)) / p.Wire.Bandwidth.Value
	return max(p.NIC.RxRead.Value, p.NIC.TxReadResponse.Value, wire)
}

func bytesOf(n uint64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d MB", n/1e6)
}
