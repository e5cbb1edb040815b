package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"drtmx/cluster/agent"
	"drtmx/cluster/twin"
)

const (
	wsWrite = 5 * time.Second // a reader that takes longer for a frame is dropped
	wsPing  = 20 * time.Second
	wsPong  = 45 * time.Second
)

var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	ReadBufferSize:   1 << 10,
	WriteBufferSize:  4 << 10,
	CheckOrigin:      sameOrigin,
	Error: func(w http.ResponseWriter, _ *http.Request, code int, reason error) {
		line := reason.Error()
		if code == http.StatusForbidden {
			line = "websocket: cross-origin request refused; open the page on this server itself"
		}
		refuse(w, code, line)
	},
}

// sameOrigin refuses the websocket of a page from elsewhere. A browser always
// names the origin; what has none is no browser.
func sameOrigin(r *http.Request) bool {
	o := r.Header.Get("Origin")
	if o == "" {
		return true
	}
	u, err := url.Parse(o)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// feedParams are what the frames may be asked for by.
var feedParams = Params{System(), {Name: "since", Rule: "must be the seq of the last frame that was read", Next: "leave it out to begin now", valid: func(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}}}

// feed is GET /ws: frames, from ?since= on if they are still there.
func (s *server) feed(w http.ResponseWriter, r *http.Request) {
	q, err := feedParams.Check(r)
	if err != nil {
		refuseError(w, err)
		return
	}
	since, _ := strconv.ParseUint(q.Get("since"), 10, 64) // "" is from now on
	only := q.Get("sys")
	var closed <-chan struct{} // the system that is asked for alone
	if only != "" {
		if closed, err = s.jobs.Closed(only); err != nil {
			refuseError(w, err)
			return
		}
	}
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many readers; close one")
		return
	}
	c, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // answered already
	}
	defer c.Close()
	rd := s.jobs.Subscribe(since)
	defer rd.End()
	gone := make(chan struct{})
	page := s.jobs.Viewer()
	defer page.Leave()
	go drainReader(c, gone, func(msg []byte) { showing(page, msg) })
	if !s.greet(c, only, rd) {
		return
	}
	ping := time.NewTicker(wsPing)
	defer ping.Stop()
	for {
		select {
		case msg, ok := <-rd.Frames:
			if !ok { // fell behind, or the agent ends
				c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseTryAgainLater, "behind; come back with since"), time.Now().Add(time.Second))
				return
			}
			if only != "" && !frameOf(msg, only) {
				continue
			}
			if !send(c, msg) {
				return
			}
		case <-ping.C:
			if c.WriteControl(websocket.PingMessage, nil, time.Now().Add(wsWrite)) != nil {
				return
			}
		case <-closed:
			c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseGoingAway, "system "+only+" was closed"), time.Now().Add(time.Second))
			return
		case <-gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// greet sends what a reader missed; without a past, how every system stands. Its number is that of the
// subscription: a reader that goes after it and comes back with it gets all that came since.
func (s *server) greet(c *websocket.Conn, only string, rd *agent.Subscription) bool {
	for _, msg := range rd.Backlog {
		if (only == "" || frameOf(msg, only)) && !send(c, msg) {
			return false
		}
	}
	if len(rd.Backlog) > 0 {
		return true
	}
	for _, f := range s.jobs.Frames(only) {
		f.Seq, f.Gap = rd.At, rd.Gap
		msg, err := f.Encode()
		if err != nil || !send(c, msg) {
			return false
		}
	}
	return true
}

func send(c *websocket.Conn, msg []byte) bool {
	c.SetWriteDeadline(time.Now().Add(wsWrite))
	return c.WriteMessage(websocket.TextMessage, msg) == nil
}

// frameOf looks for the system in an encoded frame, whose fields before it have
// a fixed form.
func frameOf(msg []byte, sys string) bool {
	head := string(msg[:min(len(msg), 80)])
	return strings.Contains(head, `"sys":"`+sys+`"`)
}

// showing takes what a page sends when it shows another system, {"show": "a"}; whatever else
// a reader sends means nothing.
func showing(page *twin.Viewer, msg []byte) {
	var b struct {
		Show string `json:"show"`
	}
	if json.Unmarshal(msg, &b) != nil || b.Show == "" {
		return
	}
	page.Show(b.Show)
}

// drainReader reads what a reader sends.
func drainReader(c *websocket.Conn, gone chan struct{}, take func(msg []byte)) {
	defer close(gone)
	c.SetReadLimit(wsFrameLimit)
	c.SetReadDeadline(time.Now().Add(wsPong))
	c.SetPongHandler(func(string) error { return c.SetReadDeadline(time.Now().Add(wsPong)) })
	for {
		_, r, err := c.NextReader()
		if err != nil {
			return
		}
		msg, err := io.ReadAll(r) // the limit is on whole messages
		if err != nil {
			return
		}
		take(msg)
	}
}
