package runs

import (
	"context"
	"database/sql"
	"fmt"
)

// version is that of the schema, in the file's user_version. A change that an older drtmx cannot read or would damage
// raises it, and adds the way from the version before to upgrade.
const version = 1

// application marks the file as a run store, in its application_id: "drtx".
const application = 0x64727478

// schema of version 1. Points have their bodies in a table of their own rows; body comes last, so that a row's other
// columns are read without it. Every order in which runs are listed has an index, which ends with the row's id.
const schema = `
CREATE TABLE points (
  id    INTEGER PRIMARY KEY,
  key   TEXT    NOT NULL UNIQUE,
  kept  INTEGER NOT NULL,           -- 1: belongs to a kept run, and goes only with it
  used  INTEGER NOT NULL,           -- when it was written or read last, in ms since 1970
  bytes INTEGER NOT NULL,           -- length of body
  sum   BLOB    NOT NULL,           -- SHA-256 of key and body
  body  BLOB    NOT NULL            -- JSON, mostly a result as drtmx run --json prints it
);
CREATE INDEX points_used ON points (kept, used, bytes);

CREATE TABLE runs (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
  at       INTEGER NOT NULL,                  -- when it was kept, in ms since 1970
  kind     TEXT    NOT NULL CHECK (kind IN ('run', 'sweep', 'figure', 'session')),
  form     TEXT    NOT NULL,                  -- what document is: run, seeds, systems, sweep, figure, session
  about    TEXT    NOT NULL,                  -- in a few words
  identity TEXT    UNIQUE,                    -- of a sweep or figure: computed again, it takes the same row
  workload TEXT    NOT NULL,
  preset   TEXT    NOT NULL,
  profile  TEXT    NOT NULL,
  seed     INTEGER,
  code     TEXT    NOT NULL,
  digest   TEXT    NOT NULL,
  points   INTEGER NOT NULL,                  -- runs in it
  wall_ms  INTEGER NOT NULL,
  note     TEXT    NOT NULL,
  -- Of one run, or the means of its seeds; NULL where there are several systems or points, or it is not known.
  throughput      REAL, -- per virtual second
  throughput_ci95 REAL, -- half of the interval, as a share
  mean_us REAL, p50_us REAL, p90_us REAL, p99_us REAL, p999_us REAL,
  abort_rate REAL,
  steady INTEGER,
  checks INTEGER,       -- 1 passed, 0 failed, NULL not judged
  spec     TEXT NOT NULL, -- resolved, as a JSON object of knobs
  document TEXT NOT NULL  -- JSON without the results, which are points
);
CREATE INDEX runs_at       ON runs (at);
CREATE INDEX runs_kind     ON runs (kind, at);
CREATE INDEX runs_workload ON runs (workload, at);
CREATE INDEX runs_preset   ON runs (preset, at);

CREATE TABLE members (
  run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  n   INTEGER NOT NULL, -- from 1; 0 is the recording of a session
  key TEXT    NOT NULL, -- of its point, which may be gone unless it is kept
  PRIMARY KEY (run, n)
) WITHOUT ROWID;
CREATE INDEX members_key ON members (key);

-- The results of kept runs, for queries: result ->> '$.latency_us.p99'.
CREATE VIEW results AS
  SELECT m.run AS run, m.n AS n, CAST(p.body AS TEXT) AS result, json_extract(CAST(p.body AS TEXT), '$.latency_histogram') AS histogram
  FROM members m JOIN points p ON p.key = m.key WHERE m.n > 0;
`

// upgrade makes the schema of a new file, and refuses what is no run store and what a newer drtmx wrote.
func upgrade(ctx context.Context, db *sql.DB) error {
	if is, err := current(ctx, db); is || err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil) // takes the lock for writing: another process may be doing the same
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if is, err := current(ctx, tx); is || err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", application, version))
	if err != nil {
		return err
	}
	return tx.Commit()
}

// current says that the schema is there in this version.
func current(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (bool, error) {
	var app, is, tables int
	err := db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").Scan(&app, &is, &tables)
	switch {
	case err != nil:
		return false, err
	case app != application && tables > 0:
		return false, errNoStore
	case is > version:
		return false, fmt.Errorf("%w: schema %d, this one knows %d; use that drtmx, or name another file with --runs", ErrNewer, is, version)
	}
	return is == version, nil
}
