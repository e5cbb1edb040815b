package datagram

// Open are the requests of a thread to one of another machine that are not answered or acknowledged, by sequence number: those from
// Oldest on, before Next. T is what is known of one; it stays where it is until Begin.
type Open[T any] struct {
	list         []T // a ring, a power of two; it grows
	Next, Oldest uint32
}

// NewOpen has none.
func NewOpen[T any]() Open[T] { return Open[T]{list: make([]T, 2)} }

// At is what is known of an open request.
func (o *Open[T]) At(seq uint32) *T { return &o.list[seq&uint32(len(o.list)-1)] }

// Begin takes the next sequence number.
func (o *Open[T]) Begin() (uint32, *T) {
	if n := uint32(len(o.list)); o.Next-o.Oldest == n {
		old := o.list
		o.list = make([]T, 2*n)
		for s := o.Oldest; s != o.Next; s++ {
			*o.At(s) = old[s&(n-1)]
		}
	}
	s := o.Next
	o.Next++
	return s, o.At(s)
}

// Any says that there are some.
func (o *Open[T]) Any() bool { return o.Next != o.Oldest }

// Full says that the next has to wait for the oldest.
func (o *Open[T]) Full() bool { return o.Next-o.Oldest >= RequestWindow }

// Has says that a sequence number is one of theirs.
func (o *Open[T]) Has(seq uint32) bool { return int32(seq-o.Oldest) >= 0 && int32(o.Next-seq) > 0 }
