package dashboard

import (
	"net/http"

	"drtmx/cluster/handbook"
)

// help adds the routes of the handbook.
func (p *page) help(mux *http.ServeMux) {
	mux.HandleFunc("GET /page/help", handbookPage)
	mux.HandleFunc("GET /page/help/search", handbookSearch)
	mux.HandleFunc("GET /page/help/pictures/{name}", handbookPicture)
}

// mostHits are as many as a reader looks through.
const mostHits = 40

// handbookTopic is a page in the list of them.
type handbookTopic struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// handbookPage is the list of pages, and the text of the one that is named.
func handbookPage(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Topics []handbookTopic `json:"topics"`
		HTML   string          `json:"html,omitempty"`
	}{}
	for _, p := range handbook.Pages() {
		out.Topics = append(out.Topics, handbookTopic{p.Name, p.Title, p.Summary})
	}
	if name := r.URL.Query().Get("id"); name != "" {
		p, ok := handbook.Get(name)
		if !ok {
			http.Error(w, "page: the handbook has no page "+name, http.StatusNotFound)
			return
		}
		html, err := p.HTML("page/help/pictures/")
		if err != nil {
			fail(w, err)
			return
		}
		out.HTML = html
	}
	answer(w, out)
}

// handbookSearch are the parts of pages that have all words.
func handbookSearch(w http.ResponseWriter, r *http.Request) {
	answer(w, append([]handbook.Hit{}, handbook.Search(r.URL.Query().Get("words"), mostHits)...))
}

func handbookPicture(w http.ResponseWriter, r *http.Request) {
	b, ok := handbook.Picture(r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Header().Set("Cache-Control", "no-cache")
	w.Write(b)
}
