package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"drtmx/cluster/session"
	"drtmx/cluster/words"
	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// Limits of the HTTP side. All are far above what page, notebook and command
// need.
const (
	bodyLimit    = 64 << 10
	headerLimit  = 16 << 10
	headerTime   = 5 * time.Second
	readTime     = 15 * time.Second
	writeTime    = 30 * time.Second
	idleTime     = 60 * time.Second
	answerTime   = 10 * time.Second // of what waits for the end of a slice
	wsFrameLimit = 4 << 10
	tokenShort   = 16 // characters; shorter ones can be guessed
	tokenLong    = 4 << 10
	loginPerSec  = 5    // wrong tokens per second, from one address
	loginSources = 1024 // addresses with wrong tokens that are told apart
	cookieName   = "drtmx"
	cookieLife   = 30 * 24 * time.Hour
)

// Access decides who may do what.
type Access struct {
	// Hosts are names that the Host header may have besides localhost and the
	// loopback addresses. This is what keeps a page of a foreign site, whose
	// name was made to resolve to this machine, out.
	Hosts []string
	// Control is the token that may do everything, View one that may only look.
	// Both empty: everyone who can reach the address may do everything, which is
	// only accepted on loopback addresses.
	Control, View string
}

type role int

const (
	unauthenticated role = iota
	viewer
	controller
)

// guard is the outermost handler.
type guard struct {
	next    http.Handler
	access  Access
	csp     string
	origin  *http.CrossOriginProtection
	key     [32]byte // of the cookies; another one in the next process
	limiter limiter
}

func newGuard(next http.Handler, a Access, cdn bool) (*guard, error) {
	g := &guard{next: next, access: a, origin: http.NewCrossOriginProtection(), csp: contentPolicy(cdn)}
	if _, err := rand.Read(g.key[:]); err != nil {
		return nil, fmt.Errorf("no randomness for cookies: %w", err)
	}
	return g, nil
}

// CDN is the one foreign origin that --cdn allows the page to load echarts from.
const CDN = "https://cdn.jsdelivr.net"

func contentPolicy(cdn bool) string {
	script := "'self'"
	if cdn {
		script += " " + CDN
	}
	return "default-src 'self'; script-src " + script + "; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
		"connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; form-action 'self'"
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", g.csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups") // the page hands a trace to the window of a viewer that it opens
	h.Set("X-Frame-Options", "SAMEORIGIN")
	if !g.hostAllowed(r.Host) {
		refuse(w, http.StatusForbidden, fmt.Sprintf("host = %s: not a name of this server; use localhost, a loopback address or start with --host NAME", words.Clip(r.Host)))
		return
	}
	if err := g.origin.Check(r); err != nil {
		refuse(w, http.StatusForbidden, "cross-origin request refused; open the page on this server itself")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, bodyLimit)
	if r.URL.Path == "/login" {
		g.login(w, r)
		return
	}
	who := g.role(r)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case who == unauthenticated && reads && r.URL.Path == "/":
		http.Redirect(w, r, "/login", http.StatusSeeOther)
		return
	case who == unauthenticated:
		h.Set("WWW-Authenticate", `Bearer realm="drtmx"`)
		refuse(w, http.StatusUnauthorized, "token missing or wrong; send Authorization: Bearer TOKEN or open /login")
		return
	case who == viewer && !reads:
		refuse(w, http.StatusForbidden, "this token may only look; use the control token")
		return
	case !reads && !isJSON(r):
		refuse(w, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return
	}
	g.next.ServeHTTP(w, r)
}

// refuse answers with one line of text.
func refuse(w http.ResponseWriter, code int, line string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	fmt.Fprintln(w, words.OneLine(line))
}

func isJSON(r *http.Request) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == "application/json"
}

// hostAllowed looks at the name in a Host header, with or without port.
func (g *guard) hostAllowed(host string) bool {
	name := strings.ToLower(hostOnly(host))
	if name == "localhost" {
		return true
	}
	if ip, err := netip.ParseAddr(name); err == nil && ip.Unmap().IsLoopback() {
		return true
	}
	for _, h := range g.access.Hosts {
		if name == strings.ToLower(hostOnly(h)) {
			return true
		}
	}
	return false
}

func hostOnly(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// role finds the role of a client: by bearer token, else by cookie.
func (g *guard) role(r *http.Request) role {
	if g.access.Control == "" && g.access.View == "" {
		return controller
	}
	// The name of the scheme is told apart by its letters, not their case (RFC 9110, 11.1).
	if scheme, t, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return g.tokenRole(strings.TrimSpace(t))
	}
	if c, err := r.Cookie(cookieName); err == nil {
		for _, who := range []role{controller, viewer} {
			if hmac.Equal([]byte(c.Value), []byte(g.cookie(who))) {
				return who
			}
		}
	}
	return unauthenticated
}

func (g *guard) tokenRole(t string) role {
	who := unauthenticated
	if sameToken(t, g.access.View) {
		who = viewer
	}
	if sameToken(t, g.access.Control) {
		who = controller
	}
	return who
}

// sameToken takes the same time wherever the tokens differ.
func sameToken(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}

// cookie stands for a role; it says nothing about the token.
func (g *guard) cookie(who role) string {
	m := hmac.New(sha256.New, g.key[:])
	fmt.Fprintf(m, "drtmx cookie %d", who)
	return hex.EncodeToString(m.Sum(nil))
}

// limiter allows loginPerSec failures per second from each address, so that a client that guesses does
// not lock out a client that has the token.
type limiter struct {
	mu      sync.Mutex
	failing map[netip.Prefix]failures
}

// failures are the wrong tokens of one address within a second.
type failures struct {
	since time.Time
	n     int
}

func (l *limiter) blocked(from netip.Prefix, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failing[from]
	return now.Sub(f.since) <= time.Second && f.n >= loginPerSec
}

func (l *limiter) fail(from netip.Prefix, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failing[from]
	if now.Sub(f.since) > time.Second {
		f = failures{since: now}
		l.makeRoom(now)
	}
	f.n++
	if l.failing == nil {
		l.failing = map[netip.Prefix]failures{}
	}
	l.failing[from] = f
}

// makeRoom forgets addresses whose second is over, and if all are of this second the one
// that has waited longest: an attacker with that many addresses is not stopped by a limit for each.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.failing) < loginSources {
		return
	}
	var oldest netip.Prefix
	for from, f := range l.failing { // order-free: all that are over go, else the oldest
		if now.Sub(f.since) > time.Second {
			delete(l.failing, from)
		} else if was, ok := l.failing[oldest]; !ok || f.since.Before(was.since) {
			oldest = from
		}
	}
	if len(l.failing) >= loginSources {
		delete(l.failing, oldest)
	}
}

// source is the address that a request comes from. One customer of IPv6 has all addresses of a /64.
func source(r *http.Request) netip.Prefix {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{} // no address: all of them are one
	}
	ip, bits := from.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

const loginPage = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>drtmx: sign in</title><body style="font:16px sans-serif;max-width:28em;margin:4em auto;padding:0 1em">
<h1 style="font-size:1.3em">drtmx</h1><form method="post" action="/login">
<label for="t">Token of this cluster</label><br>
<input id="t" name="token" type="password" autocomplete="current-password" autofocus required style="font:inherit;width:100%;margin:.5em 0">
<button style="font:inherit">Sign in</button></form></body></html>
`

// login exchanges a token for a cookie that scripts cannot read.
func (g *guard) login(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprint(w, loginPage)
		return
	case http.MethodPost:
	default:
		refuse(w, http.StatusMethodNotAllowed, "use GET or POST")
		return
	}
	from := source(r)
	if g.limiter.blocked(from, time.Now()) {
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusTooManyRequests, "too many wrong tokens from your address; wait a second")
		return
	}
	var token string
	if isJSON(r) {
		var body struct {
			Token string `json:"token"`
		}
		if err := readJSON(r, &body); err != nil {
			refuseError(w, err)
			return
		}
		token = body.Token
	} else if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "not a form")
		return
	} else {
		token = r.PostForm.Get("token") // never from the address, which is logged
	}
	who := g.tokenRole(strings.TrimSpace(token))
	if who == unauthenticated {
		g.limiter.fail(from, time.Now())
		refuse(w, http.StatusUnauthorized, "token missing or wrong")
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: g.cookie(who), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(cookieLife / time.Second), Secure: r.TLS != nil,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// ReadToken reads a token from a file, as secrets do not belong into argv.
func ReadToken(path string) (string, error) {
	f, err := knob.OpenRegular(path)
	if err != nil {
		return "", session.FileError("token-file", path, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, tokenLong+1))
	if err != nil {
		return "", session.FileError("token-file", path, err)
	}
	if len(b) > tokenLong {
		return "", &experiment.SpecError{Field: "token-file", Value: path, Rule: fmt.Sprintf("is over %d bytes, not a token", tokenLong), Next: "make one with: openssl rand -hex 24"}
	}
	t := strings.TrimSpace(string(b))
	if len(t) < tokenShort || strings.ContainsAny(t, " \t\r\n") {
		return "", &experiment.SpecError{Field: "token-file", Value: path,
			Rule: fmt.Sprintf("must hold one word of at least %d characters", tokenShort), Next: "make one with: openssl rand -hex 24"}
	}
	return t, nil
}
