package datagram

// Kept is a reply that the requester may ask for again.
type Kept struct {
	Message []byte
	How     uint8  // see Header.Lag
	Sent    uint16 // segments, of a long one
	ok      bool
}

// Replies are those that are kept, by sequence number. It grows from nothing.
type Replies struct {
	KeptFrom uint32
	list     []Kept
}

// Keep stores a reply until the requester is known to have it.
func (r *Replies) Keep(seq uint32, message []byte) {
	for n := uint32(len(r.list)); seq-r.KeptFrom >= n; n = uint32(len(r.list)) {
		old := r.list
		r.list = make([]Kept, max(2*n, 2))
		for s := r.KeptFrom; s != r.KeptFrom+n; s++ {
			r.list[s&uint32(len(r.list)-1)] = old[s&(n-1)]
		}
	}
	r.list[seq&uint32(len(r.list)-1)] = Kept{Message: message, ok: true}
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
func (r *Replies) Forget(p *Pool, seq uint32) {
	if len(r.list) == 0 { // only passive requests came
		r.KeptFrom = seq
		return
	}
	for int32(seq-r.KeptFrom) > 0 {
		k := &r.list[r.KeptFrom&uint32(len(r.list)-1)]
		p.Give(k.Message)
		*k = Kept{}
		r.KeptFrom++
	}
}
