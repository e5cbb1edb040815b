package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"

	"drtmx/cluster/work"
	"drtmx/engine/experiment"
)

// Options of Start.
type Options struct {
	// Listen is the address, host:port; "" is 127.0.0.1:4222. Port 0 is any that is free.
	Listen string
	// Dir is where streams and results are kept; it is made when it is missing.
	Dir string
	// Creds is the credentials file that clients need; "": none, on a loopback address only.
	Creds string
	// Cert and Key are files with the server's certificate and its key, for TLS; "": no TLS.
	Cert, Key string
	// ClientCA is a file with the certificate of the CA that signs those of clients: they need one then. "": they need none.
	ClientCA string
	// Limits bound what is kept; the zero value is that of package work.
	work.Limits
}

// Server is a running one.
type Server struct {
	s      *natsd.Server
	url    string
	dir    string // its store
	unlock func()
}

const (
	defaultListen = "127.0.0.1:4222"
	readyWithin   = 30 * time.Second
	bufferBytes   = 64 << 20
)

// Start runs a server.
func Start(o Options) (*Server, error) {
	opts, err := o.natsd()
	if err != nil {
		return nil, err
	}
	unlock, err := o.own()
	if err != nil {
		return nil, err
	}
	out, err := o.start(opts)
	if err != nil {
		unlock()
		return nil, err
	}
	out.unlock = unlock
	return out, nil
}

// lockName is the file of a store that its server holds a lock on: two servers of one store would lose each other's results.
const lockName = "drtmx.lock"

// own makes the store this server's, until unlock or the end of the process.
func (o Options) own() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(o.Dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := lockFile(f); err != nil {
		f.Close()
		return nil, &experiment.SpecError{Field: "store", Value: o.Dir, Rule: "another server has it", Next: "end that one, or name another folder with --store"}
	}
	return func() { f.Close() }, nil
}

// start runs a server that owns its store.
func (o Options) start(opts *natsd.Options) (*Server, error) {
	s, err := natsd.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, fmt.Errorf("server: no connections on %s; is the port in use, or %s of another server?", net.JoinHostPort(opts.Host, strconv.Itoa(opts.Port)), o.Dir)
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("server: no JetStream in %s; is the disk full, or the folder that of another server?", o.Dir)
	}
	out := &Server{s: s, url: urlOf(s, opts.TLSConfig != nil), dir: o.Dir}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	if err := out.create(ctx, o); err != nil {
		s.Shutdown()
		return nil, err
	}
	return out, nil
}

// natsd are the options as the server has them.
func (o Options) natsd() (*natsd.Options, error) {
	host, port, err := o.address()
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return nil, &experiment.SpecError{Field: "store", Rule: "names no folder", Next: "as --store ~/drtmx-work"}
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err != nil { // its own error would be a log line
		return nil, fmt.Errorf("listen: %w", err)
	} else if err := l.Close(); err != nil {
		return nil, err
	}
	if port == 0 {
		port = natsd.RANDOM_PORT
	}
	opts := &natsd.Options{
		Host: host, Port: port, NoSigs: true, NoLog: true, ServerName: "drtmx", JetStream: true, StoreDir: o.Dir,
		JetStreamMaxStore: 2 * cmp.Or(o.Bytes, 8<<30), JetStreamMaxMemory: bufferBytes, MaxPayload: 1 << 20,
		WriteDeadline: 10 * time.Second, PingInterval: 10 * time.Second, MaxPingsOut: 3,
	}
	if err := o.secure(opts); err != nil {
		return nil, err
	}
	if o.Creds != "" {
		err = trust(opts, o.Creds, filepath.Join(o.Dir, "trust.json"))
	}
	return opts, err
}

func (o Options) address() (host string, port int, err error) {
	listen := cmp.Or(o.Listen, defaultListen)
	bad := func(rule string) error {
		return &experiment.SpecError{Field: "listen", Value: listen, Rule: rule, Next: "such as " + defaultListen}
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return "", 0, bad("must be host:port")
	}
	if port, err = strconv.Atoi(text); err != nil || port < 0 || port > 65535 {
		return "", 0, bad("has no port from 0 to 65535")
	}
	if !loopback(host) && o.Creds == "" {
		return "", 0, &experiment.SpecError{Field: "listen", Value: listen, Rule: "other machines can reach it, and without credentials they may do anything",
			Next: "add --creds FILE (made if it is not there; copy it to workers and senders), and --tls-cert, --tls-key where the network is not trusted"}
	}
	return host, port, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (o Options) secure(opts *natsd.Options) error {
	if o.Cert+o.Key == "" {
		if o.ClientCA != "" {
			return &experiment.SpecError{Field: "tls-ca", Value: o.ClientCA, Rule: "is about TLS, which needs a certificate", Next: "add --tls-cert FILE and --tls-key FILE"}
		}
		return nil
	}
	for _, f := range []struct{ flag, path string }{{"tls-cert", o.Cert}, {"tls-key", o.Key}, {"tls-ca", o.ClientCA}} {
		if err := work.CheckSecret(f.flag, f.path); err != nil {
			return err
		}
	}
	c, err := natsd.GenTLSConfig(&natsd.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key, CaFile: o.ClientCA, Verify: o.ClientCA != "", Timeout: 5})
	if err != nil {
		return &experiment.SpecError{Field: "tls-cert", Value: o.Cert, Rule: err.Error(), Next: "give --tls-cert and --tls-key as PEM files"}
	}
	opts.TLSConfig, opts.TLSVerify, opts.TLSTimeout = c, o.ClientCA != "", 5
	return nil
}

// URL is where clients on this machine find it.
func (s *Server) URL() string { return s.url }

func urlOf(s *natsd.Server, tls bool) string {
	scheme := "nats"
	if tls {
		scheme = "tls"
	}
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		return s.ClientURL()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// create makes queue and results with the limits of this server.
func (s *Server) create(ctx context.Context, o Options) error {
	q, err := work.Dial(ctx, work.Options{URL: "nats://127.0.0.1", Within: s.s, Creds: o.Creds, Limits: o.Limits})
	if err != nil {
		return err
	}
	q.Close()
	return nil
}

// Check says why it serves no points any more: a NATS server whose disk is full goes on without its streams, or has not noticed yet,
// and to its clients that is silence.
func (s *Server) Check() error {
	why := "most likely the disk is full"
	switch err := s.probe(); {
	case err != nil:
		why = err.Error()
	case s.s.JetStreamEnabled():
		return nil
	}
	return fmt.Errorf("store %s: cannot be written any more, %s; make room and start again: what was acknowledged is kept", s.dir, why)
}

// probeBytes is more than an outcome takes.
const probeBytes = 64 << 10

// probe writes to the disk of the store.
func (s *Server) probe() error {
	file := filepath.Join(s.dir, "drtmx.probe")
	err := os.WriteFile(file, make([]byte, probeBytes), 0o600)
	_ = os.Remove(file)
	if errors.Is(err, syscall.ENOSPC) {
		return errors.New("the disk is full")
	}
	return err
}

// Close stops it. What it has acknowledged is in its files.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
	s.unlock()
}
