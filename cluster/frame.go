package cluster

import (
	"encoding/json"
	"sync"

	"drtmx/cluster/session"
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
	Twin         *Twin           `json:"twin,omitempty"`
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
	ch   chan []byte // closed when the reader is dropped or the hub ends
	gone bool
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
	f.V, f.Seq = frameVersion, h.seq
	msg, err := encodeFrame(f)
	if err != nil {
		// A number that JSON cannot hold (NaN) is a bug below; the feed goes on
		// without this frame's windows, and says so.
		f.Windows, f.Error = nil, words.OneLine(err.Error())
		if msg, err = encodeFrame(f); err != nil {
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

func encodeFrame(f *Frame) ([]byte, error) {
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
	if !r.gone {
		r.gone = true
		delete(h.readers, r)
		close(r.ch)
	}
}

// subscription is what a new reader begins with.
type subscription struct {
	*reader
	// at is the number of the latest frame: all later ones come by the channel.
	at uint64
	// backlog is what came after the frame that was asked for, gap that some of it is
	// no longer there.
	backlog [][]byte
	gap     bool
}

// subscribe adds a reader of what comes after frame since; 0 asks for nothing old.
func (h *hub) subscribe(since uint64) subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := subscription{reader: &reader{ch: make(chan []byte, readerQueue)}, at: h.seq}
	if h.closed {
		r.gone = true
		close(r.ch)
		return r
	}
	h.readers[r.reader] = struct{}{}
	if since == 0 {
		return r
	}
	oldest := h.seq + 1
	if len(h.ring) > 0 {
		oldest = h.ring[0].seq
	}
	if since > h.seq || since+1 < oldest {
		r.gap = true
		return r
	}
	for _, s := range h.ring {
		if s.seq > since {
			r.backlog = append(r.backlog, s.msg)
		}
	}
	return r
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
