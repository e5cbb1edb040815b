package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"drtmx/engine"
)

// FigureInfo is one row of the list of figures.
type FigureInfo struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Chapter int    `json:"chapter"`
	State   string `json:"state"`
}

// FigureRunner runs the figures; the package that has them is above this one
// and hands itself in.
type FigureRunner interface {
	List() []FigureInfo
	// Run computes a figure; what it returns is answered as JSON. set changes
	// knobs of all its runs. It returns when ctx ends.
	Run(ctx context.Context, id, scale string, set engine.Knobs, progress func(done, total int)) (any, error)
}

// figureDesk runs one figure at a time, for each takes every core.
type figureDesk struct {
	agent  *Agent
	runner FigureRunner
	slot   chan struct{}

	mu    sync.Mutex
	ready map[string]json.RawMessage
}

// figuresKept bounds what the desk remembers: there are not many more figures.
const figuresKept = 200

func newFigureDesk(a *Agent, r FigureRunner) *figureDesk {
	return &figureDesk{agent: a, runner: r, slot: make(chan struct{}, 1), ready: map[string]json.RawMessage{}}
}

func (d *figureDesk) list(*http.Request) (any, error) {
	out := []FigureInfo{}
	if d.runner != nil {
		out = append(out, d.runner.List()...)
	}
	return out, nil
}

// known checks an id before anything is started.
func (d *figureDesk) known(id string) error {
	if d.runner != nil {
		for _, f := range d.runner.List() {
			if f.ID == id {
				return nil
			}
		}
	}
	return &httpError{http.StatusNotFound, "figure = " + clip(id) + ": no such figure; see /api/figures"}
}

func taskOf(id string) string { return "figure " + id }

func (d *figureDesk) start(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if err := d.known(id); err != nil {
		return nil, err
	}
	var b struct {
		Scale string       `json:"scale"`
		Set   engine.Knobs `json:"set"`
	}
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if b.Scale == "" {
		b.Scale = "quick"
	}
	if b.Scale != "quick" && b.Scale != "paper" {
		return nil, &engine.SpecError{Field: "scale", Value: clip(b.Scale), Rule: "must be quick or paper"}
	}
	ctx, cancel := context.WithCancel(context.Background()) // outlives the request
	if !d.agent.tasks.start(taskOf(id), cancel) {
		cancel()
		return nil, &httpError{http.StatusConflict, "figure " + id + " is being computed already"}
	}
	go d.run(ctx, cancel, id, b.Scale, normalKnobs(b.Set))
	d.agent.announce()
	return accepted{map[string]string{"task": taskOf(id)}}, nil
}

func (d *figureDesk) run(ctx context.Context, cancel context.CancelFunc, id, scale string, set engine.Knobs) {
	defer cancel()
	err := guarded(taskOf(id), func() error {
		select {
		case d.slot <- struct{}{}:
			defer func() { <-d.slot }()
		case <-ctx.Done():
			return ctx.Err()
		}
		v, err := d.runner.Run(ctx, id, scale, set, func(done, total int) {
			d.agent.tasks.progress(taskOf(id), int64(done), int64(total))
			d.agent.announce()
		})
		if err != nil {
			return err
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if len(d.ready) < figuresKept || d.ready[id] != nil {
			d.ready[id] = raw
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		err = context.Canceled
	}
	d.agent.tasks.end(taskOf(id), err)
	d.agent.announce()
}

func (d *figureDesk) get(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if err := d.known(id); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if raw, ok := d.ready[id]; ok {
		return raw, nil
	}
	return nil, &httpError{http.StatusNotFound, "figure " + id + " has not been computed here; POST /api/figures/" + id}
}

func (d *figureDesk) stop(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if !d.agent.tasks.cancel(taskOf(id)) {
		return nil, &httpError{http.StatusNotFound, "figure " + clip(id) + " is not being computed"}
	}
	return map[string]bool{"cancelled": true}, nil
}
