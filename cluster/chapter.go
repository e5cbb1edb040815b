package cluster

import (
	"fmt"
	"net/http"

	"drtmx/engine/experiment"
)

// chapterOrder asks for all figures of a chapter.
type chapterOrder struct {
	Chapter int    `json:"chapter"`
	Scale   string `json:"scale"`
}

// startChapter computes what a chapter lacks at a scale, one figure after the other in
// the order of the thesis.
func (d *figureJobs) startChapter(r *http.Request) (any, error) {
	var b chapterOrder
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	if err := settleScale(&b.Scale); err != nil {
		return nil, err
	}
	ids, err := d.chapter(b.Chapter)
	if err != nil {
		return nil, err
	}
	tasks := []string{}
	before := make(chan struct{}) // closed when the figure before has ended
	close(before)
	for _, id := range ids {
		d.mu.Lock()
		base := d.place(id).base
		d.mu.Unlock()
		if base != nil && (base.Scale == b.Scale || base.Scale == "paper") { // paper scale is more than was asked for
			continue
		}
		ctx, run, ok := d.enter(id, b.Scale, nil)
		if !ok {
			continue
		}
		tasks = append(tasks, taskOf(id))
		d.waits(id, true)
		ended := make(chan struct{})
		go func(before <-chan struct{}) {
			defer close(ended)
			select {
			case <-before:
			case <-ctx.Done():
			}
			run()
		}(before)
		before = ended
	}
	d.agent.announce()
	return accepted{map[string]any{"tasks": tasks}}, nil
}

// stopChapter cancels what runs of a chapter and what waits.
func (d *figureJobs) stopChapter(r *http.Request) (any, error) {
	var b chapterOrder
	if err := readJSON(r, &b); err != nil {
		return nil, err
	}
	ids, err := d.chapter(b.Chapter)
	if err != nil {
		return nil, err
	}
	cancelled := 0
	for i := len(ids) - 1; i >= 0; i-- { // what waits goes first, or it would begin
		if d.agent.tasks.cancel(taskOf(ids[i])) {
			cancelled++
		}
	}
	return map[string]int{"cancelled": cancelled}, nil
}

// chapter are the ids of its figures.
func (d *figureJobs) chapter(n int) (ids []string, err error) {
	for _, f := range d.agent.Figures() {
		if f.Chapter == n {
			ids = append(ids, f.ID)
		}
	}
	if ids == nil {
		return nil, &experiment.SpecError{Field: "chapter", Value: fmt.Sprint(n), Rule: "there are no figures of that chapter", Next: "GET /api/figures lists them"}
	}
	return ids, nil
}
