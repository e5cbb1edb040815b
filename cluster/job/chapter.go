package job

import (
	"fmt"

	"drtmx/engine/experiment"
)

// ChapterOrder asks for all figures of a chapter.
type ChapterOrder struct {
	Chapter int    `json:"chapter"`
	Scale   string `json:"scale"`
}

// StartChapter computes what a chapter lacks at a scale, or other code has made, one figure after the other in
// the order of the thesis. It returns the names of the tasks.
func (j *Jobs) StartChapter(order ChapterOrder) ([]string, error) {
	if err := defaultScale(&order.Scale); err != nil {
		return nil, err
	}
	ids, err := j.chapter(order.Chapter)
	if err != nil {
		return nil, err
	}
	tasks := []string{}
	ended := make(chan struct{})
	close(ended)
	var before <-chan struct{} = ended // of the figure before
	for _, id := range ids {
		j.figures.recall(id)
		j.figures.mu.Lock()
		base := j.figures.of(id).base
		j.figures.mu.Unlock()
		if base != nil && !(base.Made != nil && base.Made.Differs) && (base.Scale == order.Scale || base.Scale == "paper") { // paper scale is more than was asked for
			continue
		}
		over, err := j.startFigure(id, FigureOrder{Scale: order.Scale}, before)
		if err != nil { // it is being computed already
			continue
		}
		tasks, before = append(tasks, taskOf(id)), over
	}
	return tasks, nil
}

// StopChapter cancels what runs of a chapter and what waits, and returns how many these were.
func (j *Jobs) StopChapter(order ChapterOrder) (cancelled int, err error) {
	ids, err := j.chapter(order.Chapter)
	if err != nil {
		return 0, err
	}
	for i := len(ids) - 1; i >= 0; i-- { // what waits goes first, or it would begin
		if j.CancelTask(taskOf(ids[i])) {
			cancelled++
		}
	}
	return cancelled, nil
}

// chapter are the ids of its figures.
func (j *Jobs) chapter(n int) (ids []string, err error) {
	for _, f := range j.Figures() {
		if f.Chapter == n {
			ids = append(ids, f.ID)
		}
	}
	if ids == nil {
		return nil, &experiment.SpecError{Field: "chapter", Value: fmt.Sprint(n), Rule: "there are no figures of that chapter", Next: "GET /api/figures lists them"}
	}
	return ids, nil
}
