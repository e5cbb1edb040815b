package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"drtmx/cluster/strictjson"
	"drtmx/cluster/system"
	"drtmx/cluster/words"
	"drtmx/engine"
	"drtmx/engine/experiment"
	"drtmx/engine/result"
)

// answerLimit bounds what a client reads: 20,000 windows are some 60 MB.
const answerLimit = 256 << 20

// remote drives an agent over HTTP.
type remote struct {
	base  string
	token string
	http  *http.Client
}

func newRemote(addr, token string) (*remote, error) {
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &experiment.SpecError{Field: "address", Value: addr, Rule: "must be HOST:PORT or http://HOST:PORT", Next: "for example " + DefaultListen}
	}
	return &remote{
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

// ask sends a request and decodes the JSON answer into out, or keeps the bytes
// if out is a *[]byte.
func (c *remote) ask(ctx context.Context, method, path, sys, by string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	if sys != "" {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		path += sep + "sys=" + url.QueryEscape(sys)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
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
			return ctx.Err()
		}
		var oe *net.OpError
		if errors.As(err, &oe) {
			err = oe.Err
		}
		return fmt.Errorf("%s: %s; is drtmx up running there?", c.base, words.OneLine(err.Error()))
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.base, err)
	case len(b) > answerLimit:
		return fmt.Errorf("%s: answer is over %d bytes", c.base, answerLimit)
	case resp.StatusCode >= 300:
		return &RemoteError{resp.StatusCode, words.OneLine(string(b))}
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = b
		return nil
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%s: not the answer of this version of drtmx: %w", c.base, err)
	}
	return nil
}

func (c *remote) set(ctx context.Context, sys string, k Knobs, by string) (ch result.Change, err error) {
	err = c.ask(ctx, http.MethodPatch, "/api/knobs", sys, by, k, &ch)
	return ch, err
}

func (c *remote) run(ctx context.Context, sys string, d int64) (*result.Result, error) {
	var r result.Result
	err := c.ask(ctx, http.MethodPost, "/api/run", sys, "", map[string]int64{"virtual_ns": d}, &r)
	return &r, err
}

func (c *remote) windows(ctx context.Context, sys string, from int64) (ws []result.Window, err error) {
	err = c.ask(ctx, http.MethodGet, fmt.Sprintf("/api/windows?from=%d", from), sys, "", nil, &ws)
	return ws, err
}

func (c *remote) knobs(ctx context.Context, sys string) (ks []experiment.KnobState, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/knobs", sys, "", nil, &ks)
	return ks, err
}

func (c *remote) spec(ctx context.Context, sys string) (s Spec, err error) {
	var raw []byte
	if err = c.ask(ctx, http.MethodGet, "/api/spec", sys, "", nil, &raw); err != nil {
		return s, err
	}
	if err = strictjson.Decode(raw, &s); err != nil {
		return s, fmt.Errorf("%s: not the spec of this version of drtmx: %w", c.base, err)
	}
	return s, nil
}

func (c *remote) state(ctx context.Context, sys string) (s system.Snapshot, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/state", sys, "", nil, &s)
	return s, err
}

func (c *remote) systems(ctx context.Context) (all []system.Snapshot, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/systems", "", "", nil, &all)
	return all, err
}

func (c *remote) trace(ctx context.Context, sys string, n int) (ts []engine.TxnTrace, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/trace", sys, "", map[string]int{"txns": n}, &ts)
	return ts, err
}

func (c *remote) traceOf(ctx context.Context, sys string, ch engine.Choice) (*engine.Picked, error) {
	var p engine.Picked
	err := c.ask(ctx, http.MethodPost, "/api/trace", sys, "", map[string]any{"type": ch.Type, "percentile": 100 * ch.Quantile}, &p)
	return &p, err
}

func (c *remote) inside(ctx context.Context, sys string, measured bool) (ns []result.NodeInside, err error) {
	err = c.ask(ctx, http.MethodGet, fmt.Sprintf("/api/nodes?measured=%v", measured), sys, "", nil, &ns)
	return ns, err
}

func (c *remote) session(ctx context.Context, sys string) (b []byte, err error) {
	err = c.ask(ctx, http.MethodGet, "/api/session", sys, "", nil, &b)
	return b, err
}

func (c *remote) sessionPage(ctx context.Context, sys string) (b []byte, err error) {
	err = c.ask(ctx, http.MethodGet, "/page/session.html", sys, "", nil, &b)
	return b, err
}

func (c *remote) control(ctx context.Context, sys string, b controlBody, by string) error {
	return c.ask(ctx, http.MethodPost, "/api/control", sys, by, b, nil)
}

func (c *remote) fork(ctx context.Context, sys string, k Knobs, by string) (s system.Snapshot, err error) {
	err = c.ask(ctx, http.MethodPost, "/api/systems", "", by, map[string]any{"fork": sys, "set": k}, &s)
	return s, err
}

func (c *remote) closeSystem(ctx context.Context, sys string) error {
	return c.ask(ctx, http.MethodDelete, "/api/systems", sys, "", nil, nil)
}

func (c *remote) page(context.Context) (string, error) { return c.base + "/", nil }

func (c *remote) close() error { c.http.CloseIdleConnections(); return nil }
