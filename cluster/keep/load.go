package keep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"drtmx/cluster/runs"
	"drtmx/cluster/tidy"
	"drtmx/engine/batch"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// Kept is a kept run with its results.
type Kept struct {
	*runs.Kept
	Results []*result.Result // nil where one has left the cache of points
}

// Current says whether this program would compute all of it with the same code again.
func (k *Kept) Current() bool {
	if len(k.Results) == 0 {
		return k.Code == code.Build()
	}
	return !slices.ContainsFunc(k.Results, func(r *result.Result) bool { return r == nil || !r.Current() })
}

// Load is a kept run by its id, or the run with a number in one as r12.3: then that is its only result.
func Load(s *runs.Store, ref string) (*Kept, error) {
	id, n, err := runs.ParseID(ref)
	if err != nil {
		return nil, err
	}
	k, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	out := &Kept{Kept: k}
	if n > 0 {
		body, err := s.Member(id, n)
		if err != nil {
			return nil, err
		}
		r, err := resultFrom(body)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", ref, err)
		}
		out.Form, out.Results = formRun, []*result.Result{r}
		return out, nil
	}
	bodies, err := s.Members(id)
	if err != nil {
		return nil, err
	}
	for _, b := range bodies {
		var r *result.Result
		if b != nil {
			if r, err = resultFrom(b); err != nil {
				return nil, fmt.Errorf("run %s: %w", ref, err)
			}
		}
		out.Results = append(out.Results, r)
	}
	return out, nil
}

// resultFrom reads a result with the types that knobs have.
func resultFrom(body []byte) (*result.Result, error) {
	r := &result.Result{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, fmt.Errorf("its result cannot be read: %w", err)
	}
	return r, nil
}

// Result is the one result of a run or session. Of several, one has to be named.
func (k *Kept) Result() (*result.Result, error) {
	if (k.Form == formRun || k.Form == formSession) && len(k.Results) == 1 && k.Results[0] != nil {
		return k.Results[0], nil
	}
	return nil, &experiment.SpecError{Field: "run", Value: k.ID.String(), Rule: fmt.Sprintf("is a %s of %d runs", k.Kind, len(k.Results)), Next: fmt.Sprintf("name one of them as %v.1", k.ID)}
}

// Missing is how many results have left the cache of points.
func (k *Kept) Missing() (n int) {
	for _, r := range k.Results {
		if r == nil {
			n++
		}
	}
	return n
}

// JSON is the document as the command printed it that made it.
func (k *Kept) JSON() ([]byte, error) {
	v, err := k.Value()
	if err != nil {
		return nil, err
	}
	text, err := compactJSON(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, text, "", "  ")
	return append(b.Bytes(), '\n'), err
}

// Value is what was kept: a *result.Result, *batch.SeedsResult, *result.Systems or *batch.SweepResult, and of a figure its
// JSON.
func (k *Kept) Value() (any, error) {
	switch k.Form {
	case formSeeds:
		out := &batch.SeedsResult{Runs: k.Results}
		return out, json.Unmarshal(k.Document, &out.Means)
	case formSystems:
		return result.CompareSystems(k.Results), nil
	case FormSweep:
		return k.sweep()
	case FormFigure:
		list, err := compactJSON(append([]*result.Result{}, k.Results...))
		if err != nil {
			return nil, err
		}
		return json.RawMessage(bytes.Replace(k.Document, []byte(`"runs":[]`), append([]byte(`"runs":`), list...), 1)), nil
	}
	return k.Result()
}

func (k *Kept) sweep() (*batch.SweepResult, error) {
	var doc sweepDocument
	if err := json.Unmarshal(k.Document, &doc); err != nil {
		return nil, fmt.Errorf("run %v: its sweep cannot be read: %w", k.ID, err)
	}
	if doc.Sweep == nil || len(doc.Runs) != len(doc.Sweep.Points) {
		return nil, fmt.Errorf("run %v: its sweep cannot be read", k.ID)
	}
	rest := k.Results
	for i, n := range doc.Runs {
		p := &doc.Sweep.Points[i]
		for _, r := range rest[:min(n, len(rest))] {
			if r != nil {
				p.Runs = append(p.Runs, r)
			}
		}
		rest = rest[min(n, len(rest)):]
		if len(p.Runs) == 0 && p.Error == "" {
			p.Error = "its result has left the cache of points; sweep again"
		}
	}
	return doc.Sweep, nil
}

// Table is a row for every run in these: the one that it is in, and what ResultTable says of it. A result that has
// left the cache of points is a row without numbers.
func Table(s *runs.Store, list []runs.Kept) (*tidy.Table, error) {
	t := &tidy.Table{}
	for _, row := range list {
		k, err := Load(s, row.ID.String())
		if err != nil {
			return nil, err
		}
		for i, r := range k.Results {
			t.Row()
			t.Set("run", row.ID.String())
			t.Set("n", i+1)
			t.Set("kept", row.At().UTC().Format(time.RFC3339))
			t.Set("kind", row.Kind)
			t.Set("about", row.About)
			t.Set("note", row.Note)
			if r != nil {
				addRun(t, r)
			}
		}
	}
	return t, nil
}

// SpecOf is the spec of a result that may be of another version of the code: knobs that it did not have are as
// they are by default, and those that are no more are left out.
func SpecOf(r *result.Result) (experiment.Spec, error) {
	return experiment.SpecOf("", canonical(r.Spec))
}
