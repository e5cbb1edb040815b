package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"drtmx/cluster/agent"
	"drtmx/cluster/agent/agenttest"
	"drtmx/cluster/job"
	"drtmx/cluster/system/systemtest"
	"drtmx/engine/experiment"
)

const (
	controlToken = "control-token-0123456789"
	viewToken    = "view-token-0123456789"
)

// untouched fails if an attack changed anything.
func untouched(t *testing.T, a *agent.Agent) {
	t.Helper()
	if s := agenttest.State(t, a, ""); s.KnobsVersion != 1 || s.VirtualNS != 0 {
		t.Errorf("the attack did something: %+v", s)
	}
}

func TestAttackDNSRebinding(t *testing.T) {
	// A foreign page whose name was made to resolve to 127.0.0.1 is of the same
	// origin to the browser; only the Host header tells.
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{Access: Access{Hosts: []string{"lab.example"}}})
	for _, host := range []string{"evil.example", "evil.example:7070", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0", "[::2]:80", "evil.example\t", "lab.example.evil"} {
		req, _ := http.NewRequest("GET", s.URL+"/api/state", nil)
		req.Host = host
		if resp, err := http.DefaultClient.Do(req); err == nil {
			if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusBadRequest {
				t.Errorf("host %q: %d", host, resp.StatusCode)
			}
			resp.Body.Close()
		}
		ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Host", strings.TrimSpace(host)).want(t, 403, "host")
		_, resp, err := dial(t, s, "", http.Header{"Host": {strings.TrimSpace(host)}})
		if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("websocket with host %q is not refused", host)
		}
	}
	for _, host := range []string{"localhost", "LOCALHOST:7070", "127.0.0.1:1", "127.8.8.8", "[::1]:7070", "lab.example", "Lab.Example:80"} {
		ask(t, s, "GET", "/api/state", "", "Host", host).want(t, 200, "")
	}
	untouched(t, a)
}

func TestAttackCrossOrigin(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for _, head := range [][]string{
		{"Origin", "http://evil.example"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "http://localhost:1"},
	} {
		for _, r := range [][2]string{{"PATCH", "/api/knobs"}, {"POST", "/api/control"}, {"POST", "/api/systems"}, {"POST", "/api/run"}, {"DELETE", "/api/systems?sys=b"}, {"POST", "/login"}} {
			ask(t, s, r[0], r[1], `{"action":"step","virtual_ns":1000,"coroutines":2}`, head...).want(t, 403, "cross-origin")
		}
	}
	// No CORS: a foreign page may send a GET and never sees the answer.
	r := ask(t, s, "GET", "/api/state", "", "Origin", "http://evil.example").want(t, 200, "")
	for k := range r.head {
		if strings.HasPrefix(k, "Access-Control") {
			t.Errorf("header %s", k)
		}
	}
	if got := r.head.Get("Cross-Origin-Resource-Policy"); got != "same-origin" {
		t.Errorf("resource policy %q", got)
	}
	r = ask(t, s, "OPTIONS", "/api/knobs", "", "Origin", "http://evil.example", "Access-Control-Request-Method", "PATCH").want(t, 405, "no such method")
	if got := r.head.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("a preflight is answered with %q", got)
	}
	// What a form can send.
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx"} {
		ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Content-Type", kind).want(t, 415, "application/json")
	}
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Content-Type", "application/json; charset=utf-8", "Origin", s.URL).want(t, 200, "")
}

func TestAttackCrossOriginWebsocket(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for _, o := range []string{"http://evil.example", "null", "file://", "http://localhost:1", "https://evil.example:7070", "http://" + strings.TrimPrefix(s.URL, "http://") + ".evil.example", "chrome-extension://x"} {
		if _, resp, err := dial(t, s, "", http.Header{"Origin": {o}}); err == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("origin %q is not refused", o)
		} else if b, _ := io.ReadAll(resp.Body); !strings.Contains(string(b), "open the page on this server") {
			t.Errorf("origin %q: %q", o, b)
		}
	}
	if _, _, err := dial(t, s, "", http.Header{"Origin": {s.URL}}); err != nil {
		t.Error(err)
	}
}

func TestContentPolicy(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for _, path := range []string{"/", "/api/state", "/login", "/nothing", "/api/nothing"} {
		h := ask(t, s, "GET", path, "").head
		p := h.Get("Content-Security-Policy")
		if !strings.Contains(p, "default-src 'self'") || !strings.Contains(p, "script-src 'self';") || strings.Contains(p, "http") {
			t.Errorf("%s: policy %q", path, p)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, h)
		}
	}
	s = web(t, a, Options{CDN: true})
	if p := ask(t, s, "GET", "/", "").head.Get("Content-Security-Policy"); !strings.Contains(p, "script-src 'self' "+CDN+";") || strings.Count(p, "http") != 1 {
		t.Errorf("with --cdn: %q", p)
	}
}

func TestAttackTokens(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{Access: Access{Control: controlToken, View: viewToken}})
	bearer := func(tok string) []string { return []string{"Authorization", "Bearer " + tok} }
	for name, head := range map[string][]string{
		"none": nil, "empty": bearer(""), "wrong": bearer("wrong-token-0123456789"), "prefix": bearer(controlToken[:10]), "longer": bearer(controlToken + "x"),
		"basic": {"Authorization", "Basic " + controlToken}, "cookie of the token": {"Cookie", "drtmx=" + controlToken}, "made-up cookie": {"Cookie", "drtmx=0000"},
		"both": {"Authorization", "Bearer " + viewToken + controlToken},
	} {
		for _, r := range [][2]string{{"GET", "/api/state"}, {"GET", "/api/session"}, {"GET", "/api/windows"}, {"GET", "/ws"}, {"GET", "/page/x"}, {"PATCH", "/api/knobs"}, {"POST", "/api/control"}} {
			if got := ask(t, s, r[0], r[1], `{"coroutines": 1}`, head...); got.code != 401 || strings.Contains(got.body, controlToken) {
				t.Errorf("%s: %s: %d %q", name, r[1], got.code, got.body)
			}
		}
	}
	// A token in the address, where it is logged and kept, is none.
	ask(t, s, "GET", "/api/state?token="+controlToken, "").want(t, 401, "")
	ask(t, s, "POST", "/login?token="+controlToken, "", "Content-Type", "application/x-www-form-urlencoded").want(t, 401, "")
	untouched(t, a)

	ask(t, s, "GET", "/api/state", "", bearer(viewToken)...).want(t, 200, "")
	ask(t, s, "GET", "/api/state", "", "Authorization", "bearer "+viewToken).want(t, 200, "")
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, bearer(viewToken)...).want(t, 403, "may only look")
	ask(t, s, "POST", "/api/systems", `{"fork":"a"}`, bearer(viewToken)...).want(t, 403, "may only look")
	if _, _, err := dial(t, s, "", http.Header{"Authorization": {"Bearer " + viewToken}}); err != nil {
		t.Error(err)
	}
	untouched(t, a)
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, bearer(controlToken)...).want(t, 200, "")
}

func TestLogin(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{Access: Access{Control: controlToken, View: viewToken}})
	if r := ask(t, s, "GET", "/", ""); r.code != 303 || r.head.Get("Location") != "/login" {
		t.Errorf("%d to %q", r.code, r.head.Get("Location"))
	}
	ask(t, s, "GET", "/login", "").want(t, 200, "<form")
	form := func(tok string) reply {
		return ask(t, s, "POST", "/login", "token="+tok, "Content-Type", "application/x-www-form-urlencoded")
	}
	cookie := func(r reply) string {
		c := (&http.Response{Header: r.head}).Cookies()
		if len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || strings.Contains(c[0].Value, "token") {
			t.Fatalf("cookie %+v", c)
		}
		return "drtmx=" + c[0].Value
	}
	view := cookie(form(viewToken).want(t, 303, ""))
	control := cookie(ask(t, s, "POST", "/login", `{"token":"`+controlToken+`"}`).want(t, 303, ""))
	if view == control {
		t.Fatal("both tokens give the same cookie")
	}
	ask(t, s, "GET", "/api/state", "", "Cookie", view).want(t, 200, "")
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Cookie", view).want(t, 403, "")
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Cookie", control).want(t, 200, "")
	// The cookie of a browser does not help a foreign page.
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": 1}`, "Cookie", control, "Origin", "http://evil.example").want(t, 403, "")
	// A cookie is of one process.
	other := web(t, a, Options{Access: Access{Control: controlToken}})
	ask(t, other, "GET", "/api/state", "", "Cookie", control).want(t, 401, "")
	// Guessing is slow.
	codes := map[int]int{}
	for range 20 {
		codes[form("wrong-wrong-wrong-wrong").code]++
	}
	if codes[429] < 10 {
		t.Errorf("guesses were answered %v", codes)
	}
}

// Who guesses from one address does not lock out another.
func TestLoginLimitIsPerAddress(t *testing.T) {
	g, err := newGuard(http.NotFoundHandler(), Access{Control: controlToken}, false)
	if err != nil {
		t.Fatal(err)
	}
	login := func(from, token string) int {
		r := httptest.NewRequest("POST", "http://localhost/login", strings.NewReader("token="+token))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w.Code
	}
	for range 3 * loginPerSec {
		login("10.0.0.1:1000", "wrong-wrong-wrong-wrong")
		login("[2001:db8::1]:1000", "wrong-wrong-wrong-wrong")
	}
	for from, want := range map[string]int{
		"10.0.0.1:2000": 429, "[2001:db8::ffff]:1": 429, "[::ffff:10.0.0.1]:3": 429, "10.0.0.2:1000": 303, "[2001:db8:0:1::1]:1000": 303,
	} {
		if code := login(from, controlToken); code != want {
			t.Errorf("the right token from %s: %d, want %d", from, code, want)
		}
	}
}

// Addresses that fail are remembered for a second, and not without bound.
func TestLoginLimitIsBounded(t *testing.T) {
	var l limiter
	now := time.Now()
	for i := range 3 * loginSources {
		l.fail(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32), now.Add(time.Duration(i)))
	}
	if n := len(l.failing); n != loginSources {
		t.Errorf("%d addresses are remembered, want %d", n, loginSources)
	}
	l.fail(netip.Prefix{}, now.Add(3*time.Second))
	if n := len(l.failing); n != 1 {
		t.Errorf("%d addresses are remembered after their second, want 1", n)
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	if tok, err := ReadToken(write("good", controlToken+"\n")); err != nil || tok != controlToken {
		t.Errorf("%q, %v", tok, err)
	}
	for name, p := range map[string]string{
		"missing": filepath.Join(dir, "none"), "short": write("short", "abc"), "empty": write("empty", ""), "two words": write("words", controlToken+" "+viewToken),
		"huge": write("huge", strings.Repeat("x", tokenLong+1)), "folder": dir, "endless": "/dev/zero", "pipe that nobody writes": pipe(t, dir),
	} {
		if tok, err := ReadToken(p); !experiment.IsSpecError(err) || tok != "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v", name, tok, err)
		}
	}
}

// pipe makes a named pipe in a folder.
func pipe(t *testing.T, dir string) string {
	t.Helper()
	p := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(p, 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOpenAddressNeedsToken(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.invalid:0", "192.0.2.1:0"} {
		if l, err := Listen(addr, Access{}); err == nil || !strings.Contains(err.Error(), "token") {
			if l != nil {
				l.Close()
			}
			t.Errorf("%s without a token: %v", addr, err)
		}
	}
	for name, c := range map[string]struct {
		addr string
		a    Access
		says string
	}{
		"no port":         {"127.0.0.1", Access{}, "ADDRESS:PORT"},
		"bad port":        {"127.0.0.1:99999", Access{}, "listen"},
		"no host":         {"127.0.0.1:0", Access{Hosts: []string{"lab.example", ""}}, `host = ""`},
		"a blank host":    {"127.0.0.1:0", Access{Hosts: []string{"lab example"}}, "host"},
		"any host":        {"127.0.0.1:0", Access{Hosts: []string{"*"}}, "host"},
		"a port alone":    {"127.0.0.1:0", Access{Hosts: []string{":7070"}}, "host"},
		"an address":      {"127.0.0.1:0", Access{Hosts: []string{"http://lab.example/"}}, "without scheme"},
		"view only":       {"127.0.0.1:0", Access{View: viewToken}, "control"},
		"the same tokens": {"127.0.0.1:0", Access{View: viewToken, Control: viewToken}, "another"},
	} {
		if _, err := Listen(c.addr, c.a); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, err := Listen("127.0.0.1:0", Access{Hosts: []string{"lab.example", "Lab:7070", "a", "10.0.0.7", "10.0.0.7:7070", "[fe80::1]:7070", "[fe80::1]", "fe80::1", "xn--bcher-kva.example"}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(l.Addr().String(), Access{}); !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("port in use: %v", err)
	}
}

// listening serves an agent with all limits, as drtmx up does.
func listening(t *testing.T, a *agent.Agent) string {
	t.Helper()
	addr, end := serving(t, a)
	t.Cleanup(end)
	return addr
}

// serving is listening until end is called.
func serving(t *testing.T, a *agent.Agent) (addr string, end func()) {
	t.Helper()
	h, err := Handler(job.For(a), Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := Listen("127.0.0.1:0", Access{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, h) }()
	return l.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Whoever waits for a run when the server ends is told that, and blames no transaction.
func TestRunsEndWithTheServer(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{Slow: time.Millisecond})
	addr, end := serving(t, a)
	during(t, a, &httptest.Server{URL: "http://" + addr}, "a", "/api/run", longRun, end).want(t, 503, "the cluster is closed")
}

func TestAttackOversize(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	addr := listening(t, a)
	s := &httptest.Server{URL: "http://" + addr}
	ask(t, s, "PATCH", "/api/knobs", `{"coroutines": `+strings.Repeat(" ", bodyLimit)+`4}`).want(t, 413, "over")
	// Chunked, so that no length announces it.
	req, _ := http.NewRequest("PATCH", s.URL+"/api/knobs", io.MultiReader(strings.NewReader(`{"coroutines": `), strings.NewReader(strings.Repeat(" ", 1<<20)), strings.NewReader(`4}`)))
	req.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("chunked: %d", resp.StatusCode)
		}
	}
	req, _ = http.NewRequest("GET", s.URL+"/api/state", nil)
	req.Header.Set("X-Big", strings.Repeat("x", 1<<20))
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("huge header: %d", resp.StatusCode)
		}
	}
	// A frame that is too big ends its websocket and nothing else.
	c, _, err := dial(t, s, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.WriteMessage(1, make([]byte, wsFrameLimit+1))
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	for err == nil {
		_, _, err = c.ReadMessage()
	}
	if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("an oversize frame does not end its websocket")
	}
	untouched(t, a)
	ask(t, s, "GET", "/api/state", "").want(t, 200, "")
}

func TestAttackSlowHeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a timeout of 5 s")
	}
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	addr := listening(t, a)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	fmt.Fprint(c, "GET /api/state HTTP/1.1\r\nHost: localhost\r\n")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, c)
	}()
	for i := 0; ; i++ {
		select {
		case <-ended:
			return
		case <-time.After(300 * time.Millisecond):
			fmt.Fprintf(c, "X-%d: y\r\n", i)
		}
		if time.Since(began) > headerTime+time.Minute {
			t.Fatal("a client that never ends its headers keeps its connection")
		}
	}
}

func TestAttackTooManyConnections(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	addr := listening(t, a)
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	hold := func() {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "PATCH /api/knobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n") // the body never comes
		held = append(held, c)
	}
	for range connLimit {
		hold()
	}
	refused := func() bool {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return true
		}
		defer c.Close()
		fmt.Fprint(c, "GET /api/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		c.SetReadDeadline(time.Now().Add(2 * time.Second))
		line, err := bufio.NewReader(c).ReadString('\n')
		return err != nil || strings.Contains(line, "503")
	}
	systemtest.Eventually(t, "one connection too many is refused", func() bool {
		if refused() {
			return true
		}
		hold() // one whose request had not been read yet was idle, and went for the question
		return false
	})
	// The run does not care, and there is room again when some go.
	if err := a.Step(context.Background(), "", 1000); err != nil {
		t.Error(err)
	}
	for _, c := range held[:20] {
		c.Close()
	}
	systemtest.Eventually(t, "room again", func() bool { return !refused() })
}

// Connections that are kept open and not used make room for one that is.
func TestAttackIdleConnections(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	addr := listening(t, a)
	used, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	answers := bufio.NewReader(used)
	served := func() error {
		fmt.Fprint(used, "GET /api/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
		used.SetReadDeadline(time.Now().Add(5 * time.Second))
		r, err := http.ReadResponse(answers, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, r.Body)
		}
		return err
	}
	for i := range connLimit + 50 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%100 == 0 {
			if err := served(); err != nil {
				t.Fatalf("with %d idle connections: %v", i+1, err)
			}
		}
	}
	resp, err := http.Get("http://" + addr + "/api/state")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("a new client: %v, %v", resp, err)
	}
	resp.Body.Close()
}

// A process that may open few files refuses connections rather than letting them wait for one.
func TestConnectionsFitOpenFiles(t *testing.T) {
	for files, want := range map[uint64]int{0: connLimit, 1 << 20: connLimit, 64: 24, 256: 216, 10: connLeast} {
		if n := connectionsFor(files); n != want {
			t.Errorf("%d connections with %d files, want %d", n, files, want)
		}
	}
}

func TestTooManyReaders(t *testing.T) {
	a := agenttest.New(t, agent.Options{Paused: true}, systemtest.Options{})
	s := web(t, a, Options{})
	for range readerLimit {
		connect(t, s, "")
	}
	if _, resp, err := dial(t, s, "", nil); err == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Error("a reader too many is taken")
	}
}
