package keep

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"drtmx/cluster/runs"
	"drtmx/cluster/words"
	"drtmx/engine/batch"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// The forms of a kept run's document.
const (
	formRun     = "run"     // the result
	formSeeds   = "seeds"   // a batch.SeedsResult
	formSystems = "systems" // a result.Systems
	FormSweep   = "sweep"
	FormFigure  = "figure"
	formSession = "session" // the result up to the end, and the recording
)

// Run keeps a run under a note, which may be "".
func Run(s *runs.Store, note string, r *result.Result) (runs.ID, error) {
	m, err := ownMember(r)
	if err != nil {
		return 0, err
	}
	return s.Keep(keptOf(runs.KindRun, formRun, note, r).Kept, []runs.Member{m})
}

// Seeds keeps the runs of several seeds as one.
func Seeds(s *runs.Store, note string, r *batch.SeedsResult) (runs.ID, error) {
	members, err := ownMembers(r.Runs)
	if err != nil {
		return 0, err
	}
	k := keptOf(runs.KindRun, formSeeds, note, r.Runs[0])
	k.about(fmt.Sprintf("%d seeds", len(r.Runs)))
	k.Numbers = numbersOfSeeds(r)
	k.together(r.Runs)
	if k.Document, err = compactJSON(r.Means); err != nil {
		return 0, err
	}
	return s.Keep(k.Kept, members)
}

// Systems keeps systems side by side as one.
func Systems(s *runs.Store, note string, r *result.Systems) (runs.ID, error) {
	members, err := ownMembers(r.Systems)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, x := range r.Systems {
		names = append(names, x.Name)
	}
	k := keptOf(runs.KindRun, formSystems, note, r.Systems[0])
	k.About, k.Numbers = strings.Join(names, " against "), runs.Numbers{}
	k.together(r.Systems)
	return s.Keep(k.Kept, members)
}

// Session keeps what a live system came to, with its recording, from which it runs again.
func Session(s *runs.Store, note string, r *result.Result, recording []byte) (runs.ID, error) {
	m, err := ownMember(r)
	if err != nil {
		return 0, err
	}
	k := keptOf(runs.KindSession, formSession, note, r)
	k.about(words.NS(r.FromNS+r.VirtualNS) + ", " + words.Counted(len(r.Changes), "change"))
	if len(recording) <= runs.EntryLimitBytes {
		k.Recording = recording
	}
	return s.Keep(k.Kept, []runs.Member{m})
}

// sweepDocument is a sweep without its results: how many runs each point has.
type sweepDocument struct {
	Sweep *batch.SweepResult `json:"sweep"`
	Runs  []int              `json:"runs"`
}

// Sweep keeps a sweep of a spec. The same one, computed again by the same code, takes its place.
func Sweep(s *runs.Store, note string, spec experiment.Spec, r *batch.SweepResult) (runs.ID, error) {
	base, err := experiment.Resolve(spec)
	if err != nil {
		return 0, err
	}
	doc := sweepDocument{Sweep: &batch.SweepResult{Axes: r.Axes}}
	var all []*result.Result
	for _, p := range r.Points {
		all = append(all, p.Runs...)
		doc.Runs = append(doc.Runs, len(p.Runs))
		p.Runs, p.Cached = nil, 0
		doc.Sweep.Points = append(doc.Sweep.Points, p)
	}
	if len(all) == 0 {
		return 0, nil // nothing ran: it is not kept
	}
	members, err := pointMembers(all)
	if err != nil {
		return 0, err
	}
	var over []string
	for _, a := range r.Axes {
		delete(base, a.Knob)
		over = append(over, a.Knob)
	}
	k := keptOf(runs.KindSweep, FormSweep, note, all[0])
	k.About, k.Numbers = fmt.Sprintf("over %s, %d points", strings.Join(over, " and "), len(r.Points)), runs.Numbers{}
	k.together(all)
	if k.Spec, err = compactJSON(base); err != nil {
		return 0, err
	}
	if k.Document, err = compactJSON(doc); err != nil {
		return 0, err
	}
	if k.Identity, err = runs.Key(k.Code, withInputs(all, "sweep", base, r.Axes, doc.Runs)...); err != nil {
		return 0, err
	}
	return s.Keep(k.Kept, members)
}

// FigureRecord is what is kept of a figure.
type FigureRecord struct {
	ID, Scale string
	About     string           // what became of its claims
	Set       experiment.Knobs // that the reader changed
	Variant   string           // tells apart what is computed of the same figure, scale and knobs
	WallMS    int64
	Digest    string           // of one without runs; that of others is over the digests of their runs
	Document  any              // what its JSON is of, with an empty list of runs
	Runs      []*result.Result // in the order of that list; nil where there is none
}

// Figure keeps a figure. The same one, computed again by the same code, takes its place.
func Figure(s *runs.Store, note string, f FigureRecord) (runs.ID, error) {
	members, err := pointMembers(f.Runs)
	if err != nil {
		return 0, err
	}
	k := keeping{runs.Kept{Kind: runs.KindFigure, Form: FormFigure, Note: note, Code: cmp.Or(result.CodeOf(f.Runs...), code.Build()), Digest: f.Digest}}
	k.together(f.Runs)
	if k.About = strings.TrimSpace(f.ID+" "+f.Scale+" "+words.Knobs(f.Set)) + ": " + f.About; len(f.Runs) == 0 {
		k.WallMS = f.WallMS // else that of its runs, which it need not have waited for
	}
	if k.Document, err = compactJSON(f.Document); err != nil {
		return 0, err
	}
	if k.Spec, err = compactJSON(f.Set); err != nil {
		return 0, err
	}
	if k.Identity, err = runs.Key(k.Code, withInputs(f.Runs, "figure", f.ID, f.Scale, f.Set, f.Variant)...); err != nil {
		return 0, err
	}
	return s.Keep(k.Kept, members)
}

// withInputs adds to the parts of a key the content of the files that results were computed from, if there are any.
func withInputs(rs []*result.Result, parts ...any) []any {
	for _, r := range rs {
		if r != nil && len(r.Inputs) > 0 {
			parts = append(parts, r.Inputs)
		}
	}
	return parts
}

// keeping is a row that is being made.
type keeping struct{ runs.Kept }

// keptOf is the row of one result.
func keptOf(kind, form, note string, r *result.Result) keeping {
	k := keeping{runs.Kept{Kind: kind, Form: form, Note: note, Workload: r.Spec.Text("workload"), Preset: r.Spec.Text("preset"), Profile: r.Profile, Code: r.Code, Digest: r.Digest, WallMS: r.WallMS, Numbers: shortNumbers(r)}}
	if seed, ok := r.Spec["seed"].(int); ok {
		n := int64(seed)
		k.Seed = &n
	}
	k.Spec, _ = compactJSON(r.Spec) // numbers, text and truth values
	k.about("")
	return k
}

// about describes the row by the knobs that differ from the defaults, and by what else there is to say.
func (k *keeping) about(more string) {
	var spec experiment.Knobs
	var parts []string
	if json.Unmarshal(k.Spec, &spec) == nil {
		changed := NonDefault(spec)
		for _, name := range words.SortedKnobs(changed) {
			if !slices.Contains(measuringKnobs, name) {
				parts = append(parts, name+"="+experiment.Format(name, changed[name]))
			}
		}
	}
	k.About = strings.Trim(strings.Join(parts, " ")+", "+more, ", ")
}

// measuringKnobs are knobs that say how long and how closely was looked, not at what.
var measuringKnobs = []string{"seed", "check", "warmup_ns", "duration_ns", "window_ns"}

// together makes the row one of several results: what they do not share it does not say.
func (k *keeping) together(rs []*result.Result) {
	h := sha256.New()
	k.WallMS = 0
	steady, judged, passed, n := true, false, true, 0
	for _, r := range rs {
		if r == nil {
			continue
		}
		fmt.Fprintln(h, r.Digest) // a hash does not fail
		workload, preset := r.Spec.Text("workload"), r.Spec.Text("preset")
		if n == 0 {
			k.Workload, k.Preset, k.Profile = workload, preset, r.Profile
		}
		k.Workload, k.Preset, k.Profile = same(k.Workload, workload), same(k.Preset, preset), same(k.Profile, r.Profile)
		k.WallMS += r.WallMS
		steady, n = steady && r.Steady, n+1
		if r.Checks.Judged() {
			judged, passed = true, passed && !r.Checks.Failed()
		}
	}
	if n == 0 {
		return
	}
	k.Code = result.CodeOf(rs...)
	k.Digest, k.Steady = hex.EncodeToString(h.Sum(nil)[:8]), &steady
	if k.Checks = nil; judged {
		k.Checks = &passed
	}
}

// same is a text if both are it.
func same(a, b string) string {
	if a != b {
		return ""
	}
	return a
}

// shortNumbers are those of a list.
func shortNumbers(r *result.Result) runs.Numbers {
	l := r.LatencyUS
	n := runs.Numbers{Throughput: &r.Throughput, ThroughputCI95: known(r.ThroughputCI95), MeanUS: known(l.Mean), P50US: known(l.P50), P90US: known(l.P90), P99US: known(l.P99), P999US: known(l.P999),
		AbortRate: &r.AbortRate, Steady: &r.Steady}
	if r.Checks.Judged() {
		passed := !r.Checks.Failed()
		n.Checks = &passed
	}
	return n
}

// numbersOfSeeds are the means.
func numbersOfSeeds(r *batch.SeedsResult) runs.Numbers {
	mean := func(path string) *float64 {
		if m, ok := r.Means[path]; ok {
			return &m.Mean
		}
		return nil
	}
	n := runs.Numbers{Throughput: mean("throughput"), MeanUS: mean("latency_us.mean"), P50US: mean("latency_us.p50"), P90US: mean("latency_us.p90"), P99US: mean("latency_us.p99"), P999US: mean("latency_us.p999"), AbortRate: mean("abort_rate")}
	if m := r.Means["throughput"]; m.Mean > 0 {
		n.ThroughputCI95 = known(m.Half95 / m.Mean)
	}
	return n
}

// known is a number that is 0 where there is none.
func known(x float64) *float64 {
	if x == 0 {
		return nil
	}
	return &x
}

// ownMember is a result that is kept with its row. Its address is that of its content.
func ownMember(r *result.Result) (runs.Member, error) {
	body, err := compactJSON(r)
	if err != nil {
		return runs.Member{}, err
	}
	key, err := runs.Key(r.Code, "kept", string(body))
	return runs.Member{Key: key, Body: body}, err
}

func ownMembers(rs []*result.Result) (out []runs.Member, err error) {
	for _, r := range rs {
		m, err := ownMember(r)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// pointMembers are results that are points of the cache.
func pointMembers(rs []*result.Result) (out []runs.Member, err error) {
	for _, r := range rs {
		key, err := PointKey(r)
		if err != nil {
			return nil, err
		}
		out = append(out, runs.Member{Key: key})
	}
	return out, nil
}

// PointKey is the key of a result as a point of a run store.
func PointKey(r *result.Result) (string, error) {
	if r == nil {
		return runs.Key("none")
	}
	spec, err := experiment.SpecOf("", canonical(r.Spec))
	if err != nil {
		return "", err
	}
	key, err := batch.RunKeyOf(spec, r.Inputs)
	if err != nil {
		return "", err
	}
	return StoreKey(key), nil
}

// canonical are knobs as the registry has them, whatever JSON has made of their types. What today's registry does not
// know stays as it is, and what it has and the knobs do not is the default.
func canonical(k experiment.Knobs) experiment.Knobs {
	out, err := experiment.Resolve(experiment.Spec{Preset: k.Text("preset"), Workload: k.Text("workload")})
	if err != nil {
		out = experiment.Knobs{}
	}
	for name, v := range k { // order-free: fills a map
		out[name] = v
		if parsed, err := experiment.ParseKnobs(experiment.Knobs{name: v}); err == nil {
			for _, typed := range parsed { // order-free: of one name
				out[name] = typed
			}
		}
	}
	return out
}

// NonDefault are the knobs of a resolved spec that are not the defaults of its preset and workload.
func NonDefault(spec experiment.Knobs) experiment.Knobs {
	s, err := experiment.SpecOf("", canonical(spec))
	if err != nil {
		return experiment.Knobs{}
	}
	return s.Set
}

// compactJSON is a value on one line, as printJSON writes it but for space.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
