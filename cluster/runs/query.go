package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"drtmx/engine/experiment"
)

// Answer is what a query gives: rows of int64, float64, string or nil.
type Answer struct {
	Columns []string
	Rows    [][]any
}

// answerMost bounds the rows of an answer, which is held in memory.
const answerMost = 1_000_000

// Query runs one statement of SQL that only reads. The file is opened for reading, and every operation of the statement
// is authorised: nothing is written, attached or configured.
func (s *Store) Query(ctx context.Context, text string) (*Answer, error) {
	if err := oneStatement(text); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", s.address("ro", "_query_only=1"))
	if err != nil {
		return nil, s.says(err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, s.says(err)
	}
	defer conn.Close()
	out, err := ask(ctx, conn, text)
	if err != nil {
		return nil, s.refused(err)
	}
	return out, nil
}

// ask runs a statement that may only read.
func ask(ctx context.Context, conn *sql.Conn, text string) (*Answer, error) {
	if err := conn.Raw(authorise); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := &Answer{}
	if out.Columns, err = rows.Columns(); err != nil {
		return nil, err
	}
	for rows.Next() {
		if len(out.Rows) == answerMost {
			return nil, &experiment.SpecError{Field: "query", Rule: fmt.Sprintf("has more than %d rows", answerMost), Next: "add LIMIT"}
		}
		row, places := make([]any, len(out.Columns)), make([]any, len(out.Columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i := range row {
			if b, ok := row[i].([]byte); ok {
				row[i] = string(b)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out, rows.Err()
}

// authorise lets a connection do what reading takes.
func authorise(connection any) error {
	c, ok := connection.(sqlite.AuthorizerRegisterer)
	if !ok {
		return errors.New("this SQLite has no authorizer")
	}
	return c.RegisterAuthorizer(func(action sqlite.AuthorizerActionCode, first, second, _, _ string) sqlite.AuthorizerReturnCode {
		switch action {
		case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
			return sqlite.AuthorizerOK
		case sqlite.AuthFunction:
			if !strings.EqualFold(second, "load_extension") {
				return sqlite.AuthorizerOK
			}
		}
		return sqlite.AuthorizerDeny
	})
}

// refused is the error of a statement of the user's.
func (s *Store) refused(err error) error {
	if wrong := statementError(err); wrong != nil {
		if wrong.Next == "" {
			wrong.Next = "drtmx runs query --help lists tables and columns"
		}
		return wrong
	}
	var wrong *experiment.SpecError
	if errors.Is(err, context.Canceled) || errors.As(err, &wrong) {
		return err
	}
	return s.says(err)
}

// statementError is what is wrong with a statement, nil if the error is another's.
func statementError(err error) *experiment.SpecError {
	switch code(err) {
	case sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY:
		return &experiment.SpecError{Field: "query", Rule: "may only read", Next: "begin with SELECT"}
	case sqlite3.SQLITE_ERROR:
		text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "SQL logic error: ")
		return &experiment.SpecError{Field: "query", Rule: strings.TrimSuffix(text, " (1)")}
	}
	return nil
}

// oneStatement refuses no statement and several: a semicolon with more than space and comments behind it.
func oneStatement(text string) error {
	empty, ended := true, false
	for rest := text; rest != ""; {
		n, kind := token(rest)
		switch {
		case kind == ' ':
		case kind == ';':
			ended = !empty
		case ended:
			return &experiment.SpecError{Field: "query", Rule: "is more than one statement", Next: "give one at a time"}
		default:
			empty = false
		}
		rest = rest[n:]
	}
	if empty {
		return &experiment.SpecError{Field: "query", Rule: "is empty", Next: `as in drtmx runs query "SELECT id, throughput FROM runs"`}
	}
	return nil
}

// token is the length of the first token of some SQL and what it is: ' ' for space and comments, ';', or 'x' for all else,
// of which only the end of quoted text matters here.
func token(s string) (n int, kind byte) {
	until := func(end string, skip int) int {
		if i := strings.Index(s[skip:], end); i >= 0 {
			return skip + i + len(end)
		}
		return len(s)
	}
	switch {
	case strings.HasPrefix(s, "--"):
		return until("\n", 2), ' '
	case strings.HasPrefix(s, "/*"):
		return until("*/", 2), ' '
	case strings.ContainsRune(" \t\r\n\f", rune(s[0])):
		return 1, ' '
	case s[0] == ';':
		return 1, ';'
	case s[0] == '\'', s[0] == '"', s[0] == '`':
		return until(s[:1], 1), 'x' // a quote that is doubled begins the next token
	case s[0] == '[':
		return until("]", 1), 'x'
	}
	return 1, 'x'
}
