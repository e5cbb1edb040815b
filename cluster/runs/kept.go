package runs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"drtmx/engine/experiment"
)

// The kinds of kept runs.
const (
	KindRun     = "run" // also of several seeds, or of systems side by side
	KindSweep   = "sweep"
	KindFigure  = "figure"
	KindSession = "session"
)

// Kinds are all of them.
var Kinds = []string{KindRun, KindSweep, KindFigure, KindSession}

// ID is the number of a kept run, r12 in words. It is never given to another.
type ID int64

func (id ID) String() string { return "r" + strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes r12.
func (id ID) MarshalJSON() ([]byte, error) { return json.Marshal(id.String()) }

// ParseID reads r12, or r12.3 for the third run in it; n is 0 where none is named.
func ParseID(s string) (id ID, n int, err error) {
	text, part, several := strings.Cut(s, ".")
	number, ok := strings.CutPrefix(text, "r")
	i, perr := strconv.ParseInt(number, 10, 64)
	if several {
		var nerr error
		n, nerr = strconv.Atoi(part)
		ok = ok && nerr == nil && n > 0
	}
	if !ok || perr != nil || i < 1 {
		return 0, 0, &experiment.SpecError{Field: "run", Value: fmt.Sprintf("%.40s", s), Rule: "must be the id of a kept run such as r12, or r12.3 for the third run in it", Next: "drtmx runs lists them"}
	}
	return ID(i), n, nil
}

// Numbers are what a run has come to in short. What is not known, or is of several systems, is absent.
type Numbers struct {
	Throughput     *float64 `json:"throughput,omitempty"`
	ThroughputCI95 *float64 `json:"throughput_ci95,omitempty"` // half of the interval, as a share
	MeanUS         *float64 `json:"mean_us,omitempty"`
	P50US          *float64 `json:"p50_us,omitempty"`
	P90US          *float64 `json:"p90_us,omitempty"`
	P99US          *float64 `json:"p99_us,omitempty"`
	P999US         *float64 `json:"p999_us,omitempty"`
	AbortRate      *float64 `json:"abort_rate,omitempty"`
	Steady         *bool    `json:"steady,omitempty"`
	Checks         *bool    `json:"checks,omitempty"` // nil: not judged
}

// Kept is a kept run.
type Kept struct {
	ID       ID     `json:"id"`
	AtMS     int64  `json:"at_ms"` // when it was kept, since 1970
	Kind     string `json:"kind"`
	Form     string `json:"form"`  // what Document is: run, seeds, systems, sweep, figure or session
	About    string `json:"about"` // in a few words
	Workload string `json:"workload"`
	Preset   string `json:"preset"`
	Profile  string `json:"profile"`
	Seed     *int64 `json:"seed,omitempty"`
	Code     string `json:"code"`
	Digest   string `json:"digest"`
	Points   int    `json:"points"` // runs in it
	WallMS   int64  `json:"wall_ms"`
	Note     string `json:"note"`
	Numbers

	// Identity is of a sweep or figure: what is computed again takes the same row. "": every time a new one.
	Identity string          `json:"-"`
	Spec     json.RawMessage `json:"-"` // knobs, resolved
	Document json.RawMessage `json:"-"` // without its results
	// Recording is a session file, of a session; it is read by Recording.
	Recording []byte `json:"-"`
}

// At is when it was kept.
func (k *Kept) At() time.Time { return time.UnixMilli(k.AtMS) }

// Member is a run in a kept one. With a body it is kept with it; without it is the point of the cache with this key.
type Member struct {
	Key  string
	Body []byte
}

// Keep adds a kept run and returns its id. When it returns, the run is on the disk.
func (s *Store) Keep(k Kept, members []Member) (ID, error) {
	for _, m := range members {
		if !isKey(m.Key) {
			return 0, fmt.Errorf("runs: key %q is not one of Key", m.Key)
		}
		if len(m.Body) > EntryLimitBytes {
			return 0, ErrTooLarge
		}
	}
	k.Points = max(k.Points, len(members))
	if k.AtMS == 0 {
		k.AtMS = now()
	}
	if k.Document == nil {
		k.Document = json.RawMessage("{}")
	}
	if k.Spec == nil {
		k.Spec = json.RawMessage("{}")
	}
	var id ID
	err := s.durably(func() error {
		return s.change(context.Background(), func(tx *sql.Tx) (err error) {
			id, err = keep(tx, &k, members)
			return err
		})
	})
	return id, s.says(err)
}

// durably runs a change that is on the disk when it ends.
func (s *Store) durably(f func() error) error {
	s.durable.Lock()
	defer s.durable.Unlock()
	if _, err := s.db.Exec("PRAGMA synchronous = " + s.durability(true)); err != nil {
		return err
	}
	defer s.db.Exec("PRAGMA synchronous = " + s.durability(false)) // where it fails, others only take longer
	return f()
}

func keep(tx *sql.Tx, k *Kept, members []Member) (ID, error) {
	var identity any
	if k.Identity != "" {
		identity = k.Identity
		// The note of the row that it replaces stays, unless there is a new one, and so does its id.
		var old int64
		var note string
		err := tx.QueryRow("SELECT id, note FROM runs WHERE identity = ?", k.Identity).Scan(&old, &note)
		switch {
		case err == nil:
			k.ID = ID(old)
			if k.Note == "" {
				k.Note = note
			}
			if err := remove(tx, k.ID); err != nil {
				return 0, err
			}
		case err != sql.ErrNoRows:
			return 0, err
		}
	}
	var own any
	if k.ID != 0 {
		own = int64(k.ID)
	}
	r, err := tx.Exec(`INSERT INTO runs (id, identity, at, kind, form, about, workload, preset, profile, seed, code, digest, points, wall_ms, note,
		throughput, throughput_ci95, mean_us, p50_us, p90_us, p99_us, p999_us, abort_rate, steady, checks, spec, document)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		own, identity, k.AtMS, k.Kind, k.Form, k.About, k.Workload, k.Preset, k.Profile, k.Seed, k.Code, k.Digest, k.Points, k.WallMS, k.Note,
		k.Throughput, k.ThroughputCI95, k.MeanUS, k.P50US, k.P90US, k.P99US, k.P999US, k.AbortRate, k.Steady, k.Checks, string(k.Spec), string(k.Document))
	if err != nil {
		return 0, err
	}
	n, err := r.LastInsertId()
	if err != nil {
		return 0, err
	}
	if k.Recording != nil {
		if err := putRecording(tx, n, k.Recording); err != nil {
			return 0, err
		}
	}
	for i, m := range members {
		if m.Body != nil {
			if err := putPoint(tx, m.Key, m.Body, true); err != nil {
				return 0, err
			}
		}
		if _, err := tx.Exec("INSERT INTO members (run, n, key) VALUES (?, ?, ?)", n, i+1, m.Key); err != nil {
			return 0, err
		}
	}
	return ID(n), nil
}

// putRecording keeps a session file as the member before the first.
func putRecording(tx *sql.Tx, run int64, body []byte) error {
	key, err := Key("recording", string(body))
	if err != nil {
		return err
	}
	if err := putPoint(tx, key, body, true); err != nil {
		return err
	}
	_, err = tx.Exec("INSERT INTO members (run, n, key) VALUES (?, 0, ?)", run, key)
	return err
}

// remove takes a run away, and those of its points that were kept with it and are no other's.
func remove(tx *sql.Tx, id ID) error {
	_, err := tx.Exec(`DELETE FROM points WHERE kept = 1 AND key IN (SELECT key FROM members WHERE run = ?1)
		AND NOT EXISTS (SELECT 1 FROM members m WHERE m.key = points.key AND m.run <> ?1)`, int64(id))
	if err == nil {
		_, err = tx.Exec("DELETE FROM runs WHERE id = ?", int64(id))
	}
	return err
}

// columns are those of a row of a list, in the order of scan.
const columns = `id, at, kind, form, about, workload, preset, profile, seed, code, digest, points, wall_ms, note,
	throughput, throughput_ci95, mean_us, p50_us, p90_us, p99_us, p999_us, abort_rate, steady, checks`

func (k *Kept) scan(row interface{ Scan(...any) error }, more ...any) error {
	return row.Scan(append([]any{(*int64)(&k.ID), &k.AtMS, &k.Kind, &k.Form, &k.About, &k.Workload, &k.Preset, &k.Profile, &k.Seed, &k.Code, &k.Digest, &k.Points, &k.WallMS, &k.Note,
		&k.Throughput, &k.ThroughputCI95, &k.MeanUS, &k.P50US, &k.P90US, &k.P99US, &k.P999US, &k.AbortRate, &k.Steady, &k.Checks}, more...)...)
}

// Find is a kept run with its spec and document.
func (s *Store) Find(id ID) (*Kept, error) {
	k := &Kept{}
	var spec, document string
	err := k.scan(s.db.QueryRow("SELECT "+columns+", spec, document FROM runs WHERE id = ?", int64(id)), &spec, &document)
	if err == sql.ErrNoRows {
		return nil, &NoRunError{id.String(), "drtmx runs lists those that are"}
	}
	k.Spec, k.Document = json.RawMessage(spec), json.RawMessage(document)
	return k, s.says(err)
}

// Members are the results of the runs in a kept one, in their order; nil where a point is gone from the cache.
func (s *Store) Members(id ID) ([][]byte, error) {
	rows, err := s.db.Query("SELECT key FROM members WHERE run = ? AND n > 0 ORDER BY n", int64(id))
	if err != nil {
		return nil, s.says(err)
	}
	keys, err := texts(rows)
	if err != nil {
		return nil, s.says(err)
	}
	var out [][]byte
	for _, k := range keys {
		body, _ := s.Get(k)
		out = append(out, body)
	}
	return out, nil
}

// Member is the result of the run with this number, from 1, in a kept one.
func (s *Store) Member(id ID, n int) ([]byte, error) {
	var key string
	err := s.db.QueryRow("SELECT key FROM members WHERE run = ? AND n = ?", int64(id), n).Scan(&key)
	if err == sql.ErrNoRows {
		return nil, &NoRunError{fmt.Sprintf("%v.%d", id, n), fmt.Sprintf("drtmx runs show %v says how many there are", id)}
	}
	if err != nil {
		return nil, s.says(err)
	}
	body, ok := s.Get(key)
	if !ok {
		return nil, &NoRunError{fmt.Sprintf("%v.%d", id, n), "its result has left the cache of points, and is computed again with its sweep or figure"}
	}
	return body, nil
}

// Recording is the session file of a session; false where none was kept.
func (s *Store) Recording(id ID) ([]byte, bool) {
	var key string
	if s.db.QueryRow("SELECT key FROM members WHERE run = ? AND n = 0", int64(id)).Scan(&key) != nil {
		return nil, false
	}
	return s.Get(key)
}

// texts reads a column of text and closes the rows.
func texts(rows *sql.Rows) (out []string, err error) {
	defer rows.Close()
	for rows.Next() {
		var x string
		if err := rows.Scan(&x); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// Note replaces the note of a kept run.
func (s *Store) Note(id ID, text string) error {
	var n int64
	err := s.durably(func() error {
		r, err := s.db.Exec("UPDATE runs SET note = ? WHERE id = ?", text, int64(id))
		if err == nil {
			n, err = r.RowsAffected()
		}
		return err
	})
	if err == nil && n == 0 {
		return &NoRunError{id.String(), "drtmx runs lists those that are"}
	}
	return s.says(err)
}
