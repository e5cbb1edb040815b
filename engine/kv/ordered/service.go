package ordered

import (
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
	"drtmx/engine/wire"
)

// Names of package store that this package's own users need.
type (
	Range = store.Range
	Entry = store.Entry
	Spec  = store.IndexSpec
)

// Service carries operations to the server of their part, where a worker executes them.
//
//	scan     table u8, flags u8, 2 unused, limit u32 | part u64 | from u64 | to u64 | of a snapshot, its point
//	         reply: entries of key u64 and value u64
//	insert   table u8, flags u8, 6 unused | part u64 | key u64 | value u64
//	         reply: status u8, of an entry of a dated table then guard u64
//	delete   likewise, with the stamp in place of the value where the entry is retired; reply: status u8
type Service struct {
	cl      *r2.Cluster
	tables  [256]*Table
	visible func(stamp uint64, point []uint64) bool // of dated tables, nil: there are none

	rpcScan, rpcInsert, rpcDelete uint8
}

const (
	requestBytes = 32

	replyDone    = 0
	replyRefused = 1 // exists, or missing
	replyBad     = 2

	// Flags.
	flagDown  = 1 // of a scan
	flagAt    = 2 // of a scan: of a snapshot
	flagRaise = 4
	flagDated = 1 // of a change: enter, retire
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
	switch {
	case err != nil:
		return nil, err
	case t.dated != nil:
		return t.dated, nil
	}
	return t, nil
}

// Date has tables that are added from now on read by snapshots.
func (v *Service) Date(visible func(stamp uint64, point []uint64) bool) { v.visible = visible }

// Collect takes out of all dated tables what no scan finds any more, on the coroutine's machine.
func (v *Service) Collect(c *r2.Co, visible func(stamp uint64) bool) {
	for _, t := range v.tables {
		if t != nil && t.dated != nil {
			t.dated.collect(c, visible)
		}
	}
}

// Restamp has all dated tables forget points and stamps.
func (v *Service) Restamp() {
	for _, t := range v.tables {
		if t != nil && t.dated != nil {
			t.dated.restamp()
		}
	}
}

func (v *Service) add(s Spec) (*Table, error) {
	if o := v.tables[s.ID]; o != nil {
		return nil, fmt.Errorf("ordered table %s: id %d is taken by %s", s.Name, s.ID, o.spec.Name)
	}
	t, err := newTable(v.cl, s)
	if err == nil && v.visible != nil {
		err = t.date(v.visible)
	}
	if err == nil {
		v.tables[s.ID], t.service = t, v
	}
	return t, err
}

// Scan appends the entries of a range to dst. A range of more entries than a message carries takes several requests, and
// is not read at one moment.
func (t *Table) Scan(c *r2.Co, r Range, dst []Entry) ([]Entry, error) { return t.scan(c, nil, r, dst) }

// scan is Scan, of a snapshot unless at is nil.
func (t *Table) scan(c *r2.Co, at *store.Claim, r Range, dst []Entry) ([]Entry, error) {
	if r.Limit < 1 || r.Part >= t.spec.Parts {
		return dst, fmt.Errorf("ordered table %s: scan of %d entries of part %d: at least one, of %d parts", t.spec.Name, r.Limit, r.Part, t.spec.Parts)
	}
	if t.local(c, r.Part) {
		if at != nil {
			return t.dated.scanLocal(c, at, r, dst), nil
		}
		return t.scanLocal(c, r, dst), nil
	}
	for {
		want := min(r.Limit, t.cl.MaxPayload()/entryBytes)
		word := uint64(t.spec.ID) | uint64(want)<<32
		if r.Down {
			word |= flagDown << 8
		}
		var point []uint64
		if at != nil {
			point = at.Point
			if word |= flagAt << 8; at.Raise {
				word |= flagRaise << 8
			}
		}
		rep := c.Call(t.Primary(r.Part), t.service.rpcScan, message(message(c.Request(), word, r.Part, r.From, r.To), point...))
		if err := c.Wait(); err != nil {
			return dst, err
		}
		b := rep.B
		for ; len(b) >= entryBytes; b = b[entryBytes:] {
			dst = append(dst, Entry{Key: wire.Get64(b), Value: wire.Get64(b[8:])})
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
	_, err := t.change(c, t.service.rpcInsert, 0, ErrExists, part, key, value)
	return err
}

// Delete takes an entry out, or says ErrMissing.
func (t *Table) Delete(c *r2.Co, part, key uint64) error {
	if t.local(c, part) {
		return t.deleteLocal(c, part, key)
	}
	_, err := t.change(c, t.service.rpcDelete, 0, ErrMissing, part, key, 0)
	return err
}

// change sends a change; guard is that of an entry of a dated table.
func (t *Table) change(c *r2.Co, rpc uint8, flags uint64, refusal error, part, key, value uint64) (guard uint64, err error) {
	rep := c.Call(t.Primary(part), rpc, message(c.Request(), uint64(t.spec.ID)|flags<<8, part, key, value))
	if err := c.Wait(); err != nil {
		return 0, err
	}
	if len(rep.B) == 1+guardBytes {
		guard = wire.Get64(rep.B[1:])
	} else if len(rep.B) != 1 {
		return 0, t.refused(part, key)
	}
	switch rep.B[0] {
	case replyDone:
		return guard, nil
	case replyRefused:
		return guard, refusal
	}
	return 0, t.refused(part, key)
}

func (t *Table) refused(part, key uint64) error {
	return fmt.Errorf("ordered table %s: machine %d refuses key %d of part %d", t.spec.Name, t.Primary(part), key, part)
}

func message(b []byte, words ...uint64) []byte {
	for _, w := range words {
		b = wire.Add64(b, w)
	}
	return b
}

// parse finds the table and part of a request that this server has, or nil.
func (v *Service) parse(c *r2.Co, req []byte) (t *Table, part uint64) {
	if len(req) < requestBytes || len(req)%8 != 0 {
		return nil, 0
	}
	t, part = v.tables[req[0]], wire.Get64(req[8:])
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
	r := Range{Part: part, From: wire.Get64(req[16:]), To: wire.Get64(req[24:]), Limit: min(int(wire.Get64(req)>>32), len(rep)/entryBytes), Down: req[1]&flagDown != 0}
	found := t.found[c.Machine()][:0]
	switch at := req[1]&flagAt != 0; {
	case at && (t.dated == nil || len(req) == requestBytes):
		return 0
	case at:
		c.Load64(t.head(part)) // others have their turn here
		found = t.dated.scanNow(c, t.dated.claimOf(c, req), r, found)
	default:
		found = t.scanLocal(c, r, found)
	}
	for i, e := range found {
		wire.Put64(rep[i*entryBytes:], e.Key)
		wire.Put64(rep[i*entryBytes+8:], e.Value)
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
	n := 1
	key, value := wire.Get64(req[16:]), wire.Get64(req[24:])
	switch dated := req[1]&flagDated != 0; {
	case dated && t.dated == nil:
		return 1
	case dated && insert:
		var guard uint64
		guard, err = t.dated.enterLocal(c, part, key, value)
		wire.Put64(rep[1:], guard)
		n += guardBytes
	case dated:
		err = t.dated.retireLocal(c, part, key, value)
	case insert:
		err = t.insertLocal(c, part, key, value)
	default:
		err = t.deleteLocal(c, part, key)
	}
	rep[0] = replyDone
	if errors.Is(err, ErrExists) || errors.Is(err, ErrMissing) {
		rep[0] = replyRefused
	}
	return n
}
