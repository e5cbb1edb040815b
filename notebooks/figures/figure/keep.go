package figure

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"drtmx/cluster/keep"
	"drtmx/cluster/runs"
	"drtmx/engine/result"
)

// Keep keeps a figure in the user's run store, under a note if there is one. Where that fails the store remembers why;
// the figure is whole.
func (f *Figure) Keep(note string) {
	s, err := runs.Default()
	if err != nil {
		return
	}
	k, err := f.kept()
	if err == nil {
		_, err = keep.Figure(s, note, k)
	}
	s.Lost(err)
}

// kept is the figure without its runs, which are points of the store.
func (f *Figure) kept() (keep.FigureRecord, error) {
	bare := *f
	bare.Runs, bare.Made = []*result.Result{}, nil
	out := keep.FigureRecord{ID: f.ID, Scale: f.Scale, Set: f.Set, WallMS: f.WallMS, Runs: f.Runs}
	v := f.Verdicts()
	out.About = fmt.Sprintf("claims hold %d, contradicted %d, undecided %d", v.Holds, v.Contradicted, v.Undecided)
	if f.BandFactor > 0 {
		out.Variant = "band"
	}
	out.Document = bare
	var err error
	out.Digest, err = f.Digest()
	return out, err
}

// Digest is over all that the figure says, but for its runs and for how long it took.
func (f *Figure) Digest() (string, error) {
	bare := *f
	bare.Runs, bare.Made, bare.WallMS = []*result.Result{}, nil, 0
	text, err := json.Marshal(&bare)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), err
}

// Read is a figure of the recipe from its JSON.
func (r *Recipe) Read(text []byte) (*Figure, error) {
	f := &Figure{recipe: r}
	return f, json.Unmarshal(text, f)
}
