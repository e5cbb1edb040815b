package dashboard

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// The handbook is served: topics in order, a page with its pictures, and what a search finds.
func TestHandbookIsServed(t *testing.T) {
	h := Handler(newFake(t))
	var page struct {
		Topics []handbookTopic
		HTML   string
	}
	if err := json.Unmarshal(get(t, h, "/page/help?id=cache").Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Topics) < 16 || page.Topics[0].Name != "concepts" || !strings.Contains(page.HTML, `src="page/help/pictures/xcache.png"`) {
		t.Errorf("%d topics, %.200s", len(page.Topics), page.HTML)
	}
	if w := get(t, h, "/page/help/pictures/xcache.png"); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "image/png" || w.Body.Len() < 1000 {
		t.Errorf("the picture: %d, %v", w.Code, w.Header())
	}
	if body := get(t, h, "/page/help/search?words=write%20amplification").Body.String(); !strings.Contains(body, `"page":"nvm"`) {
		t.Errorf("%s", body)
	}
	if body := get(t, h, "/page/help/search?words=").Body.String(); strings.TrimSpace(body) != "[]" {
		t.Errorf("no words: %s", body)
	}
	for _, url := range []string{"/page/help?id=nope", "/page/help/pictures/nope.png", "/page/help/pictures/concepts.md"} {
		if w := get(t, h, url); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", url, w.Code)
		}
	}
}
