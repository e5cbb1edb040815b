package runs

import (
	"context"
	"database/sql"
	"fmt"
)

// Garbage says what Collect removes.
type Garbage struct {
	// IDs are kept runs that go.
	IDs []ID
	// All chooses by the filter instead; its Until is the latest time of one that goes.
	All bool
	Filter
	// KeepNotes spares those with a note.
	KeepNotes bool
	// Points also removes points of the cache that were not used since Until.
	Points bool
	// Dry only counts.
	Dry bool
}

// Collected is what was removed, or would be.
type Collected struct {
	Runs   []Kept `json:"runs"`
	Points int    `json:"points"`     // of the cache
	Bytes  int64  `json:"bytes"`      // of results and recordings
	File   int64  `json:"file_bytes"` // by which the file became shorter
	Dry    bool   `json:"dry_run"`
}

// Collect removes kept runs, points of the cache and what is of no run, and shortens the file.
func (s *Store) Collect(ctx context.Context, g Garbage) (*Collected, error) {
	before, err := s.Size()
	if err != nil {
		return nil, err
	}
	out := &Collected{Runs: []Kept{}, Dry: g.Dry}
	if out.Runs, err = s.garbage(g); err != nil {
		return nil, err
	}
	s.touch()
	err = s.durably(func() error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := out.collect(tx, g); err != nil {
			return err
		}
		if g.Dry {
			return nil
		}
		return tx.Commit()
	})
	if err != nil || g.Dry {
		return out, s.says(err)
	}
	s.mu.Lock()
	s.bytes = -1
	s.mu.Unlock()
	return out, s.shorten(ctx, before.FileBytes, out)
}

// garbage are the kept runs that go.
func (s *Store) garbage(g Garbage) ([]Kept, error) {
	out := []Kept{}
	for _, id := range g.IDs {
		k, err := s.Find(id)
		if err != nil {
			return nil, err
		}
		out = append(out, *k)
	}
	if !g.All {
		return out, nil
	}
	list, err := s.List(g.Filter)
	for _, k := range list {
		if k.Note == "" || !g.KeepNotes {
			out = append(out, k)
		}
	}
	return out, err
}

func (c *Collected) collect(tx *sql.Tx, g Garbage) error {
	const held = "SELECT count(*), coalesce(sum(bytes), 0) FROM points"
	var n int
	var before, after int64
	if err := tx.QueryRow(held).Scan(&n, &before); err != nil {
		return err
	}
	for _, k := range c.Runs {
		if err := remove(tx, k.ID); err != nil {
			return err
		}
	}
	if g.Points {
		r, err := tx.Exec("DELETE FROM points WHERE kept = 0 AND used <= ?", g.Until.UnixMilli())
		if err != nil {
			return err
		}
		gone, err := r.RowsAffected()
		if err != nil {
			return err
		}
		c.Points = int(gone)
	}
	if err := tx.QueryRow(held).Scan(&n, &after); err != nil {
		return err
	}
	c.Bytes = before - after
	return nil
}

// shorten gives pages that are free back to the disk.
func (s *Store) shorten(ctx context.Context, before int64, c *Collected) error {
	var first error
	for _, text := range []string{"PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err := drain(s.db.QueryContext(ctx, text)); err != nil && first == nil {
			first = fmt.Errorf("shorten: %w", err)
		}
	}
	after, err := s.Size()
	if err != nil {
		return err
	}
	c.File = max(0, before-after.FileBytes)
	return s.says(first)
}

// drain reads rows to their end, which is what runs a pragma.
func drain(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
