package server

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drtmx/cluster/work"
	"drtmx/cluster/work/worktest"
	"drtmx/engine/experiment"
)

func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A store has one server at a time: another is refused, and takes over when the first has ended.
func TestStoreHasOneServer(t *testing.T) {
	dir := t.TempDir()
	first, err := Start(Options{Listen: "127.0.0.1:0", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Start(Options{Listen: "127.0.0.1:0", Dir: dir}); err == nil || !experiment.IsSpecError(err) || !strings.Contains(err.Error(), "another server has it") {
		t.Errorf("a second server: %v, %v", s, err)
	}
	first.Close()
	second, err := Start(Options{Listen: "127.0.0.1:0", Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

// A server whose streams have ended, as on a full disk, says so, and so do who sends points and who computes them, in time.
func TestStreamsThatEndAreTold(t *testing.T) {
	s := start(t, Options{})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	log := func(who string) func(string) {
		return func(line string) {
			select {
			case said <- who + ": " + line:
			default:
			}
		}
	}
	worker := dial(t, work.Options{URL: s.URL()})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		_ = worker.Work(ctx, work.Worker{Name: "w", Code: "other", Parallel: 1, Compute: worktest.Compute(worktest.Echo), Log: log("worker")})
	})
	sender := dial(t, work.Options{URL: s.URL(), Log: log("sender")})
	if err := s.s.DisableJetStream(); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("the server says %v", err)
	}
	wg.Go(func() {
		if _, err := sender.Do(ctx, worktest.Point(t, 1)); err != nil && ctx.Err() == nil {
			said <- "sender: " + err.Error()
		}
	})
	within, told := time.After(15*time.Second), map[string]bool{}
	for !told["worker"] || !told["sender"] {
		select {
		case line := <-said:
			who, _, _ := strings.Cut(line, ": ")
			told[who] = true
		case <-within:
			t.Fatalf("after 15 s only these have said something: %v", told)
		}
	}
}

// counting counts how often each number is computed.
func counting(times *atomic.Int32) work.Worker {
	return work.Worker{Compute: worktest.Compute(func(ctx context.Context, n int, alive func()) ([]byte, error) {
		times.Add(1)
		return worktest.Echo(ctx, n, alive)
	})}
}

// Two senders that ask for the same points, at once and later, have each computed once.
func TestSendersShareResults(t *testing.T) {
	s := start(t, Options{})
	worker, a, b := dial(t, work.Options{URL: s.URL()}), dial(t, work.Options{URL: s.URL()}), dial(t, work.Options{URL: s.URL()})
	var times atomic.Int32
	worktest.Start(t, worker, counting(&times))
	const points = 100
	var wg sync.WaitGroup
	for n := range points {
		for _, q := range []*work.Remote{a, b} {
			wg.Go(func() {
				if out, err := q.Do(soon(t), worktest.Point(t, n)); err != nil || string(out.Body) != fmt.Sprintf("result %d", n) {
					t.Errorf("point %d: %q, %v", n, out.Body, err)
				}
			})
		}
	}
	wg.Wait()
	for n := range points {
		if _, err := dial(t, work.Options{URL: s.URL()}).Do(soon(t), worktest.Point(t, n)); err != nil {
			t.Fatal(err)
		}
		if n == 3 {
			break
		}
	}
	if times.Load() != points {
		t.Errorf("%d points were computed %d times", points, times.Load())
	}
}

// A point that failed is tried again when somebody asks again: what was wrong may be right by then.
func TestFailedPointIsTriedAgainLater(t *testing.T) {
	q := dial(t, work.Options{URL: start(t, Options{}).URL()})
	var good atomic.Bool
	worktest.Start(t, q, work.Worker{Compute: func(context.Context, work.Point, func()) ([]byte, error) {
		if !good.Load() {
			return nil, &work.Refusal{Err: errors.New("not yet")}
		}
		return []byte("yes"), nil
	}})
	var f *work.Failed
	if _, err := q.Do(soon(t), worktest.Point(t, 1)); !errors.As(err, &f) {
		t.Fatalf("%v", err)
	}
	good.Store(true)
	if out, err := q.Do(soon(t), worktest.Point(t, 1)); err != nil || string(out.Body) != "yes" {
		t.Errorf("%q, %v", out.Body, err)
	}
}

// A worker whose connection breaks loses its points to others. One that loses it Tries times over is given up.
func TestLostWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for heartbeats that do not come; not in short mode")
	}
	url := start(t, Options{}).URL()
	const ackWait = 300 * time.Millisecond
	open := func() *work.Remote { return dial(t, work.Options{URL: url, AckWait: ackWait}) }
	sender := open()
	lose := func(point chan struct{}) {
		q := open()
		begun := make(chan struct{}, 1)
		worktest.Start(t, q, work.Worker{Parallel: 1, Compute: func(ctx context.Context, _ work.Point, _ func()) ([]byte, error) {
			begun <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		select {
		case <-begun:
			time.Sleep(50 * time.Millisecond) // a point that costs its worker the life takes longer than a message
		case <-point:
			return
		}
		q.Close()
	}
	for _, lost := range []int{1, work.Tries} {
		ended := make(chan struct{})
		var out work.Outcome
		var err error
		go func() {
			out, err = sender.Do(soon(t), worktest.Point(t, lost))
			close(ended)
		}()
		for range lost {
			lose(ended)
		}
		stop := worktest.Start(t, open(), work.Worker{Compute: worktest.Compute(worktest.Echo)})
		<-ended
		stop()
		var f *work.Failed
		if lost < work.Tries && (err != nil || string(out.Body) != fmt.Sprint("result ", lost)) {
			t.Errorf("lost %d times: %q, %v", lost, out.Body, err)
		}
		if lost == work.Tries && (!errors.As(err, &f) || f.Tries != work.Tries || !strings.Contains(f.Why, "lost")) {
			t.Errorf("lost %d times: %v", lost, err)
		}
	}
}

// What a server has acknowledged is there after a restart, and senders and workers find it again.
func TestServerRestarts(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s := start(t, Options{Listen: addr, Dir: dir})
	q, worker := dial(t, work.Options{URL: s.URL(), Ask: 200 * time.Millisecond}), dial(t, work.Options{URL: s.URL()})
	var times atomic.Int32
	const points = 60
	var wg sync.WaitGroup
	for n := range points {
		wg.Go(func() {
			if out, err := q.Do(soon(t), worktest.Point(t, n)); err != nil || string(out.Body) != fmt.Sprintf("result %d", n) {
				t.Errorf("point %d: %q, %v", n, out.Body, err)
			}
		})
	}
	w := counting(&times)
	compute := w.Compute
	w.Compute = func(ctx context.Context, p work.Point, alive func()) ([]byte, error) {
		time.Sleep(20 * time.Millisecond)
		return compute(ctx, p, alive)
	}
	worktest.Start(t, worker, w)
	worktest.Until(t, "some points", func() bool { return times.Load() > points/4 })
	s.Close()
	time.Sleep(300 * time.Millisecond)
	start(t, Options{Listen: addr, Dir: dir})
	wg.Wait()
	if n := times.Load(); n > points+4 {
		t.Errorf("%d points were computed %d times", points, n)
	}
}

// A full queue makes senders wait, not fail; of results the oldest go first.
func TestLimits(t *testing.T) {
	q := dial(t, work.Options{URL: start(t, Options{Limits: work.Limits{Bytes: 4 << 20}}).URL(), Ask: 50 * time.Millisecond})
	body := func(n int) []byte { // 100 KB that do not compress
		b := make([]byte, 100<<10)
		x := uint64(n) + 1
		for i := range b {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			b[i] = byte(x)
		}
		return b
	}
	const points = 60 // of 100 KB, where results have 1.5 MB; with specs of 10 KB the queue has room for 25
	var wg sync.WaitGroup
	for n := range points {
		p := worktest.Point(t, n)
		p.Spec = fmt.Appendf(nil, `{"n":%d,"fill":"%s"}`, n, strings.Repeat("x", 10<<10))
		wg.Go(func() {
			if out, err := q.Do(soon(t), p); err != nil || !bytes.Equal(out.Body, body(n)) {
				t.Errorf("point %d: %d bytes, %v", n, len(out.Body), err)
			}
		})
	}
	worktest.Until(t, "a full queue", func() bool {
		kept, err := q.Kept(soon(t))
		return err == nil && kept[0].Messages >= 15 && kept[0].Messages < points
	})
	worktest.Start(t, q, work.Worker{Compute: worktest.Compute(func(_ context.Context, n int, _ func()) ([]byte, error) { return body(n), nil })})
	wg.Wait()
	kept, err := q.Kept(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	if most := uint64(4 << 20 / 16 * 6); kept[1].Bytes > most || kept[1].Messages < 10 {
		t.Errorf("%+v, want at most %d bytes of outcomes, the newest", kept, most)
	}
}

func TestGC(t *testing.T) {
	q := dial(t, work.Options{URL: start(t, Options{}).URL()})
	worktest.Start(t, q, work.Worker{Compute: worktest.Compute(worktest.Echo)})
	ask := func(from, to int) {
		for n := from; n < to; n++ {
			if _, err := q.Do(soon(t), worktest.Point(t, n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	outcomes := func() uint64 {
		kept, err := q.Kept(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		return kept[1].Messages
	}
	gc := func(age time.Duration, want uint64) {
		t.Helper()
		if err := q.GC(soon(t), age); err != nil {
			t.Fatal(err)
		}
		if got := outcomes(); got != want {
			t.Errorf("older than %v removed: %d outcomes, want %d", age, got, want)
		}
	}
	gc(0, 0)
	ask(0, 5)
	time.Sleep(time.Second)
	ask(5, 12)
	gc(time.Hour, 12)
	gc(800*time.Millisecond, 7)
	gc(0, 0)
	ask(0, 1) // it works on
}

func TestAddresses(t *testing.T) {
	for listen, want := range map[string]string{
		"0.0.0.0:4222": "--creds", "192.168.1.1:4222": "--creds", ":4222": "--creds", "example.org:4222": "--creds",
		"127.0.0.1": "host:port", "127.0.0.1:70000": "port",
	} {
		_, err := Start(Options{Listen: listen, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || !experiment.IsSpecError(err) {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if _, err := Start(Options{Listen: "127.0.0.1:0"}); err == nil {
		t.Error("no folder: started")
	}
	s := start(t, Options{})
	taken := strings.TrimPrefix(s.URL(), "nats://")
	if _, err := Start(Options{Listen: taken, Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a port that is taken: %v", err)
	}
}

func TestCredentials(t *testing.T) {
	dir, creds := t.TempDir(), filepath.Join(t.TempDir(), "lab.creds")
	o := Options{Listen: "0.0.0.0:0", Dir: dir, Creds: creds}
	s := start(t, o)
	if fi, err := os.Stat(creds); err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", fi, err)
	}
	q := dial(t, work.Options{URL: s.URL(), Creds: creds})
	worktest.Start(t, q, work.Worker{Compute: worktest.Compute(worktest.Echo)})
	if _, err := q.Do(soon(t), worktest.Point(t, 1)); err != nil {
		t.Error(err)
	}
	_, err := work.Dial(soon(t), work.Options{URL: s.URL()})
	if err == nil || !strings.Contains(err.Error(), "--creds") || !work.Refused(err) {
		t.Errorf("without credentials: %v", err)
	}
	foreign := filepath.Join(t.TempDir(), "foreign.creds")
	if _, err := issue(foreign); err != nil {
		t.Fatal(err)
	}
	if _, err := work.Dial(soon(t), work.Options{URL: s.URL(), Creds: foreign}); err == nil {
		t.Error("somebody else's credentials are good")
	}
	q.Close()
	s.Close()
	start(t, o) // the same file is good again
	if _, err := Start(Options{Listen: "127.0.0.1:0", Dir: dir, Creds: foreign}); err == nil || !experiment.IsSpecError(err) {
		t.Errorf("credentials of another server: %v", err)
	}
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	s := start(t, Options{Cert: cert, Key: key})
	if !strings.HasPrefix(s.URL(), "tls://") {
		t.Errorf("%s", s.URL())
	}
	q := dial(t, work.Options{URL: s.URL(), CA: cert})
	worktest.Start(t, q, work.Worker{Compute: worktest.Compute(worktest.Echo)})
	if _, err := q.Do(soon(t), worktest.Point(t, 1)); err != nil {
		t.Error(err)
	}
	if _, err := work.Dial(soon(t), work.Options{URL: s.URL()}); err == nil || !strings.Contains(err.Error(), "--tls-ca") {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
	own := start(t, Options{Cert: cert, Key: key, ClientCA: cert})
	if _, err := work.Dial(soon(t), work.Options{URL: own.URL(), CA: cert}); err == nil {
		t.Error("a client without a certificate is taken")
	}
	dial(t, work.Options{URL: own.URL(), CA: cert, Cert: cert, Key: key})
}

// certificate makes one that signs itself, for 127.0.0.1.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "drtmx"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A password in a URL is in no error.
func TestErrorsKeepSecrets(t *testing.T) {
	_, err := work.Dial(soon(t), work.Options{URL: "nats://me:hunter2@127.0.0.1:1"})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	if work.Refused(err) {
		t.Error("a server that is not there may come")
	}
}
