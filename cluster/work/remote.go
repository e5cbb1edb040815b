package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"drtmx/cluster/atomicfile"
	"drtmx/engine/experiment"
)

// The names on the server.
const (
	pointsStream  = "drtmx-points"
	pointsSubject = "drtmx.points" // .CODE.CLASS.KEY
	wakeSubject   = "drtmx.wake"   // .CODE: a point of this class was queued
	doneSubject   = "drtmx.done"   // .KEY: there is an outcome
	workSubject   = "drtmx.workers"
	outcomeBucket = "drtmx-outcomes"
	triesBucket   = "drtmx-tries"
	bodyBucket    = "drtmx-results"
)

// Limits bound what the server keeps. They are set by the process that creates queue and results, which package server does when it
// starts and otherwise the first client.
type Limits struct {
	Age   time.Duration // of points and results; 0 means a week
	Bytes int64         // of all together; 0 means 8 GB
}

func (l Limits) withDefaults() Limits {
	return Limits{Age: cmp.Or(l.Age, 7*24*time.Hour), Bytes: cmp.Or(l.Bytes, 8<<30)}
}

// Options say how to reach a JetStream server.
type Options struct {
	// URL is the server's, as nats://host:4222, or several of a cluster with commas. tls:// insists on TLS.
	URL string
	// Creds is a credentials file as NATS has them, with a user's JWT and key; "": none.
	Creds string
	// CA is a file with the certificate of the CA that signed the server's; "": those that the system trusts.
	CA string
	// Cert and Key are files of a certificate of the client's own, where the server wants one.
	Cert, Key string
	// Within connects to a server in this process, past its address and TLS; nil: by the URL.
	Within nats.InProcessConnProvider
	// AckWait is after how long without a heartbeat a point goes to another worker. All that use one server need the
	// same; 0 means 15 s.
	AckWait time.Duration
	// Ask is after how long a sender looks by itself whether a point has ended; 0 means 5 s. It doubles up to 12 times that.
	Ask time.Duration
	Limits
	// Log is called when the connection is lost and found; nil: no log.
	Log func(line string)
}

const (
	// answerWithin is how long a request waits for the server before it is made again, for it may have got lost.
	answerWithin = 3 * time.Second
	// objectWithin is the same for a large result.
	objectWithin = 2 * time.Minute
)

// brief is a context for one request.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, answerWithin)
}

// Remote is a queue on a JetStream server.
type Remote struct {
	o      Options
	nc     *nats.Conn
	js     jetstream.JetStream
	points jetstream.Stream
	kept   results

	mu      sync.Mutex
	waiting map[string][]chan struct{} // the waiters for a key
	said    string                     // what is wrong, see trouble
	done    *nats.Subscription
}

// Dial connects to a server and finds or makes queue and results there.
func Dial(ctx context.Context, o Options) (*Remote, error) {
	o.AckWait, o.Ask, o.Limits = cmp.Or(o.AckWait, 15*time.Second), cmp.Or(o.Ask, 5*time.Second), o.Limits.withDefaults()
	if o.Log == nil {
		o.Log = func(string) {}
	}
	nc, err := connect(o)
	if err != nil {
		return nil, err
	}
	q := &Remote{o: o, nc: nc, waiting: map[string][]chan struct{}{}}
	if err := q.open(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("server %s: %w", o.clean(), err)
	}
	return q, nil
}

// clean is the URL without what a password or token may be.
func (o Options) clean() string {
	var out []string
	for one := range strings.SplitSeq(o.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil && u.User != nil {
			u.User = nil
			one = u.String()
		}
		out = append(out, one)
	}
	return strings.Join(out, ",")
}

// SecretLimitBytes bounds files of credentials, certificates and keys: a chain of certificates has some 10 KB.
const SecretLimitBytes = 1 << 20

// CheckSecret refuses what is no such file, before it is read to its end; "" is none.
func CheckSecret(flag, path string) error {
	if path == "" {
		return nil
	}
	if _, err := atomicfile.Read(path, SecretLimitBytes); err != nil {
		return &experiment.SpecError{Field: flag, Value: path, Rule: err.Error(), Next: "name a regular file"}
	}
	return nil
}

func connect(o Options) (*nats.Conn, error) {
	for _, f := range []struct{ flag, path string }{{"creds", o.Creds}, {"tls-ca", o.CA}, {"tls-cert", o.Cert}, {"tls-key", o.Key}} {
		if err := CheckSecret(f.flag, f.path); err != nil {
			return nil, err
		}
	}
	opts := []nats.Option{
		nats.Name("drtmx"), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 500*time.Millisecond),
		nats.Timeout(5 * time.Second), nats.PingInterval(10 * time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				o.Log(fmt.Sprintf("connection to %s lost (%v): it is tried again", o.clean(), err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { o.Log("connected to " + o.clean() + " again") }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { o.Log(err.Error()) }),
	}
	if o.Creds != "" {
		opts = append(opts, nats.UserCredentials(o.Creds))
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	if o.Cert+o.Key != "" {
		opts = append(opts, nats.ClientCert(o.Cert, o.Key))
	}
	if o.Within != nil {
		opts = append(opts, nats.InProcessServer(o.Within))
	}
	nc, err := nats.Connect(o.URL, opts...)
	if err != nil {
		return nil, fmt.Errorf("server %s: %w%s", o.clean(), err, hint(err))
	}
	return nc, nil
}

// hint is what to do about an error of connecting.
func hint(err error) string {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return "; give the server's credentials file: --creds FILE"
	case strings.Contains(err.Error(), "x509"):
		return "; give the certificate of the CA that signed the server's: --tls-ca FILE"
	case errors.Is(err, nats.ErrNoServers):
		return "; is it running? drtmx serve-work starts one"
	}
	return ""
}

// Refused says that an error of Dial will not go away by waiting.
func Refused(err error) bool {
	return !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders)
}

// open finds the streams or makes them.
func (q *Remote) open(ctx context.Context) (err error) {
	if q.js, err = jetstream.New(q.nc, jetstream.WithDefaultTimeout(answerWithin)); err != nil {
		return err
	}
	if _, err := q.js.AccountInfo(ctx); errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) {
		return fmt.Errorf("%w; start it with -js, or use drtmx serve-work", err)
	}
	q.points, err = stream(ctx, q.js, jetstream.StreamConfig{
		Name: pointsStream, Description: "points that wait or are computed", Subjects: []string{pointsSubject + ".>"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
		// A key is queued once.
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1,
		MaxAge: q.o.Age, MaxBytes: q.o.Bytes / 16, MaxMsgSize: 1 << 20,
	})
	if err != nil {
		return err
	}
	if q.kept, err = openResults(ctx, q.js, q.o.Limits); err != nil {
		return err
	}
	q.done, err = q.nc.Subscribe(doneSubject+".*", func(m *nats.Msg) {
		q.wake(m.Subject[len(doneSubject)+1:])
	})
	return err
}

// stream finds a stream or makes it.
func stream(ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, c.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if s, err = js.CreateStream(ctx, c); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			s, err = js.Stream(ctx, c.Name) // another client was as quick, with other limits
		}
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", c.Name, err)
	}
	return s, nil
}

// Close ends the connection.
func (q *Remote) Close() { q.nc.Close() }

// The classes of points by memory. Class c holds points of up to firstClass << c bytes.
const (
	firstClass = 256 << 20
	classes    = 14 // up to 2 TB
)

func classOf(bytes int64) (int, error) {
	for c := range classes {
		if bytes <= classBytes(c) {
			return c, nil
		}
	}
	return 0, fmt.Errorf("the point needs %d bytes of memory, no worker may have more than %d", bytes, classBytes(classes-1))
}

func classBytes(c int) int64 { return firstClass << c }

// topClass is the largest of which a worker with so much memory takes points. The smallest is for all.
func topClass(memoryBytes int64) int {
	top := classes - 1
	for memoryBytes > 0 && top > 0 && classBytes(top) > memoryBytes {
		top--
	}
	return top
}

func classSubject(code string, class int) string {
	return fmt.Sprintf("%s.%s.m%02d", pointsSubject, code, class)
}

// Workers is that of Queue: those that answer.
func (q *Remote) Workers(ctx context.Context) ([]Info, error) {
	box := q.nc.NewRespInbox()
	sub, err := q.nc.SubscribeSync(box)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	if err := q.nc.PublishRequest(workSubject, box, nil); err != nil {
		return nil, err
	}
	return collect(ctx, sub)
}

// collect takes announcements until none has come for a while.
func collect(ctx context.Context, sub *nats.Subscription) ([]Info, error) {
	const most, quiet = time.Second, 300 * time.Millisecond
	all, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	list := []Info{}
	for {
		inner, stop := context.WithTimeout(all, quiet)
		m, err := sub.NextMsgWithContext(inner)
		stop()
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			break // the others are silent, or there are none
		}
		if i, ok := infoOf(m.Data); ok {
			list = append(list, i)
		}
	}
	sortInfos(list)
	return list, nil
}

func sortInfos(list []Info) {
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.Name, b.Name) })
}
