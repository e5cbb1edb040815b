package runs

import (
	"strings"
	"time"
)

// Filter chooses kept runs. The zero value is all of them.
type Filter struct {
	Kind     string
	Workload string
	Preset   string
	Since    time.Time
	Until    time.Time
	Note     string // a part of the note, in any case of its letters
	Limit    int    // 0: all
}

// List are the chosen runs, the latest first, without their specs and documents.
func (s *Store) List(f Filter) ([]Kept, error) {
	text, args := f.query(columns)
	rows, err := s.db.Query(text, args...)
	if err != nil {
		return nil, s.says(err)
	}
	defer rows.Close()
	out := []Kept{}
	for rows.Next() {
		var k Kept
		if err := k.scan(rows); err != nil {
			return nil, s.says(err)
		}
		out = append(out, k)
	}
	return out, s.says(rows.Err())
}

// query is the statement of a filter. Its order is that of an index, which ends with the id.
func (f Filter) query(columns string) (text string, args []any) {
	where, until := []string{"at >= ?", "at <= ?"}, f.Until
	if until.IsZero() {
		until = time.UnixMilli(1 << 52)
	}
	since := int64(0)
	if !f.Since.IsZero() {
		since = f.Since.UnixMilli()
	}
	args = append(args, since, until.UnixMilli())
	for _, c := range []struct{ column, value string }{{"kind", f.Kind}, {"workload", f.Workload}, {"preset", f.Preset}} {
		if c.value != "" {
			where, args = append(where, c.column+" = ?"), append(args, c.value)
		}
	}
	if f.Note != "" {
		where, args = append(where, `note LIKE ? ESCAPE '\'`), append(args, "%"+likeText.Replace(f.Note)+"%")
	}
	text = "SELECT " + columns + " FROM runs WHERE " + strings.Join(where, " AND ") + " ORDER BY at DESC, id DESC"
	if f.Limit > 0 {
		text, args = text+" LIMIT ?", append(args, f.Limit)
	}
	return text, args
}

// likeText takes from letters what they mean in LIKE.
var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// Size is what a store holds.
type Size struct {
	Runs       int   `json:"runs"`
	KeptBytes  int64 `json:"kept_bytes"`  // results and recordings of kept runs
	Points     int   `json:"points"`      // of the cache
	PointBytes int64 `json:"point_bytes"` // of the cache
	FileBytes  int64 `json:"file_bytes"`
	FreeBytes  int64 `json:"free_bytes"` // of the file, to be used again
}

// Size counts what the store holds.
func (s *Store) Size() (z Size, err error) {
	err = s.db.QueryRow(`SELECT (SELECT count(*) FROM runs), (SELECT coalesce(sum(bytes), 0) FROM points WHERE kept = 1), count(*), coalesce(sum(bytes), 0),
		(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size), (SELECT freelist_count FROM pragma_freelist_count) * (SELECT page_size FROM pragma_page_size)
		FROM points WHERE kept = 0`).Scan(&z.Runs, &z.KeptBytes, &z.Points, &z.PointBytes, &z.FileBytes, &z.FreeBytes)
	return z, s.says(err)
}
