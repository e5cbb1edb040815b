package record

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"drtmx/cluster/atomicfile"
	"drtmx/cluster/job"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
	"drtmx/notebooks/figures/figure"
)

//go:embed quick
var files embed.FS

// head is what a file begins with.
type head struct {
	Figure string       `json:"figure"`
	Scale  string       `json:"scale"`
	At     time.Time    `json:"at"`
	Code   string       `json:"code"`
	Specs  string       `json:"specs,omitempty"` // digest of the specs of the points
	Digest string       `json:"digest"`          // of the figure
	Runs   string       `json:"runs"`            // over the digests of its runs
	WallMS int64        `json:"wall_ms"`
	Claims job.Verdicts `json:"claims"`
	// Systems are one run of each code version among the runs: what says whether this program has that code.
	Systems []system `json:"systems,omitempty"`
}

// system is the code version of a run with its knobs.
type system struct {
	Code string           `json:"code"`
	Spec experiment.Knobs `json:"spec"`
}

// Write records a figure that this program has computed, in a folder.
func Write(dir string, r *figure.Recipe, f *figure.Figure, at time.Time) error {
	h := head{Figure: f.ID, Scale: f.Scale, At: at.UTC().Truncate(time.Second), Runs: digestOf(f.Runs), WallMS: f.WallMS, Claims: f.Verdicts()}
	for _, x := range f.Runs {
		if x != nil && !slices.ContainsFunc(h.Systems, func(s system) bool { return s.Code == x.Code }) {
			h.Systems = append(h.Systems, system{x.Code, x.Spec})
		}
	}
	h.Code, h.Specs = r.Version(f.Scale)
	var err error
	if h.Digest, err = f.Digest(); err != nil {
		return err
	}
	bare := *f
	bare.Runs = []*result.Result{}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, part := range []any{&h, &bare, short(f.Runs)} {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		z.Write(append(text, '\n')) // a buffer does not fail
	}
	if err := z.Close(); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(dir, nameOf(f.ID)), b.Bytes(), 0o644)
}

func nameOf(id string) string { return id + ".json.gz" }

// digestOf is over the digests of runs, in their order.
func digestOf(runs []*result.Result) string {
	h := sha256.New()
	for _, r := range runs {
		if r != nil {
			fmt.Fprintln(h, r.Digest) // a hash does not fail
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// short are runs with what a page tells of them.
func short(runs []*result.Result) []*result.Result {
	out := make([]*result.Result, len(runs))
	for i, r := range runs {
		if r == nil {
			continue
		}
		out[i] = &result.Result{Spec: r.Spec, Inputs: r.Inputs, Code: r.Code, Profile: r.Profile, Scope: r.Scope, FromNS: r.FromNS, VirtualNS: r.VirtualNS, WallMS: r.WallMS,
			Steady: r.Steady, Unsteady: r.Unsteady, Throughput: r.Throughput, ThroughputCI95: r.ThroughputCI95, LatencyUS: r.LatencyUS,
			Bottleneck: r.Bottleneck, Limit: r.Limit, Drain: r.Drain, Checks: r.Checks, Digest: r.Digest, Digests: r.Digests}
	}
	return out
}

// Find is the record of a figure, nil if there is none.
func Find(r *figure.Recipe) (*figure.Figure, error) {
	text, err := open(r.ID())
	if text == nil || err != nil {
		return nil, err
	}
	_, f, err := parse(r, text)
	return f, err
}

// open is the text of a record, nil if there is none.
func open(id string) (io.Reader, error) {
	packed, err := files.ReadFile("quick/" + nameOf(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return gzip.NewReader(bytes.NewReader(packed))
}

// headOf is the head of a record alone, nil if there is none.
func headOf(id string) (*head, error) {
	text, err := open(id)
	if text == nil || err != nil {
		return nil, err
	}
	h := &head{}
	return h, json.NewDecoder(text).Decode(h)
}

func parse(r *figure.Recipe, text io.Reader) (*head, *figure.Figure, error) {
	d := json.NewDecoder(text)
	var h head
	var document json.RawMessage
	if err := errors.Join(d.Decode(&h), d.Decode(&document)); err != nil {
		return nil, nil, err
	}
	f, err := r.Read(document)
	if err != nil {
		return nil, nil, err
	}
	f.Made = h.made(r)
	return &h, f, d.Decode(&f.Runs)
}

// made compares code alone: that the specs are those of the figure as well is what a test holds, for to resolve them takes long.
func (h *head) made(r *figure.Recipe) *job.Made {
	m := &job.Made{At: h.At, Code: h.Code}
	if len(h.Systems) == 0 {
		m.Differs = r.Code(h.Scale) != h.Code // it takes no runs
	}
	for _, s := range h.Systems {
		m.Differs = m.Differs || !s.current()
	}
	return m
}

// current says that this program has the code of the system.
func (s *system) current() bool {
	spec, err := experiment.SpecOf("", s.Spec)
	if err != nil {
		return false // a knob or a value that there is no more
	}
	v, err := experiment.Resolve(spec)
	return err == nil && code.Of(v) == s.Code
}
