package dashboard

import (
	"fmt"
	"net/http"

	"drtmx/cluster/job"
)

// figureSketch answers with a small picture of a figure. Its address names what it is of
// (v), so a browser may keep it.
func (p *page) figureSketch(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("id")
	s, err := p.source.Figure(id)
	if err != nil {
		fail(w, err)
		return
	}
	var wrong error
	body := p.shots.get(id, p.stampOf(&s), func() []byte {
		svg, err := p.source.Sketch(id)
		wrong = err
		return []byte(svg)
	})
	if wrong != nil {
		fail(w, wrong)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "private, max-age=3600")
	w.Write(body)
}

// figureParts answers with what is known of a figure beside its picture.
func (p *page) figureParts(w http.ResponseWriter, r *http.Request) {
	parts, err := p.source.FigureParts(r.URL.Query().Get("id"))
	if err != nil {
		fail(w, err)
		return
	}
	answer(w, parts)
}

// stampOf tells apart what a sketch is of, also from those that another program had under this address.
func (p *page) stampOf(s *job.FigureState) string {
	n := 0 // what is published
	if s.Base != nil {
		n = s.Base.N
	}
	return fmt.Sprintf("%s-%d", p.born, n)
}
