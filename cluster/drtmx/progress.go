package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// bar is a progress bar for work of over two seconds, on a terminal only.
type bar struct {
	mu    sync.Mutex
	w     io.Writer
	on    bool
	title string
	doing string // what is being done, "" where the title says all
	began time.Time
	drawn time.Time
	shown bool
}

const (
	barAfter = 2 * time.Second
	barEvery = 100 * time.Millisecond
	barWidth = 30
)

func newBar(w io.Writer, title string) *bar {
	return &bar{w: w, on: isTerminal(w), title: title, began: time.Now()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// update is a progress callback; it may be called from several goroutines.
func (b *bar) update(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if !b.on || total <= 0 || now.Sub(b.began) < barAfter || now.Sub(b.drawn) < barEvery {
		return
	}
	b.drawn, b.shown = now, true
	share := min(1, float64(done)/float64(total))
	full := int(share * barWidth)
	left := ""
	if spent := now.Sub(b.began); share > 0.02 {
		left = fmt.Sprintf(", %v left", time.Duration(float64(spent)*(1-share)/share).Round(time.Second))
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s [%s%s] %3.0f %%%s%s", b.title, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), 100*share, left, b.doing)
}

// tell is update for work that also says what is being done.
func (b *bar) tell(doing string, done, total int) {
	b.mu.Lock()
	b.doing = ": " + doing
	b.mu.Unlock()
	b.update(done, total)
}

// part is tell for a part of the work, from and to in hundredths of all of it.
func (b *bar) part(from, to int) func(doing string, done, total int) {
	return func(doing string, done, total int) { b.tell(doing, from*total+(to-from)*done, 100*total) }
}

// end removes the bar.
func (b *bar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
	b.on = false
}
