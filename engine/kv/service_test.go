package kv

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/store"
)

// RPC ids of the service.
const ()

// Service carries inserts and deletes to the server of their key, where a worker executes them: a protocol
// without concurrency control, for tests of the table.
//
//	request   table u8, 7 bytes unused | key u64 | value
//	reply     status u64 | ref u64 | sequence u64
type Service struct {
	tables [256]*Table

	rpcInsert, rpcDelete uint8
}

const requestHeader = 16

// statuses are what a reply can say; the place of an error is its code.
var statuses = [...]error{nil, ErrExists, ErrMissing, ErrFull, ErrBusy, ErrFixed, errRefused}

// Errors of package store, as the tests name them.
var (
	ErrExists, ErrMissing, ErrFull = store.ErrExists, store.ErrMissing, store.ErrFull
	ErrBusy, ErrFixed              = store.ErrBusy, store.ErrFixed
)

var errRefused = errors.New("refused by the server")

// insertLocal adds a record on the CPU of its server and returns where it is and its sequence.
func insertLocal(c *r2.Co, t *Table, key uint64, value []byte) (loc Location, seq uint64, err error) {
	if key > MaxKey {
		return loc, 0, fmt.Errorf("table %s key %d: must be at most %d", t.spec.Name, key, MaxKey)
	}
	if len(value) != t.spec.ValueBytes {
		return loc, 0, fmt.Errorf("table %s key %d: value of %d bytes, the table's have %d", t.spec.Name, key, len(value), t.spec.ValueBytes)
	}
	busy := binary.LittleEndian.AppendUint64(nil, record.Owner{}.LockWord())
	x, err := t.Insert(c, key, busy, store.AnyVersion)
	if err != nil {
		return loc, 0, err
	}
	loc, seq = t.Location(key, x.Ref), record.LockSeq.FirstStamp(x.Ref.Incarnation())
	c.Store64(loc.Addr+r2.Addr(record.LockSeq.Stamp), record.Writing(seq))
	c.Store(loc.Addr+r2.Addr(record.LockSeq.Bytes), value)
	c.Store64(loc.Addr+r2.Addr(record.LockSeq.Stamp), seq)
	c.Store64(loc.Addr+r2.Addr(record.LockSeq.Lock), 0)
	return loc, seq, nil
}

// deleteLocal removes a record that nobody else writes on the CPU of its server.
func deleteLocal(c *r2.Co, t *Table, key uint64) (at Ref, err error) {
	if t.spec.Fixed {
		return 0, ErrFixed
	}
	loc, ok, err := t.LookupLocal(c, key)
	if err != nil || !ok {
		return 0, errors.Join(err, ErrMissing)
	}
	if c.LocalCAS(loc.Addr+r2.Addr(record.LockSeq.Lock), 0, record.Owner{}.LockWord()) != 0 {
		return 0, ErrBusy
	}
	if _, err = t.Remove(c, key, loc.Ref); err == nil {
		t.Free(c, key, loc.Ref)
	}
	return loc.Ref, err
}

// NewService installs the handlers on a cluster.
func NewService(cl *r2.Cluster) *Service {
	v := &Service{}
	v.rpcInsert = cl.Handle("kv.insert", v.handleInsert)
	v.rpcDelete = cl.Handle("kv.delete", v.handleDelete)
	return v
}

// Add makes a table known to the handlers.
func (v *Service) Add(t *Table) error {
	if o := v.tables[t.spec.ID]; o != nil {
		return fmt.Errorf("table %s: id %d is taken by table %s", t.spec.Name, t.spec.ID, o.spec.Name)
	}
	v.tables[t.spec.ID] = t
	return nil
}

// Insert adds a record wherever its key belongs.
func (v *Service) Insert(c *r2.Co, t *Table, key uint64, value []byte) (Location, error) {
	if t.Primary(key) == c.Machine() {
		loc, _, err := insertLocal(c, t, key, value)
		return loc, err
	}
	ref, err := v.call(c, t, v.rpcInsert, key, value)
	if err != nil {
		return Location{}, err
	}
	return t.Location(key, ref), nil
}

// Delete removes a record wherever it is. No transaction may write the record at the same time.
func (v *Service) Delete(c *r2.Co, t *Table, key uint64) error {
	if t.Primary(key) == c.Machine() {
		_, err := deleteLocal(c, t, key)
		return err
	}
	_, err := v.call(c, t, v.rpcDelete, key, nil)
	return err
}

func (v *Service) call(c *r2.Co, t *Table, rpc uint8, key uint64, value []byte) (Ref, error) {
	req := c.Buf(requestHeader + len(value)).B
	binary.LittleEndian.PutUint64(req, uint64(t.spec.ID))
	binary.LittleEndian.PutUint64(req[8:], key)
	copy(req[requestHeader:], value)
	rep := c.Call(t.Primary(key), rpc, req)
	if err := c.Wait(); err != nil {
		return 0, err
	}
	if status := binary.LittleEndian.Uint64(rep.B); status != 0 {
		return 0, fmt.Errorf("table %s key %d: %w", t.spec.Name, key, statuses[min(status, uint64(len(statuses)-1))])
	}
	return Ref(binary.LittleEndian.Uint64(rep.B[8:])), nil
}

func (v *Service) handleInsert(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	t, key, err := v.parse(c, req)
	if err != nil {
		return answer(rep, err, 0, 0)
	}
	loc, seq, err := insertLocal(c, t, key, req[requestHeader:])
	return answer(rep, err, loc.Ref, seq)
}

func (v *Service) handleDelete(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	t, key, err := v.parse(c, req)
	if err != nil {
		return answer(rep, err, 0, 0)
	}
	at, err := deleteLocal(c, t, key)
	return answer(rep, err, at, 0)
}

// parse refuses what this server has no table or no key for.
func (v *Service) parse(c *r2.Co, req []byte) (*Table, uint64, error) {
	if len(req) < requestHeader {
		return nil, 0, errRefused
	}
	t, key := v.tables[req[0]], binary.LittleEndian.Uint64(req[8:])
	if t == nil || key > MaxKey || t.Primary(key) != c.Machine() {
		return nil, 0, errRefused
	}
	return t, key, nil
}

func answer(rep []byte, err error, r Ref, seq uint64) int {
	status := len(statuses) - 1
	for i, s := range statuses {
		if errors.Is(err, s) {
			status = i
			break
		}
	}
	binary.LittleEndian.PutUint64(rep, uint64(status))
	binary.LittleEndian.PutUint64(rep[8:], uint64(r))
	binary.LittleEndian.PutUint64(rep[16:], seq)
	return 24
}
