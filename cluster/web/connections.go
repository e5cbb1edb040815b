package web

import (
	"container/list"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of connections. A process that may open few files has fewer of them, so that there is one left
// to tell the next client that there are too many.
const (
	connLimit   = 512
	connLeast   = 8
	readerLimit = 256 // websockets
	// filesKept are for the session, the run store, the profiles of tests, and what Go itself opens.
	filesKept = 40
)

// connectionsAllowed is how many connections this process holds at most.
func connectionsAllowed() int { return connectionsFor(openFiles()) }

// connectionsFor is how many connections go with a limit of open files; 0: there is none.
func connectionsFor(files uint64) int {
	if files == 0 || files >= connLimit+filesKept {
		return connLimit
	}
	return max(int(files)-filesKept, connLeast)
}

// readersAllowed leaves half of the connections for what is asked beside the feed.
func readersAllowed() int { return min(readerLimit, connectionsAllowed()/2) }

// limitedListener holds at most limit connections. Where one more comes, the one that has been idle
// longest is closed, which a client that keeps connections open has to expect. If none is idle, the
// new one is told so and closed at once, so that it does not wait in a queue that it cannot see.
type limitedListener struct {
	net.Listener
	limit int

	mu   sync.Mutex
	held map[net.Conn]*list.Element // in idle, nil while a request is served
	idle *list.List                 // of net.Conn, the one that has waited longest first
}

func limitConnections(l net.Listener, limit int) *limitedListener {
	return &limitedListener{Listener: l, limit: limit, held: map[net.Conn]*list.Element{}, idle: list.New()}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := (&limitedConn{Conn: c, of: l}); l.admit(held) {
			return held, nil
		}
		c.SetWriteDeadline(time.Now().Add(time.Second))
		fmt.Fprint(c, "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n\r\ntoo many connections\n")
		c.Close()
	}
}

// admit counts a connection, after closing an idle one if there are too many.
func (l *limitedListener) admit(c net.Conn) bool {
	l.mu.Lock()
	var oldest net.Conn
	if len(l.held) >= l.limit {
		front := l.idle.Front()
		if front == nil {
			l.mu.Unlock()
			return false
		}
		oldest = l.idle.Remove(front).(net.Conn)
		delete(l.held, oldest)
	}
	l.held[c] = l.idle.PushBack(c) // until its first request comes
	l.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	return true
}

// follow is told by net/http what a connection does.
func (l *limitedListener) follow(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.held[c]
	if !ok {
		return
	}
	switch {
	case state == http.StateIdle && at == nil:
		l.held[c] = l.idle.PushBack(c)
	case state == http.StateActive && at != nil:
		l.idle.Remove(at)
		l.held[c] = nil
	}
}

func (l *limitedListener) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.held[c]; at != nil {
		l.idle.Remove(at)
	}
	delete(l.held, c)
}

// limitedConn tells its listener when it is closed.
type limitedConn struct {
	net.Conn
	of *limitedListener
}

func (c *limitedConn) Close() error {
	c.of.forget(c)
	return c.Conn.Close()
}
