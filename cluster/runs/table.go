package runs

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"drtmx/engine/experiment"
	"drtmx/engine/knob"
)

// insertAtOnce is how many values a statement that fills a table has at most.
const insertAtOnce = 900

// QueryTable runs one statement of SQL that only reads over a table in memory, which is called t. Its columns have a name and
// equally many cells each, as an Answer's. A column whose name has points or the like needs no quotes. Only columns that the
// statement may mean are copied.
func QueryTable(ctx context.Context, columns []string, cells [][]any, text string) (*Answer, error) {
	if err := oneStatement(text); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file::memory:?_dqs=0")
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	defer conn.Close()
	if err := fillTable(ctx, conn, columns, cells, text); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	out, err := ask(ctx, conn, quoted(text, columns))
	if wrong := statementError(err); wrong != nil {
		return nil, unknownColumn(wrong, columns)
	}
	return out, err
}

// fillTable makes the table. A statement that says what all columns are called in no other way has an asterisk.
func fillTable(ctx context.Context, conn *sql.Conn, columns []string, cells [][]any, text string) error {
	text = strings.ToLower(text)
	var names []string
	var kept [][]any
	for i, name := range columns {
		if strings.Contains(text, "*") || strings.Contains(text, strings.ToLower(name)) {
			names, kept = append(names, quote(name)), append(kept, cells[i])
		}
	}
	rows := 0
	if len(cells) > 0 {
		rows = len(cells[0])
	}
	if len(names) == 0 { // as of SELECT count(1)
		names, kept = []string{quote("row")}, [][]any{make([]any, rows)}
	}
	if _, err := conn.ExecContext(ctx, "CREATE TABLE t ("+strings.Join(names, ", ")+")"); err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // of what was committed it does nothing
	each := max(1, insertAtOnce/len(names))
	var insert *sql.Stmt
	for from := 0; from < rows; from += each {
		n := min(each, rows-from)
		if insert == nil || n < each {
			row := "(" + strings.TrimSuffix(strings.Repeat("?,", len(names)), ",") + "),"
			if insert, err = tx.PrepareContext(ctx, "INSERT INTO t VALUES "+strings.TrimSuffix(strings.Repeat(row, n), ",")); err != nil {
				return err
			}
			defer insert.Close()
		}
		values := make([]any, 0, n*len(names))
		for row := from; row < from+n; row++ {
			for _, c := range kept {
				values = append(values, c[row])
			}
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

var plainName = regexp.MustCompile(`^\w+$`)

// quoted puts the names of columns that SQL would take apart into quotes.
func quoted(text string, columns []string) string {
	var parted []string
	for _, name := range columns {
		if !plainName.MatchString(name) {
			parted = append(parted, name)
		}
	}
	slices.SortFunc(parted, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	word := func(b byte) bool {
		return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		n, kind := token(text[at:])
		if kind == 'x' && n == 1 && (at == 0 || !word(text[at-1])) {
			i := slices.IndexFunc(parted, func(name string) bool {
				end := at + len(name)
				return end <= len(text) && strings.EqualFold(text[at:end], name) && (end == len(text) || !word(text[end]))
			})
			if i >= 0 {
				b.WriteString(quote(parted[i]))
				at += len(parted[i])
				continue
			}
		}
		b.WriteString(text[at : at+n])
		at += n
	}
	return b.String()
}

// unknownColumn says of a name that is no column what was meant.
func unknownColumn(wrong *experiment.SpecError, columns []string) *experiment.SpecError {
	for _, prefix := range []string{"no such column: ", "no such table: "} {
		name, ok := strings.CutPrefix(wrong.Rule, prefix)
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, " - should this be a string literal")
		if prefix == "no such table: " {
			wrong.Field, wrong.Value, wrong.Rule, wrong.Next = "table", name, "no such table", "the table is called t, as in SELECT * FROM t"
			return wrong
		}
		wrong.Field, wrong.Value, wrong.Rule = "column", strings.Trim(name, `"`), "no such column"+knob.DidYouMean(strings.Trim(name, `"`), columns)
		wrong.Next = "Columns() lists them"
	}
	if wrong.Next == "" {
		wrong.Next = "the table is called t, as in SELECT * FROM t"
	}
	return wrong
}
