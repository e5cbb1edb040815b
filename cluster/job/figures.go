package job

import (
	"context"
	"fmt"
	"sync"
	"time"

	"drtmx/dashboard/charts"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// FigureInfo is one row of the list of figures.
type FigureInfo struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Chapter int    `json:"chapter"`
	Section string `json:"section"`
	State   string `json:"state"`
	// Instant says that it takes no time, so it is computed without being asked for.
	Instant bool `json:"instant,omitempty"`
}

// Figure is a figure as far as it is computed. Its JSON is that of
// `drtmx figure ID --json`.
type Figure interface {
	// Draw is its picture for a place of a known size, with others of the same
	// figure over it.
	Draw(size charts.Size, over ...Figure) *charts.Chart
	// Sketch is an SVG of it for a gallery, small and without words.
	Sketch() string
	// Verdicts counts its claims by what became of them.
	Verdicts() Verdicts
	// Result is the run that a point names, nil if there is none of that number.
	Result(run int) *result.Result
}

// FigurePart is what is known of a figure in one respect, as HTML without a style of its own: its claims, published numbers,
// predictions, how it is made, and its runs.
type FigurePart struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	HTML  string `json:"html"`
}

// Verdicts are how many claims of a figure hold and do not. Of a claim that is measured
// in several states the first counts.
type Verdicts struct {
	Holds        int `json:"holds"`
	Contradicted int `json:"contradicted"`
	Undecided    int `json:"undecided"`
}

// FigureReport is told how many runs of a figure have ended. soFar draws up what
// there is of it when it is asked, and may be kept and asked later.
type FigureReport func(done, total int, soFar func() Figure)

// FigureRunner runs the figures; the package that has them is above this one
// and hands itself in.
type FigureRunner interface {
	List() []FigureInfo
	// Sketch is a figure that is not computed: its published numbers alone.
	Sketch(id string) string
	// Parts are what is known of a figure beside its picture. f is nil before it is computed.
	Parts(id string, f Figure) []FigurePart
	// Known is the figure with the thesis's knobs as it was computed before the program began; false for nothing.
	Known(id string) (KnownFigure, bool)
	// Check says what is wrong with knobs for all runs of a figure.
	Check(id, scale string, set experiment.Knobs) error
	// Run computes a figure. set changes knobs of all its runs. It returns when ctx
	// ends.
	Run(ctx context.Context, id, scale string, set experiment.Knobs, report FigureReport) (Figure, error)
}

// FigureRun is a figure that was computed or is being computed.
type FigureRun struct {
	N      int              `json:"n"` // tells it from others of the same id in this agent
	Scale  string           `json:"scale"`
	Set    experiment.Knobs `json:"set,omitempty"`   // knobs that differ from the thesis's
	Waits  bool             `json:"waits,omitempty"` // for another figure: they go one by one
	Done   int              `json:"done"`            // runs
	Total  int              `json:"total"`
	WallMS int64            `json:"wall_ms"`          // until it was there; runs that are known take no time
	Figure Figure           `json:"figure,omitempty"` // what there is, nil before the first run has ended
	Made   *Made            `json:"made,omitempty"`   // nil: by this program
	Claims *Verdicts        `json:"-"`                // of a known one whose figure has not been read yet
}

// FigureState is what an agent has of a figure.
type FigureState struct {
	FigureInfo
	Running  *FigureRun  `json:"running,omitempty"`
	Failed   string      `json:"failed,omitempty"`   // why the latest try gave nothing
	Base     *FigureRun  `json:"base,omitempty"`     // with the thesis's knobs
	Variants []FigureRun `json:"variants,omitempty"` // with others, at the same scale, the oldest first
}

var given struct {
	mu     sync.Mutex
	runner FigureRunner
}

// SetFigures registers what runs the figures. The package that has them calls it; this one is below it and cannot.
func SetFigures(r FigureRunner) {
	given.mu.Lock()
	defer given.mu.Unlock()
	given.runner = r
}

func registered() FigureRunner {
	given.mu.Lock()
	defer given.mu.Unlock()
	return given.runner
}

// KnownFigure is a figure that was computed before the program began: what a list shows of it, and the figure itself when it is asked for.
type KnownFigure struct {
	Scale  string
	WallMS int64
	Claims Verdicts
	Made   *Made
	Load   func() (Figure, error)
}

// Made is when and by which code a figure was computed that was there before the program began.
type Made struct {
	At   time.Time `json:"at"`
	Code string    `json:"code"`
	// Kept says that the user's run store has it; else it is recorded in the repository.
	Kept bool `json:"kept,omitempty"`
	// Differs says that this program would compute it with other code, or from other runs.
	Differs bool `json:"differs"`
}

// String is that in words.
func (m *Made) String() string {
	how := "recorded"
	if m.Kept {
		how = "computed"
	}
	text := fmt.Sprintf("%s on %s with code %s", how, m.At.UTC().Format("2 January 2006"), m.Code)
	if m.Differs {
		return text + ", and this program has other code"
	}
	return text + ", which this program has too"
}
