package figure

import (
	"fmt"
	"slices"
	"strings"

	"drtmx/engine/knob"
	"drtmx/engine/result"
)

// structures are the knobs on which the thesis and its released code differ, or one of them is silent, and what speaks for
// which value. The knobs' texts say more.
var structures = []struct {
	knob string
	of   func(value string) string
}{
	{"rpc.charge_per_record", either("true", theText, theCode)},
	{"rpc.commit_together", either("true", theText, theCode)},
	{"log.reclaim", either("background", theText, theCode)},
	{"kv.node", either("wide", theCode, noOne)},
	{"workload.trees", either("true", theCode, noOne)},
	{"kv.cache", either("clock", theText, theCode)},
}

const (
	theText = "the thesis's text"
	theCode = "its released code"
	noOne   = ""
)

// either is who speaks for a value, and who for any other.
func either(value, its, others string) func(string) string {
	return func(v string) string {
		if v == value {
			return its
		}
		return others
	}
}

// structure says which of the structures that the thesis and its code leave open the runs have, "" of runs that have none of
// them.
func structure(runs []*result.Result) string {
	var specs []knob.Values
	for _, r := range runs {
		if r != nil && r.Spec["workload"] != nil {
			specs = append(specs, Typed(r.Spec))
		}
	}
	by := map[string][]string{}
	for _, s := range structures {
		var values []string
		k := knob.Find(s.knob)
		for _, spec := range specs {
			if k == nil || spec[s.knob] == nil || k.Inactive != nil && k.Inactive(spec) != "" {
				continue
			}
			if v := fmt.Sprint(spec[s.knob]); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		for _, v := range values {
			by[s.of(v)] = append(by[s.of(v)], s.knob+"="+v)
		}
	}
	var parts []string
	for _, who := range []string{theText, theCode, noOne} {
		list := strings.Join(by[who], ", ")
		switch {
		case list == "":
		case who == noOne:
			parts = append(parts, list+" as in neither")
		default:
			parts = append(parts, list+" as in "+who)
		}
	}
	return strings.Join(parts, "; ")
}

// Typed are the knobs with values of their kinds: of a run that was kept, numbers have lost theirs.
func Typed(spec knob.Values) knob.Values {
	out := knob.Values{}
	for name, v := range spec { // order-free: fills a map
		out[name] = knob.Known(name, v)
	}
	return out
}
