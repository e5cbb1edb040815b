// Package table is the table of notebooks: of a sweep, of results, of the run store, of a user's own numbers. It shows itself, answers
// SQL, takes further columns, draws its columns, and is written as CSV and Parquet.
//
//	t := s.Table("throughput", "latency_us.p99")
//	t.Query("SELECT * FROM t WHERE throughput > 2e6")
//	t.Line("coroutines", "throughput").Save("curve.pdf")
//
// A table does not change: what adds a column or filters rows returns another. Calls that cannot do what they say panic with a Failure,
// which fails the cell of a notebook with one line.
//
// Caveat: columns are held in memory, a cell as an any. A table of a million rows takes some hundred megabytes.
package table
