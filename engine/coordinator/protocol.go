package coordinator

import (
	"fmt"

	"drtmx/engine/owned"
	"drtmx/engine/r2"
	"drtmx/engine/record"
	"drtmx/engine/replication"
	"drtmx/engine/txn"
)

// Protocol is what protocols on one database have in common; they embed it.
type Protocol struct {
	DB         *txn.DB
	Cl         *r2.Cluster
	Log        replication.Scheme
	Program    Program
	H          record.Layout // of rows
	MaxPayload int

	replicas int // of the logs
	// Requests on their way that end something: a drain waits for them. They are counted where they are sent and taken off where they are
	// served, so a machine's count alone says nothing, and may be negative.
	unserved owned.Each[int]
}

// Open is one whose rows have a header.
func Open(db *txn.DB, h record.Layout) Protocol {
	return Protocol{DB: db, Cl: db.Cluster(), Log: db.Log(), Program: ScaledProgram(db.Options().Scale), H: h, MaxPayload: db.Cluster().MaxPayload(), unserved: owned.New[int](db.Cluster().Machines(), nil)}
}

// OpenLog opens what keeps copies in step.
func (p *Protocol) OpenLog(replicas int) (err error) {
	o := p.DB.Options()
	p.replicas = replicas
	p.Log, err = p.DB.OpenLog(replication.Options{
		Replicas: replicas, Layout: p.H, FullNS: int64(o.Scale.Of(CostFullLog, replication.DefaultFullNS)),
		Costs: replication.Costs{Serve: o.Scale.Of(CostServeLog, o.Costs.Logging), Apply: p.Program.Reclaim, ApplyRecord: p.Program.ReclaimRecord, EntryBytes: o.Costs.Payload.Logging},
	})
	return err
}

// Layout is what rows have in front of the value.
func (p *Protocol) Layout() record.Layout { return p.H }

// Unserved counts what ended transactions have left for others to do.
func (p *Protocol) Unserved() int { return owned.Sum(&p.unserved) }

// End sends a request that ends something, and is counted until its handler calls Ended.
func (p *Protocol) End(c *r2.Co, m int, rpc uint8, req []byte) *r2.Reply {
	*p.unserved.Of(c.Machine())++
	return c.Call(m, rpc, req)
}

// Ended is what a handler of such a request does at last: it answers yes.
func (p *Protocol) Ended(c *r2.Co, rep []byte) int {
	*p.unserved.Of(c.Machine())--
	rep[0] = ReplyYes
	return 1
}

// Replies of one byte.
const (
	ReplyNo  = 0
	ReplyYes = 1
)

// SaysYes is the vote of a participant.
func SaysYes(r *r2.Reply) bool { return len(r.B) == 1 && r.B[0] == ReplyYes }

// KeepReplicas checks how many copies there are to be. They stay as many as the logs were opened for, which 0 stands for.
func (p *Protocol) KeepReplicas(s *txn.Settings) error {
	if s.Replicas == 0 {
		s.Replicas = p.replicas
	}
	n := s.WithDefaults().Replicas
	if servers := p.DB.Servers(); n > servers {
		return fmt.Errorf("replicas %d: each replica needs a server of its own, there are %d", n, servers)
	}
	if p.replicas != 0 && n != p.replicas {
		return fmt.Errorf("replicas %d: fixed at %d when the database was opened; reset to change it", n, p.replicas)
	}
	return nil
}

// Locked says who holds a row whose lock word names its owner. Protocols with other words have a method of their own.
func (p *Protocol) Locked(row []byte) (who string, held bool) {
	o, held := record.Holder(p.H.LockOf(row))
	return fmt.Sprintf("machine %d thread %d coroutine %d", o.Machine, o.Thread, o.Coroutine), held
}
