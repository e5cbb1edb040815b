package dashboard

import (
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// Every address that the page asks has a row of parameters, and whatever a row does not know is refused with its name, its value
// and what there is.
func TestQueriesAreChecked(t *testing.T) {
	h := Handler(newFake(t))
	refused := func(address string, says ...string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", address, nil))
		for _, text := range says {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: %d, %q does not say %q", address, w.Code, w.Body, text)
			}
		}
		if want := 400; w.Code != want {
			t.Errorf("%s: %d, want %d", address, w.Code, want)
		}
	}
	for path, params := range queries { // order-free: each by itself
		refused(path+"?nonsense=17", "nonsense", "17", "no parameter of this address", "leave it out")
		for _, p := range params {
			switch p.Name {
			case "sys", "id", "a", "b", "v", "metric", "beside", "what", "words": // texts: names that there are not, are not found
				refused(path+"?"+p.Name+"="+strings.Repeat("x", 3000), p.Name, "bytes")
			default:
				refused(path+"?"+p.Name+"=-7.5", p.Name, "-7.5", p.Rule, p.Next)
			}
			refused(path+"?"+p.Name+"=1&"+p.Name+"=1", p.Name, "given 2 times")
		}
	}
	refused("/page/timeline?w=%zz", "query", "cannot be read")
	refused("/page/timeline?w=1;h=2", "query", "cannot be read")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest("GET", "/page/timeline?sys=z", nil)); w.Code != 404 || !strings.Contains(w.Body.String(), `z`) {
		t.Errorf("of a system that is not: %d %q", w.Code, w.Body)
	}
	files, err := fs.Glob(embedded, "web/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	asked := 0
	for _, name := range files {
		text, err := fs.ReadFile(embedded, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("[`\"](/page/[a-z/.]+)").FindAllStringSubmatch(string(text), -1) {
			asked++
			if _, ok := queries[m[1]]; !ok {
				t.Errorf("%s asks %s, which has no row", name, m[1])
			}
		}
	}
	if asked < 20 {
		t.Errorf("the page asks %d addresses", asked)
	}
}
