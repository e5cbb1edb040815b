package work

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// inlineBytes is the largest body, compressed, that is a value of the key-value bucket. JetStream's messages have up to 1 MB by
// default.
const inlineBytes = 256 << 10

// record is an outcome under its key: a line of JSON and behind it the compressed body, unless that is an object.
type record struct {
	Worker string   `json:"worker"`
	WallMS int64    `json:"wall_ms"`
	Object bool     `json:"object,omitempty"`
	Failed *failure `json:"failed,omitempty"`
}

type failure struct {
	Tries int    `json:"tries"`
	Why   string `json:"why"`
}

// results are the outcomes on the server, and how often points were begun.
type results struct {
	kv     jetstream.KeyValue
	tries  jetstream.KeyValue
	bodies jetstream.ObjectStore
}

func openResults(ctx context.Context, js jetstream.JetStream, l Limits) (r results, err error) {
	if r.kv, err = bucket(ctx, js, jetstream.KeyValueConfig{Bucket: outcomeBucket, Description: "outcomes of points", TTL: l.Age, MaxBytes: l.Bytes / 16 * 6}); err != nil {
		return r, err
	}
	if r.tries, err = bucket(ctx, js, jetstream.KeyValueConfig{Bucket: triesBucket, Description: "how often points were begun", TTL: l.Age, MaxBytes: l.Bytes / 16}); err != nil {
		return r, err
	}
	if r.bodies, err = js.ObjectStore(ctx, bodyBucket); errors.Is(err, jetstream.ErrBucketNotFound) {
		r.bodies, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bodyBucket, Description: "large results of points", TTL: l.Age, MaxBytes: l.Bytes / 2})
		if errors.Is(err, jetstream.ErrBucketExists) {
			r.bodies, err = js.ObjectStore(ctx, bodyBucket)
		}
	}
	if err != nil {
		return r, fmt.Errorf("object store %s: %w", bodyBucket, err)
	}
	return r, keepNewest(ctx, js)
}

// bucket finds a bucket or makes it.
func bucket(ctx context.Context, js jetstream.JetStream, c jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := js.KeyValue(ctx, c.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if kv, err = js.CreateKeyValue(ctx, c); errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = js.KeyValue(ctx, c.Bucket)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", c.Bucket, err)
	}
	return kv, nil
}

// keepNewest lets the oldest outcomes go when a bucket is full, in place of refusing new ones. An outcome whose object is
// gone is as none.
func keepNewest(ctx context.Context, js jetstream.JetStream) error {
	for _, name := range []string{"KV_" + outcomeBucket, "KV_" + triesBucket, "OBJ_" + bodyBucket} {
		s, err := js.Stream(ctx, name)
		if err != nil {
			return fmt.Errorf("stream %s: %w", name, err)
		}
		c := s.CachedInfo().Config
		if c.Discard == jetstream.DiscardOld {
			continue
		}
		c.Discard = jetstream.DiscardOld
		if _, err := js.UpdateStream(ctx, c); err != nil {
			return fmt.Errorf("stream %s: %w", name, err)
		}
	}
	return nil
}

// entry is the record under a key: ok is false when there is none.
func (r *results) entry(ctx context.Context, key string) (jetstream.KeyValueEntry, bool, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	e, err := r.kv.Get(ctx, key)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return e, true, nil
}

// get is the outcome of a point: ok is false when there is none. One that cannot be read is removed.
func (r *results) get(ctx context.Context, key string) (o Outcome, ok bool, err error) {
	e, ok, err := r.entry(ctx, key)
	if !ok {
		return Outcome{}, false, err
	}
	rec, body, bad := r.read(ctx, key, e.Value())
	switch {
	case bad != nil && ctx.Err() != nil:
		return Outcome{}, false, ctx.Err()
	case bad != nil:
		return Outcome{}, false, r.forget(ctx, key, jetstream.LastRevision(e.Revision()))
	case rec.Failed != nil:
		return Outcome{}, true, &Failed{Key: key, Tries: rec.Failed.Tries, Why: rec.Failed.Why}
	}
	return Outcome{Body: body, Worker: rec.Worker, WallMS: rec.WallMS}, true, nil
}

func (r *results) read(ctx context.Context, key string, value []byte) (rec record, body []byte, err error) {
	head, packed, ok := bytes.Cut(value, []byte("\n"))
	if !ok {
		return rec, nil, errors.New("no record")
	}
	if err := json.Unmarshal(head, &rec); err != nil || rec.Failed != nil {
		return rec, nil, err
	}
	if rec.Object {
		inner, cancel := context.WithTimeout(ctx, objectWithin)
		defer cancel()
		if packed, err = r.bodies.GetBytes(inner, key); err != nil {
			return rec, nil, err
		}
	}
	body, err = unpack(packed)
	return rec, body, err
}

// put keeps an outcome unless there is one; stored is false then.
func (r *results) put(ctx context.Context, key string, rec record, body []byte) (stored bool, err error) {
	var packed []byte
	if rec.Failed == nil {
		if packed, err = pack(body); err != nil {
			return false, err
		}
	}
	if rec.Object = len(packed) > inlineBytes; rec.Object {
		// A worker that stores the same point at the same time replaces the object by an equal one.
		inner, cancel := context.WithTimeout(ctx, objectWithin)
		defer cancel()
		if _, err := r.bodies.PutBytes(inner, key, packed); err != nil {
			return false, err
		}
		packed = nil
	}
	head, err := json.Marshal(rec)
	if err != nil {
		return false, err
	}
	inner, cancel := brief(ctx)
	defer cancel()
	_, err = r.kv.Create(inner, key, append(append(head, '\n'), packed...))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, err
}

// tried is how often a message's point was begun.
type tried struct {
	Message uint64 `json:"message"`
	Times   int    `json:"times"`
}

// begun is how often the point of a message was begun, as noteBegun has it.
func (r *results) begun(ctx context.Context, key string, message uint64) (int, error) {
	ctx, cancel := brief(ctx)
	defer cancel()
	e, err := r.tries.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var x tried
	if json.Unmarshal(e.Value(), &x) != nil || x.Message != message {
		return 0, nil // of another time that the point was queued
	}
	return x.Times, nil
}

func (r *results) noteBegun(ctx context.Context, key string, message uint64, times int) error {
	text, err := json.Marshal(tried{message, times})
	if err != nil {
		return err
	}
	ctx, cancel := brief(ctx)
	defer cancel()
	_, err = r.tries.Put(ctx, key, text)
	return err
}

// forget removes an outcome, so that the point may be tried again.
func (r *results) forget(ctx context.Context, key string, o ...jetstream.KVDeleteOpt) error {
	ctx, cancel := brief(ctx)
	defer cancel()
	return r.kv.Delete(ctx, key, o...)
}

// packers are compressors: a new one takes a megabyte, which is more than a result.
var packers = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic("work: " + err.Error()) // the level is one
	}
	return z
}}

func pack(body []byte) ([]byte, error) {
	var b bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&b)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack has a bound, for the body comes over the network.
func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(z, ResultLimitBytes+1))
	if err == nil && len(body) > ResultLimitBytes {
		err = fmt.Errorf("a result of more than %d bytes", ResultLimitBytes)
	}
	return body, err
}

func infoOf(text []byte) (i Info, ok bool) {
	ok = json.Unmarshal(text, &i) == nil && i.Name != ""
	return i, ok
}

// offline says that an operation failed because the server is away for now.
func offline(err error) bool {
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.Is(err, nats.ErrReconnectBufExceeded)
}
