package service

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// ErrFull says that an instance has no room for another key.
var ErrFull = errors.New("no room for another key")

// Instance executes operations on a coroutine of its machine, at that core's cost. Keys are those of its place.
type Instance interface {
	// Get copies the value of a key.
	Get(c *r2.Co, key uint64, value []byte) (found bool)
	// Update overwrites the value of a key that is there.
	Update(c *r2.Co, key uint64, value []byte) (found bool)
	// Insert adds a key that is not there, or says ErrFull.
	Insert(c *r2.Co, key uint64, value []byte) (inserted bool, err error)
	// Delete takes a key out.
	Delete(c *r2.Co, key uint64) (found bool)
	// Scan puts the first n pairs, or as many as there are, with keys from key on into dst, rising, each key u64 and value.
	Scan(c *r2.Co, key uint64, n int, dst []byte) (pairs int)
}

// Service carries requests to the instances of a store.
//
//	get      key u64; reply: status u8 | value
//	update   key u64 | value; reply: status u8
//	insert   likewise
//	delete   key u64; reply: status u8
//	scan     key u64 | n u32; reply: pairs of key u64 and value
//
// A store with other kinds of requests registers them by Handle and sends them by Client.Call.
type Service struct {
	*Places
	cl         *r2.Cluster
	name       string
	valueBytes int
	instances  []Instance
	serves     map[uint8]Serve

	get, update, insert, delete, scan uint8
}

// Serve executes a request on a coroutine of the machine of instance in. req does not change; it writes the reply into rep
// and returns its length.
type Serve func(c *r2.Co, in int, req, rep []byte) int

// Status of a reply.
const (
	Done    = 0
	Refused = 1 // missing, or there already
	Full    = 2
	Bad     = 3 // a request that is not for this instance
)

const keyBytes = 8

// New installs the handlers of a store. instances are in the order of their places.
func New(s *store.KVSpec, p *Places, instances []Instance) (*Service, error) {
	v := &Service{Places: p, cl: p.cl, name: s.Name, valueBytes: s.ValueBytes, instances: instances, serves: map[uint8]Serve{}}
	if len(instances) != p.Len() {
		return nil, fmt.Errorf("store %s: %d instances for %d places", s.Name, len(instances), p.Len())
	}
	if most := v.cl.MaxPayload() - keyBytes; s.ValueBytes > most {
		return nil, fmt.Errorf("store %s: values of %d bytes, at most %d fit a message", s.Name, s.ValueBytes, most)
	}
	v.get = v.Handle("get", v.serveGet)
	v.update = v.Handle("update", v.serveUpdate)
	v.insert = v.Handle("insert", v.serveInsert)
	v.delete = v.Handle("delete", v.serveDelete)
	v.scan = v.Handle("scan", v.serveScan)
	return v, nil
}

// Handle installs a kind of request, and gives it a number.
func (v *Service) Handle(what string, f Serve) (op uint8) {
	op = v.cl.Handle(v.name+"."+what, func(c *r2.Co, _ r2.Peer, req, rep []byte) int {
		in := c.Machine()*v.Places.instances + c.Thread()%v.Places.instances
		if in >= len(v.instances) {
			rep[0] = Bad
			return 1
		}
		return f(c, in, req, rep)
	})
	v.serves[op] = f
	return op
}

// ParseKey reads the key that a request begins with; ok says that the request has n bytes and that the key belongs to the instance.
func (v *Service) ParseKey(in int, req []byte, n int) (key uint64, ok bool) {
	if len(req) != n {
		return 0, false
	}
	key = binary.LittleEndian.Uint64(req)
	return key, v.Of(key) == in
}

func (v *Service) serveGet(c *r2.Co, in int, req, rep []byte) int {
	key, ok := v.ParseKey(in, req, keyBytes)
	switch {
	case !ok:
		return reply(rep, Bad)
	case !v.instances[in].Get(c, key, rep[1:1+v.valueBytes]):
		return reply(rep, Refused)
	}
	return reply(rep, Done) + v.valueBytes
}

func (v *Service) serveUpdate(c *r2.Co, in int, req, rep []byte) int {
	key, ok := v.ParseKey(in, req, keyBytes+v.valueBytes)
	if !ok {
		return reply(rep, Bad)
	}
	return yes(rep, v.instances[in].Update(c, key, req[keyBytes:]))
}

func (v *Service) serveInsert(c *r2.Co, in int, req, rep []byte) int {
	key, ok := v.ParseKey(in, req, keyBytes+v.valueBytes)
	if !ok {
		return reply(rep, Bad)
	}
	inserted, err := v.instances[in].Insert(c, key, req[keyBytes:])
	if err != nil {
		return reply(rep, Full)
	}
	return yes(rep, inserted)
}

func (v *Service) serveDelete(c *r2.Co, in int, req, rep []byte) int {
	key, ok := v.ParseKey(in, req, keyBytes)
	if !ok {
		return reply(rep, Bad)
	}
	return yes(rep, v.instances[in].Delete(c, key))
}

func (v *Service) serveScan(c *r2.Co, in int, req, rep []byte) int {
	if len(req) != scanBytes {
		return 0
	}
	n := min(int(binary.LittleEndian.Uint32(req[keyBytes:])), len(rep)/v.pairBytes())
	return v.instances[in].Scan(c, binary.LittleEndian.Uint64(req), n, rep) * v.pairBytes()
}

func (v *Service) pairBytes() int { return keyBytes + v.valueBytes }

const scanBytes = keyBytes + 4

// reply writes a status.
func reply(rep []byte, status byte) int {
	rep[0] = status
	return 1
}

func yes(rep []byte, ok bool) int {
	if ok {
		return reply(rep, Done)
	}
	return reply(rep, Refused)
}
