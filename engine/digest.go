package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"drtmx/engine/measure"
	"drtmx/engine/result"
)

// folded is what the digests know of the windows that have been.
type folded struct {
	behaviour [32]byte
	all       [32]byte
}

// contents are hashes of what a drained cluster holds.
type contents struct {
	rows   uint64 // values of the rows
	memory uint64 // pages that have come into being on each machine
}

// add folds a window's integers in. Only integers go in: they do not depend on how a machine rounds.
func (f *folded) add(rec *measure.Record, events uint64) {
	c := &rec.Counts
	seen := []uint64{uint64(rec.T0), uint64(rec.T1), uint64(rec.Version), c.Commits, c.Aborts, c.Rollbacks, c.Trips, c.LatencyPS}
	f.behaviour = sum(f.behaviour[:], seen, c.Failed, rec.Lost)
	f.all = sum(f.all[:], append(seen, events), c.Failed, rec.Lost)
}

// sum is a hash over b and integers. Of faults it takes in what only they cause, and without any
// nothing: digests of runs without faults are what they were before there were faults.
func sum(b []byte, xs []uint64, failed, lost uint64) [32]byte {
	b = append([]byte(nil), b...)
	if failed|lost != 0 {
		xs = append(xs, failed, lost)
	}
	for _, x := range xs {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return sha256.Sum256(b)
}

// Digest is a hash over everything virtual so far: every window's counts and latencies, the sequence
// of events, and after Drain the bytes of memory. It depends on spec and code alone.
func (s *System) Digest() string {
	c := s.meter.Total()
	all := sum(s.folded.all[:], []uint64{
		uint64(s.sim.Now()), s.sim.Events(), s.sim.TraceHash(), c.Commits, c.Aborts, c.Rollbacks, c.Trips, c.LatencyPS, uint64(s.version), s.contents.memory,
	}, c.Failed, s.cl.Lost())
	return hex.EncodeToString(all[:])
}

// Digests are the parts of Digest, and that of the history.
func (s *System) Digests() result.Digests {
	c := s.meter.Total()
	behaviour := sum(s.folded.behaviour[:], []uint64{
		uint64(s.sim.Now()), c.Commits, c.Aborts, c.Rollbacks, c.Trips, c.LatencyPS, uint64(s.version), s.contents.rows,
	}, c.Failed, s.cl.Lost())
	trace := sum(nil, []uint64{s.sim.Events(), s.sim.TraceHash(), s.contents.memory}, 0, 0)
	d := result.Digests{Behaviour: hex.EncodeToString(behaviour[:]), Trace: hex.EncodeToString(trace[:])}
	if h := s.rec.Hash(); h != 0 {
		d.History = hex.EncodeToString(binary.BigEndian.AppendUint64(nil, h))
	}
	return d
}
