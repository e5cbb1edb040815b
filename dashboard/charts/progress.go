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
// notebooks hold results and no wall times. Several goroutines may call it.
// Outside a notebook it does nothing.
func Progress(title string) func(done, total int) {
	if !HasFrontend() {
		return func(int, int) {}
	}
	var (
		mu       sync.Mutex
		id       string
		finished bool
		start    = time.Now()
		next     = start.Add(progressAfter)
	)
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if finished || done < total && now.Before(next) {
			return
		}
		next = now.Add(progressEvery)
		finished = done >= total
		switch {
		case id != "":
			Update(id, progressBundle(title, done, total, now.Sub(start)))
		case !finished:
			id = Display(progressBundle(title, done, total, now.Sub(start)))
		}
	}
}

func progressBundle(title string, done, total int, spent time.Duration) Bundle {
	if done >= total {
		return Bundle{"text/plain": "", "text/html": ""}
	}
	count := fmt.Sprintf("%d of %d", done, total)
	if total > 1000 { // nobody counts that
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
