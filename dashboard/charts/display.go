package charts

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// Bundle maps MIME types (text/html, image/svg+xml, text/plain) to contents:
// one value in every form a notebook may want to show.
type Bundle = map[string]any

// Frontend is where rich output goes. The notebook kernel implements it with
// Jupyter messages; nothing in this package knows more about Jupyter than the
// names of three of them (display_data, update_display_data, clear_output).
type Frontend interface {
	Publish(msgType string, content map[string]any) error
}

// Positioner is a Frontend that knows where the notebook's code has come to.
type Positioner interface {
	// Position is the line of the code that the calling goroutine runs, as "line 3", "" if it runs none.
	Position() string
}

// placed is a panic that has its line.
type placed struct{ error }

// NamePlace, deferred, adds to a panic the line of the notebook that it is from: the stack has the interpreter's. Outside of a notebook it lets it pass.
func NamePlace() {
	if p, ok := frontend().(Positioner); ok {
		if x := recover(); x != nil {
			if _, has := x.(placed); !has && p.Position() != "" {
				x = placed{fmt.Errorf("%s: %v", p.Position(), x)}
			}
			panic(x)
		}
	}
}

// cellState is the running cell and what earlier cells left in the page.
type cellState struct {
	mu     sync.Mutex
	front  Frontend
	ctx    context.Context
	cancel context.CancelFunc
	code   string // of the running cell
	bars   []*bar // that stand in the page
	loader string // code of the cell whose output holds the chart library
	loaded bool
}

var cell = cellState{ctx: context.Background()}

// SetFrontend is called by the kernel, once, before the first cell.
func SetFrontend(f Frontend) {
	cell.mu.Lock()
	defer cell.mu.Unlock()
	cell.front = f
}

// HasFrontend reports whether a frontend shows what Display is given. Outside a
// notebook none does.
func HasFrontend() bool { return frontend() != nil }

func frontend() Frontend {
	cell.mu.Lock()
	defer cell.mu.Unlock()
	return cell.front
}

// BeginCell is called by the kernel before it runs a cell.
func BeginCell(code string) {
	ctx, cancel := context.WithCancel(context.Background())
	cell.mu.Lock()
	defer cell.mu.Unlock()
	cell.ctx, cell.cancel, cell.code = ctx, cancel, code
	if cell.loaded && cell.loader == code {
		cell.loaded = false // its output, and the library in it, is being replaced
	}
}

// EndCell is called by the kernel after a cell. The cell's context ends with it,
// and what it says of its progress.
func EndCell() {
	Interrupt()
	cell.mu.Lock()
	bars := cell.bars
	cell.ctx, cell.cancel, cell.code, cell.bars = context.Background(), nil, "", nil
	cell.mu.Unlock()
	for _, b := range bars {
		b.wipe()
	}
}

// Interrupt is called by the kernel when the user stops the cell: it cancels
// Context, which every long call of this module watches.
func Interrupt() {
	cell.mu.Lock()
	defer cell.mu.Unlock()
	if cell.cancel != nil {
		cell.cancel()
	}
}

// Context is the running cell's context, cancelled by an interrupt and at the
// end of the cell. Outside a notebook it is the background context.
func Context() context.Context {
	cell.mu.Lock()
	defer cell.mu.Unlock()
	return cell.ctx
}

var displays atomic.Int64

// Display shows a bundle below the running cell and returns the id with which
// Update replaces it. Outside a notebook the plain text goes to standard error.
func Display(b Bundle) string {
	id := fmt.Sprintf("drtmx-%d-%d", os.Getpid(), displays.Add(1))
	f := frontend()
	if f == nil {
		if text, _ := b["text/plain"].(string); text != "" {
			fmt.Fprintln(os.Stderr, text)
		}
		return id
	}
	BringLibrary(b)
	publish(f, "display_data", id, b)
	return id
}

// Update replaces what Display showed under id.
func Update(id string, b Bundle) {
	if f := frontend(); f != nil {
		BringLibrary(b)
		publish(f, "update_display_data", id, b)
	}
}

// publish cannot report an error: the page that would show it is the
// one that cannot be reached.
func publish(f Frontend, msgType, id string, b Bundle) {
	_ = f.Publish(msgType, map[string]any{"data": b, "metadata": map[string]any{}, "transient": map[string]any{"display_id": id}})
}

// Clear empties the cell's output; with wait, not before there is new output,
// which avoids flicker.
func Clear(wait bool) {
	f := frontend()
	if f == nil {
		return
	}
	cell.mu.Lock()
	if cell.loader == cell.code {
		cell.loaded = false
	}
	cell.mu.Unlock()
	_ = f.Publish("clear_output", map[string]any{"wait": wait})
}
