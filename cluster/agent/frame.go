package agent

import (
	"encoding/json"
	"sync"

	"drtmx/cluster/session"
	"drtmx/cluster/twin"
	"drtmx/cluster/words"
	"drtmx/engine/result"
)

// Task is long work with progress: a figure, a fork that catches up.
type Task struct {
	Name  string `json:"name"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	State string `json:"state,omitempty"` // "", "done", "cancelled" or "failed: why"
}

// Frame is one message of the feed.
type Frame struct {
	V            int             `json:"v"`
	Seq          uint64          `json:"seq"`
	Sys          string          `json:"sys"`
	Epoch        string          `json:"epoch"` // another one: the system began again at 0
	State        string          `json:"state"`
	Error        string          `json:"error,omitempty"`
	Unrecorded   string          `json:"unrecorded,omitempty"` // why the session file is no longer written
	VirtualNS    int64           `json:"virtual_ns"`
	Pace         int64           `json:"pace"`  // asked for: virtual ns per wall second, 0 = flat out
	Speed        float64         `json:"speed"` // achieved
	KnobsVersion int             `json:"knobs_version"`
	Windows      []result.Window `json:"windows"`
	Events       []session.Event `json:"events"`
	Tasks        []Task          `json:"tasks"`
	Gap          bool            `json:"gap,omitempty"` // frames before this one are lost: reload the windows
	Twin         *twin.Twin      `json:"twin,omitempty"`
}

const (
	frameVersion = 1
	// ringFrames and ringBytes bound what a reader that comes back can be
	// resent: about half a minute of one system.
	ringFrames = 1024
	ringBytes  = 16 << 20
	// readerQueue is how far a reader may fall behind before it is dropped. It
	// may come back with ?since= and loses nothing.
	readerQueue = 256
)

// hub numbers frames, keeps the latest and hands them to readers. A reader that
// does not keep up is dropped: no one waits for it.
type hub struct {
	mu      sync.Mutex
	seq     uint64
	ring    []sealed
	bytes   int
	readers map[*reader]struct{}
	closed  bool
}

type sealed struct {
	seq uint64
	msg []byte
}

type reader struct {
	ch      chan []byte // closed when the reader is dropped or the hub ends
	dropped bool
}

func newHub() *hub { return &hub{readers: map[*reader]struct{}{}} }

// publish numbers and encodes a frame and offers it to all readers.
func (h *hub) publish(f *Frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.seq++
	f.Seq = h.seq
	msg, err := f.Encode()
	if err != nil {
		// A number that JSON cannot hold (NaN) is a bug below; the feed goes on
		// without this frame's windows, and says so.
		f.Windows, f.Error = nil, words.OneLine(err.Error())
		if msg, err = f.Encode(); err != nil {
			return
		}
	}
	h.ring = append(h.ring, sealed{h.seq, msg})
	h.bytes += len(msg)
	for len(h.ring) > ringFrames || h.bytes > ringBytes && len(h.ring) > 1 {
		h.bytes -= len(h.ring[0].msg)
		h.ring[0].msg = nil
		h.ring = h.ring[1:]
	}
	for r := range h.readers {
		h.offer(r, msg)
	}
}

// Encode is a frame as readers get it.
func (f *Frame) Encode() ([]byte, error) {
	f.V = frameVersion

	if f.Windows == nil {
		f.Windows = []result.Window{}
	}
	if f.Events == nil {
		f.Events = []session.Event{}
	}
	if f.Tasks == nil {
		f.Tasks = []Task{}
	}
	return json.Marshal(f)
}

// offer never blocks; h.mu is held.
func (h *hub) offer(r *reader, msg []byte) {
	select {
	case r.ch <- msg:
	default:
		h.drop(r)
	}
}

// drop ends a reader; h.mu is held.
func (h *hub) drop(r *reader) {
	if !r.dropped {
		r.dropped = true
		delete(h.readers, r)
		close(r.ch)
	}
}

// Subscription is a reader of frames, which are encoded.
type Subscription struct {
	// Frames has all that come; it is closed when the reader falls behind, or the agent ends.
	Frames <-chan []byte
	// At is the number of the latest frame before them.
	At uint64
	// Backlog is what came after the frame that was asked for, Gap that some of it is
	// no longer there.
	Backlog [][]byte
	Gap     bool

	hub    *hub
	reader *reader
}

// End ends the subscription.
func (s *Subscription) End() { s.hub.unsubscribe(s.reader) }

// Subscribe adds a reader of what comes after frame since; 0 asks for nothing old.
func (a *Agent) Subscribe(since uint64) *Subscription { return a.hub.subscribe(since) }

// Frames says how one system stands, or all if only is "", with the latest windows. They have no number.
func (a *Agent) Frames(only string) (out []*Frame) {
	for _, m := range a.all() {
		if only != "" && m.id != only {
			continue
		}
		f := m.frame()
		if w := m.latest.Load(); w != nil {
			f.Windows = append(f.Windows, *w)
		}
		out = append(out, f)
	}
	return out
}

// Closed is closed with a system.
func (a *Agent) Closed(sys string) (<-chan struct{}, error) {
	m, err := a.member(sys)
	if err != nil {
		return nil, err
	}
	return m.done, nil
}

func (h *hub) subscribe(since uint64) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &reader{ch: make(chan []byte, readerQueue)}
	s := &Subscription{Frames: r.ch, At: h.seq, hub: h, reader: r}
	if h.closed {
		r.dropped = true
		close(r.ch)
		return s
	}
	h.readers[r] = struct{}{}
	if since == 0 {
		return s
	}
	oldest := h.seq + 1
	if len(h.ring) > 0 {
		oldest = h.ring[0].seq
	}
	if since > h.seq || since+1 < oldest {
		s.Gap = true
		return s
	}
	for _, x := range h.ring {
		if x.seq > since {
			s.Backlog = append(s.Backlog, x.msg)
		}
	}
	return s
}

func (h *hub) unsubscribe(r *reader) {
	h.mu.Lock()
	h.drop(r)
	h.mu.Unlock()
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for r := range h.readers {
		h.drop(r)
	}
	h.mu.Unlock()
}
