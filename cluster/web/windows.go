package web

import (
	"bytes"
	"encoding/csv"
	"net/url"
	"strconv"

	"drtmx/engine/result"
)

// moment is a virtual time that was checked, missing where none is given.
func moment(text string, missing int64) int64 {
	if n, err := Nanoseconds(text); err == nil {
		return n
	}
	return missing
}

var csvHead = []string{"t0_ns", "t1_ns", "knobs_version", "throughput", "commits", "aborts", "rollbacks", "abort_rate",
	"mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "round_trips_per_txn", "in_flight", "bottleneck", "bottleneck_node", "bottleneck_utilization", "failed", "lost", "empty", "uncounted"}

func windowsCSV(ws []result.Window) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(csvHead); err != nil {
		return nil, err
	}
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	opt := func(x float64) string { // a percentile without enough samples
		if x == 0 {
			return ""
		}
		return f(x)
	}
	n := func(x uint64) string { return strconv.FormatUint(x, 10) }
	for _, x := range ws {
		l := x.LatencyUS
		row := []string{strconv.FormatInt(x.T0NS, 10), strconv.FormatInt(x.T1NS, 10), strconv.Itoa(x.KnobsVersion), f(x.Throughput),
			n(x.Commits), n(x.Aborts), n(x.Rollbacks), f(x.AbortRate), opt(l.Mean), opt(l.P50), opt(l.P90), opt(l.P99), opt(l.P999), opt(l.Max),
			f(x.RoundTripsPerTxn), f(x.InFlight), "", "", "", n(x.Failed), n(x.Lost), n(x.Empty), n(x.Uncounted)}
		if x.Bottleneck != nil {
			row[16], row[17], row[18] = x.Bottleneck.Resource, strconv.Itoa(x.Bottleneck.Node), f(x.Bottleneck.Utilization)
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// windowsQuery asks for windows within a span of virtual time.
type windowsQuery struct {
	FromNS, ToNS int64
	Format       string
}

// timeEnd is later than any virtual time.
const timeEnd = 1 << 62

func (w *windowsQuery) params() Params {
	return Params{Moment("from"), Moment("to"), OneOf("format", "json", "csv")}
}

func (w *windowsQuery) read(q url.Values) {
	w.FromNS, w.ToNS, w.Format = moment(q.Get("from"), 0), moment(q.Get("to"), timeEnd), q.Get("format")
}

func (w *windowsQuery) write(q url.Values) {
	q.Set("from", strconv.FormatInt(w.FromNS, 10))
	q.Set("to", strconv.FormatInt(w.ToNS, 10))
}

func (s *server) windows(c call, in windowsQuery) ([]result.Window, error) {
	ws, err := s.jobs.Windows(c, c.sys, 0)
	if err != nil {
		return nil, err
	}
	kept := []result.Window{}
	for _, w := range ws {
		if w.T0NS >= in.FromNS && w.T1NS <= in.ToNS {
			kept = append(kept, w)
		}
	}
	return kept, nil
}

func windowsFile(in windowsQuery, ws []result.Window) (file, bool, error) {
	if in.Format != "csv" {
		return file{}, false, nil
	}
	b, err := windowsCSV(ws)
	return file{"text/csv; charset=utf-8", "windows.csv", b}, true, err
}
