package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// answerLimit bounds what a client reads: 20,000 windows are some 60 MB.
const answerLimit = 256 << 20

// Remote drives an agent over HTTP, by the table of routes.
type Remote struct {
	base  string
	token string
	http  *http.Client
}

// Dial names an agent, as "127.0.0.1:7070" or "http://host:port", with its token. Nothing is sent yet.
func Dial(addr, token string) (*Remote, error) {
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &experiment.SpecError{Field: "address", Value: addr, Rule: "must be HOST:PORT or http://HOST:PORT", Next: "for example " + DefaultListen}
	}
	return &Remote{
		base: u.Scheme + "://" + u.Host, token: token,
		http: &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConns: 4}},
	}, nil
}

// RemoteError is what an agent answered.
type RemoteError struct {
	Code int
	Line string
}

func (e *RemoteError) Error() string { return e.Line }

// send sends a request and returns the answer's body.
func (c *Remote) send(ctx context.Context, method, path, by string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	if by != "" {
		req.Header.Set("Drtmx-By", by)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var oe *net.OpError
		if errors.As(err, &oe) {
			err = oe.Err
		}
		return nil, fmt.Errorf("%s: %s; is drtmx up running there?", c.base, words.OneLine(err.Error()))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.base, err)
	case len(b) > answerLimit:
		return nil, fmt.Errorf("%s: answer is over %d bytes", c.base, answerLimit)
	case resp.StatusCode >= 300:
		return nil, &RemoteError{resp.StatusCode, words.OneLine(string(b))}
	}
	return b, nil
}

// misfit says that an answer is not the expected one.
func (c *Remote) misfit(err error) error {
	return fmt.Errorf("%s: not the answer of this version of drtmx: %w", c.base, err)
}

// Set changes knobs of a system now: all of them or none.
func (c *Remote) Set(ctx context.Context, sys string, k experiment.Knobs, by string) (result.Change, error) {
	out, err := setKnobs.ask(ctx, c, sys, by, k)
	return result.Change{Version: out.one.Version, VirtualNS: out.one.VirtualNS, Pending: out.one.Pending}, err
}

// Run measures d of virtual time.
func (c *Remote) Run(ctx context.Context, sys string, d int64) (*result.Result, error) {
	return run.ask(ctx, c, sys, "", runOrder{d})
}

// WindowsFrom returns the kept windows from a virtual time on.
func (c *Remote) WindowsFrom(ctx context.Context, sys string, fromNS int64) ([]result.Window, error) {
	return windowsOf.ask(ctx, c, sys, "", windowsQuery{FromNS: fromNS, ToNS: timeEnd})
}

// Knobs is the registry as it stands in a system.
func (c *Remote) Knobs(ctx context.Context, sys string) ([]experiment.KnobState, error) {
	return knobsOf.ask(ctx, c, sys, "", none{})
}

// Spec is a system's spec with every live change applied. Fields that this version does not know are refused.
func (c *Remote) Spec(ctx context.Context, sys string) (experiment.Spec, error) {
	strict, err := specOf.ask(ctx, c, sys, "", none{})
	return strict.Spec, err
}

// State is how a system stands.
func (c *Remote) State(ctx context.Context, sys string) (system.Snapshot, error) {
	s, err := stateRoute.ask(ctx, c, sys, "", none{})
	s.Snapshot.KnobsVersion = s.KnobsVersion // of both fields of that name JSON knows the outer one
	return s.Snapshot, err
}

// Systems describes the systems.
func (c *Remote) Systems(ctx context.Context) ([]system.Snapshot, error) {
	return systems.ask(ctx, c, "", "", none{})
}

// Trace returns n transactions that begin from now on.
func (c *Remote) Trace(ctx context.Context, sys string, n int) ([]engine.TxnTrace, error) {
	out, err := trace.ask(ctx, c, sys, "", traceOrder{Txns: n})
	return out.list, err
}

// TraceOf returns a transaction whose latency is that of a percentile.
func (c *Remote) TraceOf(ctx context.Context, sys string, ch engine.Choice, _ func(done, total int)) (*engine.Picked, error) {
	percentile := 100 * ch.Quantile
	out, err := trace.ask(ctx, c, sys, "", traceOrder{Type: ch.Type, Percentile: &percentile})
	return out.picked, err
}

// Inside is what the parts of each machine did.
func (c *Remote) Inside(ctx context.Context, sys string, measured bool) ([]result.NodeInside, error) {
	return nodesOf.ask(ctx, c, sys, "", nodesQuery{measured})
}

// Session is the recording of a system so far.
func (c *Remote) Session(ctx context.Context, sys string) ([]byte, error) {
	return sessionOf.ask(ctx, c, sys, "", none{})
}

// SessionPage is the session of a system as one HTML file. The page has it, so it is no row of the table.
func (c *Remote) SessionPage(ctx context.Context, sys string) ([]byte, error) {
	return c.send(ctx, http.MethodGet, "/page/session.html?"+url.Values{"sys": {sys}}.Encode(), "", nil)
}

// Control does what a command asks for.
func (c *Remote) Control(ctx context.Context, sys string, order agent.Command, by string) error {
	_, err := command.ask(ctx, c, sys, by, order)
	return err
}

// Fork opens another system that replays one and then differs in some knobs.
func (c *Remote) Fork(ctx context.Context, sys string, k experiment.Knobs, by string) (system.Snapshot, error) {
	return fork.ask(ctx, c, "", by, forkOrder{Fork: sys, Set: k})
}

// CloseSystem ends a system. One that is gone is closed.
func (c *Remote) CloseSystem(ctx context.Context, sys string) error {
	_, err := closeSystem.ask(ctx, c, sys, "", none{})
	var answered *RemoteError
	if errors.As(err, &answered) && answered.Code == http.StatusNotFound {
		return nil
	}
	return err
}

// Page is where the page is.
func (c *Remote) Page(context.Context) (string, error) { return c.base + "/", nil }

// Close ends the connection.
func (c *Remote) Close() error { c.http.CloseIdleConnections(); return nil }
