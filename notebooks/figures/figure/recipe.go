package figure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"

	"drtmx/cluster"
	"drtmx/dashboard/charts"
	"drtmx/engine/code"
	"drtmx/engine/experiment"
)

// Recipe is a figure that can be computed, possibly with other knobs than the
// thesis's.
type Recipe struct {
	Definition *Definition
	Changed    experiment.Knobs
	fewer      bool // at paper scale there are only the points that quick scale has too
	lab        *cluster.Lab
}

// Plan is that of the figure with the recipe's knobs.
func (r *Recipe) Plan(scale string) Plan {
	if r.fewer && scale == Paper {
		return r.own(Paper).only(r.own(Quick))
	}
	return r.own(scale)
}

func (r *Recipe) own(scale string) Plan {
	if r.Definition.Compute != nil {
		return Plan{}
	}
	if r.Definition.PlanFor != nil {
		return r.Definition.PlanFor(scale, r.Changed)
	}
	return r.Definition.Plan(scale)
}

// New is the recipe of a figure with the thesis's knobs.
func New(d *Definition) *Recipe { return &Recipe{Definition: d, Changed: experiment.Knobs{}} }

// On is the recipe whose runs the workers of a lab compute; nil is this process.
func (r *Recipe) On(l *cluster.Lab) *Recipe {
	out := *r
	out.lab = l
	return &out
}

// Lab is the queue that computes the figure's runs; nil is this process.
func (r *Recipe) Lab() *cluster.Lab { return r.lab }

// And is the recipe with more knobs.
func (r *Recipe) And(set ...experiment.Knobs) *Recipe {
	out := *r
	for _, k := range set {
		out.Changed = With(out.Changed, k)
	}
	return &out
}

// ForClaims is the recipe whose points at paper scale are those that quick scale has too: the claims are measured on these,
// and all points would take most of a day.
func (r *Recipe) ForClaims() *Recipe {
	out := *r
	out.fewer = true
	return &out
}

// ID is the figure's, that of a panel where it has several.
func (r *Recipe) ID() string { return r.Definition.ID }

// With is the figure with knobs changed in all of its runs.
func (r *Recipe) With(set cluster.Knobs) *Recipe {
	out := r.And(set)
	Must(out.Check(Quick))
	return out
}

// Check refuses knobs that cannot be set in this figure.
func (r *Recipe) Check(scale string) error {
	specs, err := r.AllSpecs(scale)
	for _, s := range specs {
		if err == nil {
			_, err = experiment.Resolve(s)
		}
	}
	return err
}

// Quick computes the figure at quick scale.
func (r *Recipe) Quick() *Figure { return r.at(Quick) }

// Paper computes the figure at paper scale.
func (r *Recipe) Paper() *Figure { return r.at(Paper) }

func (r *Recipe) at(scale string) *Figure {
	f, err := r.Run(charts.Context(), scale, nil, charts.Progress("figure "+r.Definition.ID))
	Must(err)
	return f
}

// Must fails the cell of a notebook with an error, if there is one.
func Must(err error) {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if err != nil {
		panic(&cluster.Failure{Err: err})
	}
}

// String says what would be computed.
func (r *Recipe) String() string {
	s := fmt.Sprintf("figure %s: %s (section %s); Show() computes it", r.Definition.ID, r.Definition.Title, r.Definition.Section)
	if t := knobText(r.Changed); t != "" {
		s += " with " + t
	}
	return s
}

// HTML is String for a notebook.
func (r *Recipe) HTML() string { return "<p>" + html.EscapeString(r.String()) + "</p>" }

func knobText(k experiment.Knobs) string {
	var parts []string
	for _, name := range experiment.SortedNames(k) {
		parts = append(parts, fmt.Sprintf("%s = %v", name, k[name]))
	}
	return strings.Join(parts, ", ")
}

// Version is what makes a figure's numbers: the code that its runs execute, and a digest of their specs.
func (r *Recipe) Version(scale string) (version, runs string) {
	if r.Definition.Compute != nil {
		return code.OfPackage(ComparePackage), ""
	}
	specs, err := r.Specs(scale)
	Must(err) // a figure's own specs are right
	if len(specs) == 0 {
		return code.Build(), ""
	}
	h, versions := sha256.New(), make([]string, 0, len(specs))
	for _, s := range specs {
		v, err := experiment.Resolve(s)
		Must(err)
		text, err := json.Marshal(v)
		Must(err)
		h.Write(text) // a hash does not fail
		versions = append(versions, code.Of(v))
	}
	return code.Join(versions...), "runs-" + hex.EncodeToString(h.Sum(nil))[:16]
}

// Code is the version of the code that makes the figure's numbers.
func (r *Recipe) Code(scale string) string {
	version, _ := r.Version(scale)
	return version
}

// firstSystems is the first chapter whose figures are about systems.
const firstSystems = 3

// Predicts says whether what this simulator says about the figure are predictions. Those of a figure of dots are of other figures.
func (r *Recipe) Predicts() bool {
	return r.Definition.Form != FormDots && r.Definition.Chapter >= firstSystems
}
