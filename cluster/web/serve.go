package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/job"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
)

// DefaultListen is where the page is unless one says otherwise.
const DefaultListen = "127.0.0.1:7070"

// Options is what the HTTP side needs besides the agent.
type Options struct {
	Access
	// Page serves everything that is not the API; nil: the registered page
	// (SetPage), or a plain list of the routes.
	Page http.Handler
	// CDN lets the page load its chart library from CDN.
	CDN bool
}

// registered by the packages above this one.
var registry struct {
	mu      sync.Mutex
	page    func(*job.Jobs) http.Handler
	session func(ctx context.Context, a *agent.Agent, sys string) ([]byte, error)
}

// SetPage registers what serves the page of an agent. The package that has the
// page calls it; this one is below it and cannot.
func SetPage(page func(*job.Jobs) http.Handler) {
	registry.mu.Lock()
	registry.page = page
	registry.mu.Unlock()
}

// SetSessionPage registers what writes the session of a system as one HTML file.
func SetSessionPage(f func(ctx context.Context, a *agent.Agent, sys string) ([]byte, error)) {
	registry.mu.Lock()
	registry.session = f
	registry.mu.Unlock()
}

// Handler is the whole HTTP side of an agent and its jobs, guards included.
func Handler(j *job.Jobs, w Options) (http.Handler, error) {
	registry.mu.Lock()
	if w.Page == nil && registry.page != nil {
		w.Page = registry.page(j)
	}
	registry.mu.Unlock()
	return newGuard(newServer(j, w.Page), w.Access, w.CDN)
}

// Listen opens the address for Serve. An address that others can reach needs a
// control token.
func Listen(addr string, a Access) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &experiment.SpecError{Field: "listen", Value: addr, Rule: "must be ADDRESS:PORT", Next: "for example " + DefaultListen}
	}
	for _, h := range a.Hosts {
		if !isHost(h) {
			return nil, &experiment.SpecError{Field: "host", Value: fmt.Sprintf("%.60q", h), Rule: "is no name that a browser would send", Next: "as lab.example or 10.0.0.7, without scheme and path"}
		}
	}
	if a.View != "" && a.Control == "" {
		return nil, &experiment.SpecError{Field: "view-token-file", Rule: "without a control token would make the page read-only for all", Next: "add --token-file"}
	}
	if a.View != "" && a.View == a.Control {
		return nil, &experiment.SpecError{Field: "view-token-file", Rule: "holds the control token", Next: "use another token"}
	}
	if !loopbackOnly(host) && a.Control == "" {
		return nil, &experiment.SpecError{Field: "listen", Value: addr, Rule: "can be reached from other machines and needs a token", Next: "add --token-file FILE"}
	}
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, &experiment.SpecError{Field: "listen", Value: addr, Rule: "is in use", Next: "end the other program or choose another port, as --listen " + net.JoinHostPort(host, "0")}
	case err != nil:
		var oe *net.OpError
		if errors.As(err, &oe) {
			err = oe.Err
		}
		return nil, &experiment.SpecError{Field: "listen", Value: net.JoinHostPort(host, port), Rule: words.OneLine(err.Error()), Next: "for example " + DefaultListen}
	}
	return limitConnections(l, connectionsAllowed()), nil
}

// hostForm is a name or an address as a Host header has it: of other alphabets browsers
// send the ASCII form.
var hostForm = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]+)?|\[[0-9A-Fa-f:.]+\](:[0-9]+)?|[0-9A-Fa-f:.]+)$`)

// isHost tells a name from what came out of an empty variable or was copied with its
// scheme. An empty one would let in every request without a Host header.
func isHost(h string) bool { return hostForm.MatchString(h) && hostOnly(h) != "" }

// loopbackOnly is true if every address that host stands for is of this machine
// alone.
func loopbackOnly(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Serve answers on l until ctx ends. The agent is not closed.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerLimit,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          silent,
	}
	if limited, ok := l.(*limitedListener); ok {
		s.ConnState = limited.follow
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	// Requests in progress get a moment; websockets end with ctx.
	stop, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.Shutdown(stop) != nil {
		s.Close()
	}
	<-ended
	return nil
}

// SessionPage is the session of a system as one HTML file.
func SessionPage(ctx context.Context, a *agent.Agent, sys string) ([]byte, error) {
	registry.mu.Lock()
	f := registry.session
	registry.mu.Unlock()
	if f == nil {
		return nil, errors.New("this program has no pages: import drtmx/dashboard to have a session as HTML")
	}
	return f(ctx, a, sys)
}
