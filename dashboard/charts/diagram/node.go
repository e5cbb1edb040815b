package diagram

import (
	"fmt"
	"math"
	"strings"

	"drtmx/dashboard/charts"
	"drtmx/dashboard/charts/palette"
	"drtmx/engine/metrics"
	"drtmx/engine/result"
)

// NodeOptions of a drawing of a machine.
type NodeOptions struct {
	Options
	Title string // above it; "": the node's number
	// Widest is the flow, in bytes per second, that is drawn as wide as there is room for. Drawings
	// beside each other are given the same. 0: the widest of this machine.
	Widest float64
}

// Widest is the largest flow inside some machines.
func Widest(nodes ...*result.NodeInside) (most float64) {
	for _, n := range nodes {
		for _, x := range n.NICs {
			most = math.Max(most, math.Max(math.Max(x.Out.BytesPerSec, x.In.BytesPerSec), math.Max(x.WritesToHost.BytesPerSec, x.ReadsFromHost.BytesPerSec)))
		}
		for _, s := range n.Sockets {
			most = math.Max(most, s.DRAM.BytesPerSec)
			if s.NVM != nil {
				most = math.Max(most, lineBytes*math.Max(s.NVM.ReadsPerSec, s.NVM.WritesPerSec))
			}
		}
	}
	return most
}

// The measures of a machine, in pixels.
const (
	lineBytes  = 64
	flowLength = 58.0
	flowWidest = 26.0
	meterHigh  = 15.0
)

// node is a machine while it is drawn.
type node struct {
	*drawing
	n      *result.NodeInside
	widest float64
	x, cw  float64 // of the column that is drawn, and its width
}

// Node draws the inside of a machine: from the top the wire, the RNICs, PCIe, each socket with its
// cores and its cache with the ways that DDIO may use, and its memory. Arrows are as wide as their
// bytes per second; meters are as full as a part was busy, and what is saturated is outlined.
func Node(n *result.NodeInside, o NodeOptions) string {
	if o.Width <= 0 {
		o.Width = 620
	}
	d := &node{drawing: newDrawing(o.Options), n: n, widest: o.Widest}
	if d.widest == 0 {
		d.widest = Widest(n)
	}
	title := o.Title
	if title == "" {
		title = fmt.Sprintf("Node %d", n.Node)
	}
	if n.Role != "symmetric" {
		title += ", a " + n.Role
	}
	d.h = 18
	d.text(margin, d.h, title, `font-weight="bold"`)
	d.h += 16
	d.text(margin, d.h, fmt.Sprintf("means from %s to %s of virtual time", millis(n.FromNS), millis(n.ToNS)), `font-size="11"`, soft)
	d.h += 12
	if n.Down {
		d.rect(margin, d.h, d.w-2*margin, 60, "none", "", `stroke="`+hotColor+`" stroke-width="2" stroke-dasharray="6 4" rx="8"`)
		d.text(d.w/2, d.h+35, fmt.Sprintf("node %d is down: nothing runs in it", n.Node), `text-anchor="middle"`)
		d.h += 72
		return d.svg(title + " is down")
	}
	d.columns()
	return d.svg(title + ": " + Saturated(n))
}

func millis(ns int64) string { return fmt.Sprintf("%.4g ms", float64(ns)/1e6) }

// Saturated names the parts of a machine that are.
func Saturated(n *result.NodeInside) string {
	var hot []string
	note := func(busy float64, what string) {
		if busy >= metrics.Saturated {
			hot = append(hot, fmt.Sprintf("%s at %s", what, percent(busy)))
		}
	}
	for _, x := range n.NICs {
		note(x.Send.Busy, fmt.Sprintf("send pipeline of RNIC %d", x.NIC))
		note(x.Receive.Busy, fmt.Sprintf("receive pipeline of RNIC %d", x.NIC))
		note(math.Max(x.Out.Busy, x.In.Busy), fmt.Sprintf("link of RNIC %d", x.NIC))
		note(math.Max(x.WritesToHost.Busy, x.ReadsFromHost.Busy), fmt.Sprintf("PCIe of RNIC %d", x.NIC))
	}
	for _, s := range n.Sockets {
		note(mean(s.Threads), fmt.Sprintf("cores of socket %d", s.Socket))
		note(s.DRAM.Busy, fmt.Sprintf("DRAM of socket %d", s.Socket))
		if s.NVM != nil {
			if least, most, full := fullDIMMs(s.NVM); full > 1 {
				hot = append(hot, fmt.Sprintf("%d of %d NVM DIMMs of socket %d at %s", full, len(s.NVM.DIMMs), s.Socket, between(least, most)))
			} else {
				note(most, fmt.Sprintf("an NVM DIMM of socket %d", s.Socket))
			}
		}
	}
	if len(hot) == 0 {
		return "nothing is saturated"
	}
	return "saturated: " + strings.Join(hot, ", ")
}

// fullDIMMs counts the DIMMs that are saturated, with the least and the most busy of those.
func fullDIMMs(n *result.NVMInside) (least, most float64, full int) {
	for _, m := range n.DIMMs {
		busy := math.Max(m.Read.Busy, m.Write.Busy)
		if busy < metrics.Saturated {
			continue
		}
		if full == 0 || busy < least {
			least = busy
		}
		most = math.Max(most, busy)
		full++
	}
	return least, most, full
}

func between(low, high float64) string {
	if percent(low) == percent(high) {
		return percent(low)
	}
	return fmt.Sprintf("%.0f to %s", 100*low, percent(high))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / math.Max(float64(len(xs)), 1)
}

// columns draws a column for each socket, with the RNICs that are attached to it above.
func (d *node) columns() {
	top, bottom := d.h, d.h
	d.cw = (d.w - margin*float64(len(d.n.Sockets)+1)) / float64(len(d.n.Sockets))
	rows := 0 // of RNICs: a socket may have more than another
	for _, s := range d.n.Sockets {
		rows = max(rows, len(d.nics(s.Socket)))
	}
	for i := range d.n.Sockets {
		s := &d.n.Sockets[i]
		d.x, d.h = margin+float64(i)*(d.cw+margin), top
		nics := d.nics(s.Socket)
		for _, x := range nics {
			d.nic(x)
		}
		if len(nics) < rows {
			d.text(d.x+d.cw/2, d.h+30, "no RNIC at this socket", `text-anchor="middle"`, `font-size="11"`, soft)
			d.h += float64(rows-len(nics)) * nicHigh
		}
		d.socket(s)
		bottom = math.Max(bottom, d.h)
	}
	d.h = bottom
	d.x, d.cw = margin, d.w-2*margin
	for i, busy := range d.n.Between {
		d.meter(fmt.Sprintf("between sockets %d", i+1), busy, fmt.Sprintf("direction %d of the way between the sockets to NVM", i+1))
	}
	d.scale()
}

func (d *node) nics(socket int) (out []*result.NICInside) {
	for i := range d.n.NICs {
		if d.n.NICs[i].Socket == socket {
			out = append(out, &d.n.NICs[i])
		}
	}
	return out
}

// nicHigh is what nic takes.
const nicHigh = 2*(flowLength+4) + 22 + 4*meterHigh + 8

// nic draws an RNIC between the wire and PCIe.
func (d *node) nic(x *result.NICInside) {
	d.opens("link")
	d.flows(pipe{x.Out, true, "sends", "messages"}, pipe{x.In, false, "receives", "messages"}, fmt.Sprintf("link of RNIC %d", x.NIC))
	top := d.h
	d.box(top, 22+4*meterHigh+4, fmt.Sprintf("RNIC %d", x.NIC))
	d.h += 21
	defer d.opens("")
	d.opens("send")
	d.meter("send pipeline", x.Send.Busy, rate(x.Send.OpsPerSec)+" messages/s, requests and answers")
	d.opens("receive")
	d.meter("receive pipeline", x.Receive.Busy, rate(x.Receive.OpsPerSec)+" messages/s, requests and answers")
	d.opens("atomics")
	d.meter("atomics", x.Atomics.Busy, rate(x.Atomics.OpsPerSec)+" atomics/s")
	d.opens("contexts")
	d.meter("context fetches", x.Contexts.Busy, fmt.Sprintf("%s fetches/s; it has %s of the queue pairs' contexts and %s of the pages that it needs", rate(x.Contexts.OpsPerSec), percent(x.ContextHits), percent(x.PageHits)))
	d.h += 5
	d.opens("pcie")
	d.flows(pipe{x.ReadsFromHost, true, "reads", "DMA reads"}, pipe{x.WritesToHost, false, "writes", "DMA writes"}, fmt.Sprintf("PCIe of RNIC %d", x.NIC))
}

// opens names the part to which the shapes that follow belong.
func (d *node) opens(part string) { d.part = part }

// pipe is one direction of a link or a bus.
type pipe struct {
	result.Flow
	up         bool
	does, what string
}

// flows draws both directions of a link beside each other, as wide as their bytes.
func (d *node) flows(a, b pipe, of string) {
	y := d.h + 2
	for i, p := range []pipe{a, b} {
		x := d.x + d.cw*[2]float64{0.12, 0.6}[i]
		tip := fmt.Sprintf("%s, %s: %s/s, %s %s/s, %s busy", of, p.does, size(p.BytesPerSec), rate(p.OpsPerSec), p.what, percent(p.Busy))
		d.arrow(x, y, p.BytesPerSec, p.up, p.Busy, tip)
		ops := rate(p.OpsPerSec) + "/s, " + percent(p.Busy)
		if d.narrow() {
			ops = percent(p.Busy)
		}
		d.beside(x, y, p.does, size(p.BytesPerSec)+"/s", ops)
	}
	d.h += flowLength + 4
}

// narrow says that there is no room for long words.
func (d *node) narrow() bool { return d.cw < 250 }

// flowWide is the width of the widest flow.
func (d *node) flowWide() float64 {
	if d.narrow() {
		return 16
	}
	return flowWidest
}

// beside writes three lines to the right of an arrow.
func (d *node) beside(x, y float64, lines ...string) {
	at, letters := x+d.flowWide()/2+8, `font-size="11.5"`
	if d.narrow() {
		at, letters = x+d.flowWide()/2+4, `font-size="10"`
	}
	for i, l := range lines {
		style := soft
		if i == 1 {
			style = ""
		}
		d.text(at, y+18+14*float64(i), l, letters, style)
	}
}

// flowColour is that of arrows.
const flowColour = palette.Good

// arrow draws a flow that goes up or down, around x.
func (d *node) arrow(x, y, bytes float64, up bool, busy float64, tip string) {
	w := math.Max(d.flowWide()*bytes/math.Max(d.widest, 1), 1.5)
	head := math.Max(w+5, 9)
	from, to, tipAt := y+10, y+flowLength-2, y
	if !up {
		from, to, tipAt = y, y+flowLength-12, y+flowLength-2
	}
	edge := from
	if !up {
		edge = to
	}
	hot := ""
	switch {
	case busy >= metrics.Saturated:
		hot = `stroke="` + hotColor + `" stroke-width="2.5"`
	case bytes == 0:
		hot = `fill-opacity="0.3"`
	}
	about, title := d.tip(tip)
	fmt.Fprintf(&d.b, `<path d="M%.1f %.1fH%.1fV%.1fH%.1fZM%.1f %.1fH%.1fL%.1f %.1fZ" fill="%s"%s %s>%s</path>`,
		x-w/2, from, x+w/2, to, x-w/2, x-head/2, edge, x+head/2, x, tipAt, flowColour, about, hot, title)
}

// box draws the frame of a part, with its name.
func (d *node) box(y, high float64, name string) {
	d.rect(d.x, y, d.cw, high, "currentColor", "", `fill-opacity="0.05" stroke="currentColor" stroke-opacity="0.35" rx="6"`)
	d.text(d.x+8, y+15, name, `font-weight="600"`)
}

// meter draws how busy a part was.
func (d *node) meter(name string, busy float64, tip string) {
	left := 112.0
	if d.narrow() {
		name, left = strings.Fields(name)[0], 48
	}
	x, w := d.x+8+left, d.cw-16-left-40
	d.text(d.x+8, d.h+10, name, `font-size="11"`, soft)
	d.gauge(x, d.h+1, w, 10, busy, true, fmt.Sprintf("%s: %s busy, %s", name, percent(busy), tip))
	d.text(d.x+d.cw-8, d.h+10, percent(busy), `font-size="11" text-anchor="end"`)
	d.h += meterHigh
}

// gauge is a box that is filled as far as something is busy, from the left or from below.
func (d *node) gauge(x, y, w, h, busy float64, sideways bool, tip string) {
	part := math.Min(math.Max(busy, 0), 1)
	colour := utilizationColour(busy)
	if sideways {
		d.rect(x, y, w*part, h, colour, "")
	} else {
		d.rect(x, y+h*(1-part), w, h*part, colour, "")
	}
	frame := `stroke="currentColor" stroke-opacity="0.4" stroke-width="0.7"`
	if busy >= metrics.Saturated {
		frame = `stroke="` + hotColor + `" stroke-width="2.5"`
	}
	d.rect(x, y, w, h, "currentColor", tip, frame, `fill-opacity="0"`)
}

// socket draws a processor and its memory.
func (d *node) socket(s *result.SocketInside) {
	top := d.h
	rows := d.coreRows(s)
	high := 76 + float64(rows)*14
	d.box(top, high, fmt.Sprintf("socket %d", s.Socket))
	d.h += 22
	d.opens("cores")
	d.cores(s)
	d.opens("")
	d.cache(s)
	d.h = top + high
	y, x := d.h+2, d.x+d.cw*0.12
	d.opens("memory")
	d.arrow(x, y, s.DRAM.BytesPerSec, false, s.DRAM.Busy, fmt.Sprintf("DRAM of socket %d, read and written: %s/s, the busiest channel %s", s.Socket, size(s.DRAM.BytesPerSec), percent(s.DRAM.Busy)))
	d.beside(x, y, "DRAM", size(s.DRAM.BytesPerSec)+"/s", percent(s.DRAM.Busy))
	if n := s.NVM; n != nil {
		x = d.x + d.cw*0.6
		write, read := size(lineBytes*n.WritesPerSec)+"/s", size(lineBytes*n.ReadsPerSec)+"/s"
		lines := []string{"NVM", "w " + write, "r " + read}
		if d.narrow() { // so that a rate such as 3.09 GB/s fits beside the arrow
			x, lines = d.x+d.cw*0.57, []string{"NVM w, r", write, read}
		}
		d.arrow(x-9, y, lineBytes*n.ReadsPerSec, true, 0, fmt.Sprintf("reads of the NVM: %s requests of 64 bytes/s", rate(n.ReadsPerSec)))
		d.arrow(x+9, y, lineBytes*n.WritesPerSec, false, 0, fmt.Sprintf("writes to the NVM: %s requests of 64 bytes/s", rate(n.WritesPerSec)))
		d.beside(x+12, y, lines...)
	}
	d.opens("")
	d.h += flowLength + 6
	d.memory(s)
}

const coreWide = 13.0

func (d *node) coreRows(s *result.SocketInside) int {
	per := int((d.cw - 16) / coreWide)
	return (max(s.Cores, len(s.Threads)) + per - 1) / max(per, 1)
}

// cores draws a cell for each core: those with a worker thread are filled as far as they are busy.
func (d *node) cores(s *result.SocketInside) {
	words := fmt.Sprintf("%d of %d cores work", len(s.Threads), s.Cores)
	if d.narrow() {
		words = fmt.Sprintf("%d/%d cores", len(s.Threads), s.Cores)
	}
	if len(s.Threads) > 0 {
		words += ", " + percent(mean(s.Threads)) + " busy"
	}
	d.text(d.x+8, d.h+10, words, `font-size="11"`, soft)
	d.h += 14
	per := max(int((d.cw-16)/coreWide), 1)
	for i := range max(s.Cores, len(s.Threads)) {
		x, y := d.x+8+float64(i%per)*coreWide, d.h+float64(i/per)*14
		if i < len(s.Threads) {
			d.gauge(x, y, coreWide-3, 11, s.Threads[i], false, fmt.Sprintf("core %d of socket %d: %s busy", i, s.Socket, percent(s.Threads[i])))
		} else {
			d.rect(x, y, coreWide-3, 11, "none", "a core without a worker thread", `stroke="currentColor" stroke-opacity="0.25" stroke-dasharray="2 2" stroke-width="0.7"`)
		}
	}
	d.h += float64(d.coreRows(s))*14 + 2
}

// cache draws the last-level cache by its ways.
func (d *node) cache(s *result.SocketInside) {
	lines := s.DDIOHits + s.DDIOMisses
	words := fmt.Sprintf("LLC %d MB, DDIO off", s.LLCBytes>>20)
	switch {
	case s.DDIO && d.narrow():
		words = fmt.Sprintf("LLC %d MB, DDIO %s", s.LLCBytes>>20, share(s.DDIOHits, lines))
	case s.DDIO:
		words = fmt.Sprintf("LLC %d MB, DDIO in %d of %d ways, %s hits", s.LLCBytes>>20, s.DDIOWays, s.Ways, share(s.DDIOHits, lines))
	}
	d.text(d.x+8, d.h+10, words, `font-size="11"`, soft)
	d.h += 15
	way := (d.cw - 16) / float64(max(s.Ways, 1))
	tip := fmt.Sprintf("RNICs write past the cache: DDIO of socket %d is off", s.Socket)
	if s.DDIO {
		tip = fmt.Sprintf("RNICs write %s lines/s here; of %s the cache had the line, the others took one of the ways for DDIO, and %s dirty lines/s left for them", rate(lines), share(s.DDIOHits, lines), rate(s.DDIOEvictions))
	}
	for i := range s.Ways {
		fill, opacity := "currentColor", "0.08"
		if s.DDIO && i >= s.Ways-s.DDIOWays {
			fill, opacity = flowColour, "0.9"
		}
		d.rect(d.x+8+float64(i)*way, d.h, way-1.5, 12, fill, tip, `fill-opacity="`+opacity+`" stroke="currentColor" stroke-opacity="0.3" stroke-width="0.6"`)
	}
}

func share(part, of float64) string {
	if of == 0 {
		return "none"
	}
	return percent(part / of)
}

// memory draws the channels of DRAM, and the DIMMs of the NVM with their reading and writing halves.
func (d *node) memory(s *result.SocketInside) {
	const high = 40.0
	w := d.cw * 0.5
	if s.NVM == nil {
		w = d.cw
	}
	d.banks(d.x, w, high, "DRAM channels", s.Channels, func(i int) string {
		return fmt.Sprintf("DRAM channel %d of socket %d: %s busy", i, s.Socket, percent(s.Channels[i]))
	})
	if s.NVM != nil {
		var busy []float64
		for _, m := range s.NVM.DIMMs {
			busy = append(busy, math.Max(m.Read.Busy, m.Write.Busy))
		}
		d.banks(d.x+w, d.cw-w, high, "NVM DIMMs", busy, func(i int) string {
			m := &s.NVM.DIMMs[i]
			return fmt.Sprintf("NVM DIMM %d of socket %d: media read %s/s (%s busy) and written %s/s (%s busy); %s of its buffer is in use, %s dirty", i+1, s.Socket,
				size(m.Read.BytesPerSec), percent(m.Read.Busy), size(m.Write.BytesPerSec), percent(m.Write.Busy), percent(m.Buffer), percent(m.Dirty))
		})
	}
	d.h += high + 18
}

func (d *node) banks(x, w, high float64, name string, busy []float64, tip func(i int) string) {
	each := math.Min((w-8)/float64(max(len(busy), 1)), 26)
	for i, b := range busy {
		d.gauge(x+float64(i)*each, d.h, each-4, high, b, false, tip(i))
	}
	if d.narrow() {
		name = strings.Fields(name)[0]
	}
	d.text(x, d.h+high+13, name, `font-size="11"`, soft)
}

// scale explains widths and colours.
func (d *node) scale() {
	d.h += 6
	x := margin
	for i, c := range palette.Utilisation {
		d.rect(x+float64(i)*12, d.h, 12, 8, c, "")
	}
	x += float64(len(palette.Utilisation)) * 12
	d.text(x+6, d.h+8, "idle to full", `font-size="11"`, soft)
	d.rect(x+80, d.h-1, 16, 10, "none", "", `stroke="`+hotColor+`" stroke-width="2.5"`)
	d.text(x+102, d.h+8, fmt.Sprintf("saturated (%s)", percent(metrics.Saturated)), `font-size="11"`, soft)
	d.h += 22
	d.text(margin, d.h, fmt.Sprintf("the widest arrow: %s/s", size(d.widest)), `font-size="11"`, soft)
	d.h += 8
}

func utilizationColour(busy float64) string {
	k := int(math.Round(busy * float64(len(palette.Utilisation)-1)))
	return palette.Utilisation[min(max(k, 0), len(palette.Utilisation)-1)]
}

// size and rate write bytes and counts.
func size(bytes float64) string { return charts.SI(bytes) + unit(bytes, "B") }

func unit(v float64, name string) string {
	if math.Abs(v) < 999.5 {
		return " " + name
	}
	return name
}

func rate(n float64) string {
	if n < 0.5 {
		return "0"
	}
	return charts.SI(n)
}
