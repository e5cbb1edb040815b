package registered

// Reply is the answer to a call; B is valid from Wait until Reset.
type Reply struct {
	B     []byte
	notes []uint64
	read  int // of these
}

// Note is the next note that the handler has made; see beside. Without ok there is none.
func (r *Reply) Note() (note uint64, ok bool) {
	if r.read == len(r.notes) {
		return 0, false
	}
	note = r.notes[r.read]
	r.read++
	return note, true
}

// Annotate gives a reply its notes, which are copied.
func Annotate(r *Reply, notes []uint64) { r.notes = append(r.notes[:0], notes...) }

// Replies are those handed out to a coroutine. They grow.
type Replies struct {
	list []Reply
	n    int
}

// Next hands one out. It keeps its place until Empty.
func (r *Replies) Next() *Reply {
	if r.n == len(r.list) {
		r.list = append(make([]Reply, 0, 2*len(r.list)+8), r.list...)
		r.list = r.list[:cap(r.list)]
	}
	x := &r.list[r.n]
	r.n++
	x.B, x.notes, x.read = nil, x.notes[:0], 0
	return x
}

// Empty takes all back.
func (r *Replies) Empty() { r.n = 0 }
