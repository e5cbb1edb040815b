package service

import (
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Client is a coroutine's handle of a store.
type Client struct {
	v     *Service
	c     *r2.Co
	lists []list // of a scan, one for each instance of a group
}

// list is what an instance has answered to a scan.
type list struct {
	rep  *r2.Reply // nil: it was a call
	b    []byte
	want int
}

// Client is the handle of a coroutine.
func (v *Service) Client(c *r2.Co) *Client {
	return &Client{v: v, c: c, lists: make([]list, v.Places.instances)}
}

// Call sends a request to an instance and returns the reply, of at most so many bytes, valid until the coroutine's Reset.
func (x *Client) Call(in int, op uint8, req []byte, most int) ([]byte, error) {
	rep, b := x.post(in, op, req, most)
	if rep == nil {
		return b, nil
	}
	if err := x.c.Wait(); err != nil {
		return nil, err
	}
	return rep.B, nil
}

// post sends a request, or on the own machine executes it.
func (x *Client) post(in int, op uint8, req []byte, most int) (*r2.Reply, []byte) {
	v := x.v
	if m := v.Machine(in); m != x.c.Machine() {
		return x.c.CallThread(m, v.Thread(in, x.c.Thread()), op, req), nil
	}
	own := x.c.Buf(len(req)).B // req may be scratch that others use when the call waits
	copy(own, req)
	b := x.c.Buf(most).B
	return nil, b[:v.serves[op](x.c, in, own, b)]
}

// Get copies the value of a key.
func (x *Client) Get(key uint64, value []byte) (found bool, err error) {
	n := 1 + x.v.valueBytes
	rep, err := x.Call(x.v.Of(key), x.v.get, x.request(key, nil), n)
	if err != nil {
		return false, err
	}
	if len(rep) == n && rep[0] == Done {
		copy(value, rep[1:])
		return true, nil
	}
	return x.Status(key, rep)
}

// Update overwrites the value of a key that is there.
func (x *Client) Update(key uint64, value []byte) (found bool, err error) {
	return x.change(x.v.update, key, value)
}

// Insert adds a key that is not there.
func (x *Client) Insert(key uint64, value []byte) (inserted bool, err error) {
	return x.change(x.v.insert, key, value)
}

// Delete takes a key out.
func (x *Client) Delete(key uint64) (found bool, err error) {
	return x.change(x.v.delete, key, nil)
}

func (x *Client) change(op uint8, key uint64, value []byte) (bool, error) {
	rep, err := x.Call(x.v.Of(key), op, x.request(key, value), 1)
	if err != nil {
		return false, err
	}
	return x.Status(key, rep)
}

func (x *Client) request(key uint64, value []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(x.c.Request(), key), value...)
}

// Status is what the status of a reply says.
func (x *Client) Status(key uint64, rep []byte) (bool, error) {
	switch {
	case len(rep) == 1 && rep[0] == Done:
		return true, nil
	case len(rep) == 1 && rep[0] == Refused:
		return false, nil
	case len(rep) == 1 && rep[0] == Full:
		return false, fmt.Errorf("store %s: key %d: %w", x.v.name, key, ErrFull)
	}
	return false, fmt.Errorf("store %s: machine %d refuses key %d", x.v.name, x.v.Machine(x.v.Of(key)), key)
}

// Scan appends the first n pairs, or as many as there are, with keys from key on. What does not fit a message takes several
// requests, and where an instance's keys end the scan goes on at the next.
func (x *Client) Scan(key uint64, n int, dst []store.Pair) ([]store.Pair, error) {
	first, of := x.v.group(x.v.Of(key))
	for n > 0 && first < x.v.Len() {
		last, all, err := x.ask(first, of, key, n)
		if err != nil {
			return dst, err
		}
		before := len(dst)
		dst = x.merge(of, last, n, dst)
		n -= len(dst) - before
		if all {
			first += of
		} else {
			key = last + 1
		}
	}
	return dst, nil
}

// ask has the instances of a group answer a scan. Up to last none has more pairs than it sent; all says that none has more
// at all.
func (x *Client) ask(first, of int, key uint64, n int) (last uint64, all bool, err error) {
	pair := x.v.pairBytes()
	for i := range of {
		l := &x.lists[i]
		l.want = min(n, x.v.cl.MaxPayload()/pair)
		req := binary.LittleEndian.AppendUint32(x.request(key, nil), uint32(l.want))
		l.rep, l.b = x.post(first+i, x.v.scan, req, l.want*pair)
	}
	if err := x.c.Wait(); err != nil {
		return 0, false, err
	}
	last, all = ^uint64(0), true
	for i := range of {
		l := &x.lists[i]
		if l.rep != nil {
			l.b = l.rep.B
		}
		if got := len(l.b) / pair; got == l.want {
			end := binary.LittleEndian.Uint64(l.b[(got-1)*pair:])
			if end != ^uint64(0) { // else there is nothing behind
				last, all = min(last, end), false
			}
		}
	}
	return last, all, nil
}

// merge appends at most n pairs with keys up to last from the lists.
func (x *Client) merge(of int, last uint64, n int, dst []store.Pair) []store.Pair {
	pair := x.v.pairBytes()
	for ; n > 0; n-- {
		var next *list
		least := last
		for i := range of {
			if l := &x.lists[i]; len(l.b) >= pair {
				if key := binary.LittleEndian.Uint64(l.b); key <= least {
					next, least = l, key
				}
			}
		}
		if next == nil {
			break
		}
		dst = append(dst, store.Pair{Key: least, Value: next.b[keyBytes:pair]})
		next.b = next.b[pair:]
	}
	return dst
}
