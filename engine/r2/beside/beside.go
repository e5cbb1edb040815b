// Package beside has what travels beside the answer to a call: what the simulator knows, and no byte of a message says.
//
// That is where the time of the request went, for the caller to attribute, and the notes of its handler: at which record two transactions
// have met, which version was read. It takes no virtual time, and nothing that a protocol does may depend on it.
//
// It is kept with the answer, on the machine that has given it. Its number travels with each copy of the answer that is sent, beside the
// bytes, and by that the caller finds it. So an answer that is sent twice has one, and what is lost or given up has none. Nothing changes
// it until the caller is known to have the answer.
package beside

import "drtmx/engine/metrics"

// Answer is what travels beside one answer.
type Answer struct {
	Stamp metrics.Stamp // of the way there, and of the handler
	Notes []uint64
}

// Set makes it another one's, whose notes it copies.
func (a *Answer) Set(from *Answer) {
	a.Stamp, a.Notes = from.Stamp, append(a.Notes[:0], from.Notes...)
}

// Pad is where the handlers that run on a coroutine write their notes, one within the other.
type Pad struct {
	notes []uint64
	from  int // of the innermost handler
	depth int // handlers
}

// Annotate notes what a handler knows and its answer does not say. The coroutine that has called finds its notes in their order, by
// Reply.Note. Who posts passively gets none.
func (p *Pad) Annotate(note uint64) {
	if p.depth == 0 {
		panic("r2: a note by a coroutine that serves no request")
	}
	p.notes = append(p.notes, note)
}

// Begin begins a handler; End takes what it returns.
func Begin(p *Pad) (outer int) {
	outer, p.from = p.from, len(p.notes)
	p.depth++
	return outer
}

// End ends it and returns its notes, which are there until the next.
func End(p *Pad, outer int) []uint64 {
	notes := p.notes[p.from:]
	p.notes, p.from = p.notes[:p.from], outer
	p.depth--
	return notes
}
