package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Bar is the progress of long work: on a terminal a bar, after two seconds, elsewhere a line every
// ten seconds.
type Bar struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool // a terminal
	title string
	doing string  // what is being done, "" where the title says all
	share float64 // done
	began time.Time
	drawn time.Time
	shown bool
	over  chan struct{} // closed by end; nil where there are no lines
}

const (
	barAfter  = 2 * time.Second
	barEvery  = 100 * time.Millisecond
	barWidth  = 30
	lineEvery = 10 * time.Second
)

// New begins work, which end ends.
func New(w io.Writer, title string) *Bar { return newBarEvery(w, title, lineEvery) }

// newBarEvery is newBar with another time between lines.
func newBarEvery(w io.Writer, title string, every time.Duration) *Bar {
	b := &Bar{w: w, on: IsTerminal(w), title: title, began: time.Now()}
	if !b.on {
		b.over = make(chan struct{})
		go b.lines(every, b.over)
	}
	return b
}

// lines writes how far the work is, also when nothing is news: the lines show that it goes on.
func (b *Bar) lines(every time.Duration, over <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		b.mu.Lock()
		select {
		case <-over:
		default:
			spent := time.Since(b.began)
			fmt.Fprintf(b.w, "%s: %.0f %% after %v%s%s\n", b.title, 100*b.share, spent.Round(time.Second), left(spent, b.share), b.doing)
		}
		b.mu.Unlock()
	}
}

// left is how long work will go on of which a share took spent, unless it is too early to tell.
func left(spent time.Duration, share float64) string {
	if share <= 0.02 {
		return ""
	}
	return fmt.Sprintf(", %v left", time.Duration(float64(spent)*(1-share)/share).Round(time.Second))
}

// IsTerminal says that a writer is a terminal, which shows bars and colours.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Update is a progress callback; it may be called from several goroutines.
func (b *Bar) Update(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if total <= 0 {
		return
	}
	b.share = min(1, float64(done)/float64(total))
	now := time.Now()
	if !b.on || now.Sub(b.began) < barAfter || now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn, b.shown = now, true
	full := int(b.share * barWidth)
	fmt.Fprintf(b.w, "\r\x1b[K%s [%s%s] %3.0f %%%s%s", b.title, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*b.share, left(now.Sub(b.began), b.share), b.doing)
}

// Tell is update for work that also says what is being done.
func (b *Bar) Tell(doing string, done, total int) {
	b.mu.Lock()
	b.doing = ": " + doing
	b.mu.Unlock()
	b.Update(done, total)
}

// Note changes what is said to be done, until tell says something else.
func (b *Bar) Note(doing string) {
	b.mu.Lock()
	b.doing = ": " + doing
	b.mu.Unlock()
}

// Line writes a line of its own; a bar is drawn anew below it.
func (b *Bar) Line(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	fmt.Fprintf(b.w, "%s: %s\n", b.title, text)
}

// Part is tell for a part of the work, from and to in hundredths of all of it.
func (b *Bar) Part(from, to int) func(doing string, done, total int) {
	return func(doing string, done, total int) { b.Tell(doing, from*total+(to-from)*done, 100*total) }
}

// End removes the bar, or ends the lines.
func (b *Bar) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.on = false
	if b.over != nil {
		close(b.over)
		b.over = nil
	}
}
