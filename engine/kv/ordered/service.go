package ordered

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Names of package store that this package's own users need.
type (
	Range = store.Range
	Entry = store.Entry
	Spec  = store.IndexSpec
)

// Service carries operations to the server of their part, where a worker executes them.
//
//	scan     table u8, 2 flags u8, 2 unused, limit u32 | part u64 | from u64 | to u64
//	         reply: entries of key u64 and value u64
//	insert   table u8, 7 unused | part u64 | key u64 | value u64
//	delete   likewise; reply: status u8
type Service struct {
	cl     *r2.Cluster
	tables [256]*Table

	rpcScan, rpcInsert, rpcDelete uint8
}

const (
	requestBytes = 32

	replyDone    = 0
	replyRefused = 1 // exists, or missing
	replyBad     = 2
)

// NewService installs the handlers on a cluster.
func NewService(cl *r2.Cluster) *Service {
	v := &Service{cl: cl}
	v.rpcScan = cl.Handle("ordered.scan", v.serveScan)
	v.rpcInsert = cl.Handle("ordered.insert", func(c *r2.Co, _ r2.Peer, req, rep []byte) int { return v.serveChange(c, req, rep, true) })
	v.rpcDelete = cl.Handle("ordered.delete", func(c *r2.Co, _ r2.Peer, req, rep []byte) int { return v.serveChange(c, req, rep, false) })
	return v
}

// Add makes a table.
func (v *Service) Add(s Spec) (store.OrderedTable, error) {
	t, err := v.add(s)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (v *Service) add(s Spec) (*Table, error) {
	if o := v.tables[s.ID]; o != nil {
		return nil, fmt.Errorf("ordered table %s: id %d is taken by %s", s.Name, s.ID, o.spec.Name)
	}
	t, err := newTable(v.cl, s)
	if err == nil {
		v.tables[s.ID], t.service = t, v
	}
	return t, err
}

// Scan appends the entries of a range to dst. A range of more entries than a message carries takes several requests, and
// is not read at one moment.
func (t *Table) Scan(c *r2.Co, r Range, dst []Entry) ([]Entry, error) {
	if r.Limit < 1 || r.Part >= t.spec.Parts {
		return dst, fmt.Errorf("ordered table %s: scan of %d entries of part %d: at least one, of %d parts", t.spec.Name, r.Limit, r.Part, t.spec.Parts)
	}
	if t.local(c, r.Part) {
		return t.scanLocal(c, r, dst), nil
	}
	for {
		want := min(r.Limit, t.cl.MaxPayload()/entryBytes)
		word := uint64(t.spec.ID) | uint64(want)<<32
		if r.Down {
			word |= 1 << 8
		}
		rep := c.Call(t.Primary(r.Part), t.service.rpcScan, message(c, word, r.Part, r.From, r.To))
		if err := c.Wait(); err != nil {
			return dst, err
		}
		b := rep.B
		for ; len(b) >= entryBytes; b = b[entryBytes:] {
			dst = append(dst, Entry{Key: u64(b), Value: u64(b[8:])})
		}
		got := len(rep.B) / entryBytes
		r.Limit -= got
		if got < want || r.Limit == 0 {
			return dst, nil
		}
		switch last := dst[len(dst)-1].Key; {
		case r.Down && last > r.From:
			r.To = last - 1
		case !r.Down && last < r.To:
			r.From = last + 1
		default:
			return dst, nil
		}
	}
}

// Insert adds an entry, or says ErrExists.
func (t *Table) Insert(c *r2.Co, part, key, value uint64) error {
	if t.local(c, part) {
		return t.insertLocal(c, part, key, value)
	}
	return t.change(c, t.service.rpcInsert, ErrExists, part, key, value)
}

// Delete takes an entry out, or says ErrMissing.
func (t *Table) Delete(c *r2.Co, part, key uint64) error {
	if t.local(c, part) {
		return t.deleteLocal(c, part, key)
	}
	return t.change(c, t.service.rpcDelete, ErrMissing, part, key, 0)
}

func (t *Table) change(c *r2.Co, rpc uint8, refusal error, part, key, value uint64) error {
	rep := c.Call(t.Primary(part), rpc, message(c, uint64(t.spec.ID), part, key, value))
	if err := c.Wait(); err != nil {
		return err
	}
	switch {
	case len(rep.B) == 1 && rep.B[0] == replyDone:
		return nil
	case len(rep.B) == 1 && rep.B[0] == replyRefused:
		return refusal
	}
	return fmt.Errorf("ordered table %s: machine %d refuses key %d of part %d", t.spec.Name, t.Primary(part), key, part)
}

func message(c *r2.Co, words ...uint64) []byte {
	b := c.Request()
	for _, w := range words {
		b = add64(b, w)
	}
	return b
}

// parse finds the table and part of a request that this server has, or nil.
func (v *Service) parse(c *r2.Co, req []byte) (t *Table, part uint64) {
	if len(req) != requestBytes {
		return nil, 0
	}
	t, part = v.tables[req[0]], u64(req[8:])
	if t == nil || part >= t.spec.Parts || !t.local(c, part) {
		return nil, 0
	}
	return t, part
}

func (v *Service) serveScan(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	t, part := v.parse(c, req)
	if t == nil {
		return 0
	}
	r := Range{Part: part, From: u64(req[16:]), To: u64(req[24:]), Limit: min(int(u64(req)>>32), len(rep)/entryBytes), Down: req[1] != 0}
	found := t.scanLocal(c, r, t.found[c.Machine()][:0])
	for i, e := range found {
		put64(rep[i*entryBytes:], e.Key)
		put64(rep[i*entryBytes+8:], e.Value)
	}
	t.found[c.Machine()] = found
	return len(found) * entryBytes
}

func (v *Service) serveChange(c *r2.Co, req, rep []byte, insert bool) int {
	rep[0] = replyBad
	t, part := v.parse(c, req)
	if t == nil {
		return 1
	}
	var err error
	if insert {
		err = t.insertLocal(c, part, u64(req[16:]), u64(req[24:]))
	} else {
		err = t.deleteLocal(c, part, u64(req[16:]))
	}
	rep[0] = replyDone
	if errors.Is(err, ErrExists) || errors.Is(err, ErrMissing) {
		rep[0] = replyRefused
	}
	return 1
}
