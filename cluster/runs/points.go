package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// touchesHeld is how many times of use are held back, to be written at once.
const touchesHeld = 64

// Get returns the stored result of a run. A damaged one is as one that is not
// there.
func (s *Store) Get(key string) ([]byte, bool) {
	if s == nil || !isKey(key) {
		return nil, false
	}
	var sum, body []byte
	if err := s.db.QueryRow("SELECT sum, body FROM points WHERE key = ?", key).Scan(&sum, &body); err != nil {
		return nil, false
	}
	if !bytes.Equal(sumOf(key, body), sum) {
		s.db.Exec("DELETE FROM points WHERE key = ? AND kept = 0", key) // a store that cannot do that goes on without
		return nil, false
	}
	s.mu.Lock()
	s.touched[key] = true
	full := len(s.touched) >= touchesHeld
	s.mu.Unlock()
	if full {
		s.touch()
	}
	return body, true
}

// Put stores the result of a run.
func (s *Store) Put(key string, body []byte) error {
	if s == nil {
		return nil
	}
	if !isKey(key) {
		return fmt.Errorf("runs: key %q is not one of Key", key)
	}
	if len(body) > EntryLimitBytes {
		return ErrTooLarge
	}
	err := s.change(context.Background(), func(tx *sql.Tx) error {
		if err := writeTouched(tx, s.takeTouched()); err != nil {
			return err
		}
		if err := putPoint(tx, key, body, false); err != nil {
			return err
		}
		return s.account(tx, int64(len(body)))
	})
	return s.says(err)
}

func putPoint(tx *sql.Tx, key string, body []byte, kept bool) error {
	_, err := tx.Exec(`INSERT INTO points (key, kept, used, bytes, sum, body) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET used = excluded.used, bytes = excluded.bytes, sum = excluded.sum, body = excluded.body, kept = max(kept, excluded.kept)`,
		key, kept, now(), len(body), sumOf(key, body), body)
	return err
}

// sumOf is over the key too: a damaged index may lead to the row of another.
func sumOf(key string, body []byte) []byte {
	h := sha256.New()
	io.WriteString(h, key) // a hash does not fail
	h.Write(body)
	return h.Sum(nil)
}

// now is the time as rows have it. It orders what is used, and is a part of no result.
func now() int64 { return time.Now().UnixMilli() }

// touch writes the times of use that were held back. Where that fails they are lost, and points go in another order.
func (s *Store) touch() {
	if keys := s.takeTouched(); len(keys) > 0 {
		s.change(context.Background(), func(tx *sql.Tx) error { return writeTouched(tx, keys) })
	}
}

func (s *Store) takeTouched() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := slices.Sorted(maps.Keys(s.touched))
	clear(s.touched)
	return keys
}

func writeTouched(tx *sql.Tx, keys []string) error {
	for _, k := range keys {
		if _, err := tx.Exec("UPDATE points SET used = ? WHERE key = ?", now(), k); err != nil {
			return err
		}
	}
	return nil
}

// account adds to the believed size of the points and evicts when it passes the limit. They are only counted at the
// first write and when the limit is passed: other processes add to them too.
func (s *Store) account(tx *sql.Tx, added int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes >= 0 {
		s.bytes += added
	}
	if s.bytes >= 0 && s.bytes <= s.limit {
		return nil
	}
	if err := tx.QueryRow("SELECT coalesce(sum(bytes), 0) FROM points WHERE kept = 0").Scan(&s.bytes); err != nil {
		return err
	}
	if s.bytes <= s.limit {
		return nil
	}
	left, err := evict(tx, s.bytes, s.limit/5*4) // leaves room, so that not every write evicts
	s.bytes = left
	return err
}

// evict removes points, those not used for longest first, until no more than this many bytes are left.
func evict(tx *sql.Tx, have, most int64) (left int64, err error) {
	rows, err := tx.Query("SELECT id, bytes FROM points WHERE kept = 0 ORDER BY used, bytes, id")
	if err != nil {
		return have, err
	}
	var ids []int64
	for left = have; left > most && rows.Next(); {
		var id, n int64
		if err := rows.Scan(&id, &n); err != nil {
			rows.Close()
			return have, err
		}
		ids, left = append(ids, id), left-n
	}
	if err := rows.Close(); err != nil {
		return have, err
	}
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM points WHERE id = ?", id); err != nil {
			return have, err
		}
	}
	return left, nil
}
