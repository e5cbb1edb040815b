package charts

import (
	"fmt"
	"html"
	"sync"
	"time"
)

// progressEvery bounds how often a bar is redrawn; notebook servers drop
// messages that come too fast.
const progressEvery = 100 * time.Millisecond

// Progress returns a callback that draws a progress bar below the running
// cell: pass it to anything that reports how much is done. The finished bar
// shows no wall time, so that a notebook executed twice is the same file
// twice. Several goroutines may call it. Outside a notebook it does nothing.
func Progress(title string) func(done, total int) {
	if !HasFrontend() {
		return func(int, int) {}
	}
	var (
		mu       sync.Mutex
		id       string
		last     time.Time
		finished bool
		start    = time.Now()
	)
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if finished || done < total && now.Sub(last) < progressEvery {
			return
		}
		last = now
		finished = done >= total
		b := progressBundle(title, done, total, now.Sub(start))
		if id == "" {
			id = Display(b)
		} else {
			Update(id, b)
		}
	}
}

func progressBundle(title string, done, total int, spent time.Duration) Bundle {
	if done >= total {
		text := fmt.Sprintf("%s: %d of %d", title, total, total)
		return Bundle{
			"text/plain": text,
			"text/html":  `<div style="font:12px sans-serif;opacity:.6">` + html.EscapeString(text) + `</div>`,
		}
	}
	text := fmt.Sprintf("%s: %d of %d, %v", title, done, total, spent.Round(100*time.Millisecond))
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
