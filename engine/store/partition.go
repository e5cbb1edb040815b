package store

import (
	"fmt"

	"drtmx/engine/membership"
)

// Partition divides the keys of a table among the servers, machines 0 to Servers()-1. The keys that
// a table has from the start are numbered within their server, in both directions, because blocks are
// computed from those numbers when they are first touched. All methods are pure functions.
type Partition interface {
	Servers() int
	// Primary is the server of a key. Keys that are not there from the start have one too.
	Primary(key uint64) int
	// Count is the number of keys that a server has from the start.
	Count(server int) uint64
	// Key is the i-th of them.
	Key(server int, i uint64) uint64
	// Local is the number of a key within its server; ok is false if it is not there from the start.
	Local(key uint64) (i uint64, ok bool)
}

// Placement says where the records of a table live.
type Placement struct {
	Partition Partition
	Replicas  int               // copies of each record, the primary included
	Members   *membership.Table // the machines; nil: the partition's servers, in a ring
}

// Copies says which machine holds which copy in an epoch.
func (p Placement) Copies(e membership.Epoch) membership.Placement {
	if p.Members == nil {
		p.Members = membership.New(p.Partition.Servers(), membership.Server)
	}
	return p.Members.Placement(e, p.Replicas)
}

// Check reports a placement that cannot be.
func (p Placement) Check() error {
	if p.Partition == nil || p.Partition.Servers() < 1 {
		return fmt.Errorf("placement: at least one server is needed")
	}
	if p.Replicas < 1 || p.Replicas > p.Partition.Servers() {
		return fmt.Errorf("replicas %d: must be 1 to %d, the number of servers", p.Replicas, p.Partition.Servers())
	}
	return nil
}

// Blocks gives each server a contiguous block of the keys 0 to keys-1, equal but for the last servers.
func Blocks(servers int, keys uint64) Partition {
	return &blocks{servers: servers, keys: keys, block: max(1, (keys+uint64(servers)-1)/uint64(servers))}
}

type blocks struct {
	servers     int
	keys, block uint64
}

func (p *blocks) Servers() int { return p.servers }

func (p *blocks) Primary(key uint64) int {
	if key < p.keys {
		return int(key / p.block)
	}
	return int(key % uint64(p.servers))
}

func (p *blocks) Count(server int) uint64 {
	first := min(p.keys, uint64(server)*p.block)
	return min(p.keys, first+p.block) - first
}

func (p *blocks) Key(server int, i uint64) uint64 { return uint64(server)*p.block + i }

func (p *blocks) Local(key uint64) (uint64, bool) { return key % p.block, key < p.keys }

// Stripes deals the keys 0 to keys-1 to the servers in turn.
func Stripes(servers int, keys uint64) Partition {
	return &stripes{servers: uint64(servers), keys: keys}
}

type stripes struct{ servers, keys uint64 }

func (p *stripes) Servers() int { return int(p.servers) }

func (p *stripes) Primary(key uint64) int { return int(key % p.servers) }

func (p *stripes) Count(server int) uint64 {
	return (p.keys + p.servers - 1 - uint64(server)) / p.servers
}

func (p *stripes) Key(server int, i uint64) uint64 { return i*p.servers + uint64(server) }

func (p *stripes) Local(key uint64) (uint64, bool) { return key / p.servers, key < p.keys }
