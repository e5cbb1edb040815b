package registered

// Reply is the answer to a call; B is valid from Wait until Reset.
type Reply struct {
	B []byte
}

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
	x.B = nil
	return x
}

// Empty takes all back.
func (r *Replies) Empty() { r.n = 0 }
