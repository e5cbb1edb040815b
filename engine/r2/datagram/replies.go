package datagram

import "drtmx/engine/r2/beside"

// Kept is a reply that the requester may ask for again.
type Kept struct {
	Message []byte
	Beside  uint32 // number of what travels beside it
	How     uint8  // see Header.Lag
	ok      bool
	Sent    uint16 // segments, of a long one
}

// Replies are those that are kept, by sequence number. It grows from nothing.
type Replies struct {
	KeptFrom uint32
	list     []Kept
}

// Keep stores a reply, with what is kept beside it, until the requester is known to have it.
func (r *Replies) Keep(seq uint32, message []byte, x uint32) *Kept {
	for n := uint32(len(r.list)); seq-r.KeptFrom >= n; n = uint32(len(r.list)) {
		old := r.list
		r.list = make([]Kept, max(2*n, 2))
		for s := r.KeptFrom; s != r.KeptFrom+n; s++ {
			r.list[s&uint32(len(r.list)-1)] = old[s&(n-1)]
		}
	}
	k := &r.list[seq&uint32(len(r.list)-1)]
	*k = Kept{Message: message, Beside: x, ok: true}
	return k
}

// Kept is the reply to a request; nil: there is none.
func (r *Replies) Kept(seq uint32) *Kept {
	if seq-r.KeptFrom >= uint32(len(r.list)) {
		return nil
	}
	k := &r.list[seq&uint32(len(r.list)-1)]
	if !k.ok {
		return nil
	}
	return k
}

// Forget drops the replies below seq.
func (r *Replies) Forget(p *Pool, a *beside.Answers, seq uint32) {
	if len(r.list) == 0 { // only passive requests came
		r.KeptFrom = seq
		return
	}
	for int32(seq-r.KeptFrom) > 0 {
		r.drop(p, a, r.KeptFrom)
		r.KeptFrom++
	}
}

// Drop drops all.
func (r *Replies) Drop(p *Pool, a *beside.Answers) {
	for seq := range uint32(len(r.list)) {
		r.drop(p, a, seq)
	}
}

func (r *Replies) drop(p *Pool, a *beside.Answers, seq uint32) {
	k := &r.list[seq&uint32(len(r.list)-1)]
	if k.ok {
		p.Give(k.Message)
		a.Drop(k.Beside)
		*k = Kept{}
	}
}
