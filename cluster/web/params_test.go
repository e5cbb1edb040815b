package web

import (
	"strings"
	"testing"

	"drtmx/cluster/system/systemtest"
)

// No route takes a parameter that it does not know, or a value that is none of its, in silence.
func TestQueriesAreChecked(t *testing.T) {
	s := web(t, agentOf(t, systemtest.Tiny()), Options{})
	refused := func(method, address, body string, says ...string) {
		t.Helper()
		for _, text := range says {
			ask(t, s, method, address, body).want(t, 400, text)
		}
	}
	for _, row := range table {
		method, path, _ := strings.Cut(row.pattern(), " ")
		path = strings.ReplaceAll(path, "{id}", "r1")
		refused(method, path+"?nonsense=17", "{}", "nonsense", "17", "no parameter of this address", "leave it out")
		refused(method, path+"?sys="+strings.Repeat("x", 300), "{}", "sys", "at most 200 bytes")
		refused(method, path+"?sys=%zz", "{}", "query", "cannot be read")
		if method != "PATCH" {
			refused(method, path+"?sys=a&sys=b", "{}", "sys", "given 2 times")
		}
	}
	for address, says := range map[string]string{ // order-free: each by itself
		"/api/windows?from=-1":                        "must be virtual nanoseconds from 0",
		"/api/windows?to=x":                           "must be virtual nanoseconds from 0",
		"/api/windows?format=xml":                     "must be json or csv",
		"/api/history?format=xml":                     "must be jsonl",
		"/api/history?to=-1":                          "must be virtual nanoseconds from 0",
		"/api/history?until=5":                        "no parameter of this address",
		"/api/nodes?measured=yes":                     "must be false or true",
		"/api/runs?kind=runs":                         "must be run, sweep, figure or session",
		"/api/runs?limit=1.5":                         "must be a whole number from 1 to 200",
		"/api/runs?since_ms=yesterday":                "must be milliseconds since 1970",
		"/api/runs?until_ms=-3":                       "must be milliseconds since 1970",
		"/ws?since=x":                                 "must be the seq of the last frame",
		"/ws?from=3":                                  "no parameter of this address",
		"/api/runs?note=" + strings.Repeat("n", 3000): "at most 2000 bytes",
	} {
		field, _, _ := strings.Cut(address[strings.Index(address, "?")+1:], "=")
		refused("GET", address, "", says, field)
	}
}
