package charts

import (
	"fmt"
	"html"
	"sync"
	"time"
)

const (
	// progressAfter is how long something may take before it gets a bar.
	progressAfter = 300 * time.Millisecond
	// progressEvery bounds how often a bar is redrawn; notebook servers drop
	// messages that come too fast.
	progressEvery = 100 * time.Millisecond
)

// Progress returns a callback that draws a progress bar below the running
// cell: pass it to anything that reports how much is done. What is done at once
// gets no bar, and a finished bar leaves nothing behind, so that saved
// notebooks hold results and no wall times. Nor does one whose cell ends before
// it, by an interrupt or an error. Several goroutines may call it. Outside a
// notebook it does nothing.
func Progress(title string) func(done, total int) {
	if !HasFrontend() {
		return func(int, int) {}
	}
	now := time.Now()
	return (&bar{title: title, start: now, next: now.Add(progressAfter)}).report
}

// bar is a progress bar of the notebook.
type bar struct {
	title string
	start time.Time

	mu       sync.Mutex
	id       string // of its display, "" before it has one
	stands   bool   // in the page: its cell wipes it
	finished bool
	next     time.Time // when it may be redrawn
}

func (b *bar) report(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.finished || done < total && now.Before(b.next) {
		return
	}
	b.next = now.Add(progressEvery)
	b.finished = done >= total
	if !b.finished && !b.stands {
		b.stands = true
		cell.mu.Lock()
		cell.bars = append(cell.bars, b)
		cell.mu.Unlock()
	}
	switch {
	case b.id != "":
		Update(b.id, progressBundle(b.title, done, total, now.Sub(b.start)))
	case !b.finished:
		b.id = Display(progressBundle(b.title, done, total, now.Sub(b.start)))
	}
}

// wipe takes the bar from the page. One of a goroutine that outlives its cell
// comes back with its next report.
func (b *bar) wipe() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stands = false
	if !b.finished {
		Update(b.id, progressBundle(b.title, 1, 1, 0))
	}
}

func progressBundle(title string, done, total int, spent time.Duration) Bundle {
	if done >= total {
		return Bundle{"text/plain": "", "text/html": ""}
	}
	count := fmt.Sprintf("%d of %d", done, total)
	if total > 1000 { // not counted
		count = fmt.Sprintf("%.0f %%", 100*float64(done)/float64(total))
	}
	text := fmt.Sprintf("%s: %s, %v", title, count, spent.Round(100*time.Millisecond))
	if done > 0 {
		left := time.Duration(float64(spent) * float64(total-done) / float64(done))
		text += fmt.Sprintf(", %v left", left.Round(100*time.Millisecond))
	}
	return Bundle{
		"text/plain": text,
		"text/html": fmt.Sprintf(`<div style="font:13px sans-serif"><progress max="%d" value="%d" style="width:300px;vertical-align:middle"></progress> %s</div>`,
			total, done, html.EscapeString(text)),
	}
}
