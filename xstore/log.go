package xstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/engine/store"
)

// Durability (§3.4.4). Each worker of a server appends what it writes to a log of its own, in memory; a thread on the same core
// writes the log to the SSD, all that has come since at once. Replies do not wait for that, so a crash loses what came last.
// When the server starts again, the first of these threads recovers its keys, and only then can clients reach it.
//
//	record   key u64 | version u64 | kind u8, length u24, length of the key u32 | key, padded | value, padded
//
// Of a key that is a word there is only that. One with a length of its own has its hash there, and its bytes in front of the value.
//
// A version is the time on the server at which the change was committed. Two changes of a key conflict, so they have
// different times, and the latest of all logs counts.
const (
	recordHeader = 24

	recordPut    = 1 // an insert or update
	recordDelete = 2

	// logEvery is how long a logger sleeps between two writes. Assumed: batches of a millisecond hide an SSD's latency, and lose
	// little in a crash.
	logEvery = 1_000_000_000
	// DefaultLogBehind is Options.LogBehind. Assumed.
	DefaultLogBehind = 4 << 20
)

// startLogs makes the logs of a server's workers, and their threads.
func (p *part) startLogs() error {
	cl := p.s.cl
	if !p.s.opt.Log {
		return nil
	}
	if !cl.HasSSD() {
		return fmt.Errorf("xstore.log: profile %s names no SSD", cl.Fabric().Profile().Name)
	}
	for i := range cl.Threads(p.server) {
		f := cl.LogFile(p.server, fmt.Sprintf("%s.%d", p.s.spec.Name, i))
		p.logs = append(p.logs, f)
		p.durable = append(p.durable, 0)
		logger := cl.SpawnShared(p.server, i, fmt.Sprintf("xstore.logger%d", i), func(c *r2.Co) {
			if c.Recovering() {
				if err := p.recover(c); err != nil {
					cl.Fail(fmt.Errorf("store %s: recovery of machine %d: %w", p.s.spec.Name, p.server, err))
					return
				}
				c.Recovered()
			}
			p.logger(c, i)
		})
		if i == 0 {
			logger.Recovers()
		}
	}
	return nil
}

// logger writes a log to the SSD now and then.
func (p *part) logger(c *r2.Co, i int) {
	for f := p.logs[i]; ; {
		c.Sleep(logEvery)
		for now := c.Now(); ; now = c.Now() {
			if f.Len() == f.Durable() {
				p.durable[i] = now
				break
			}
			c.Sync(f)
			p.durable[i] = now
		}
	}
}

// Recovers says that servers have logs.
func (s *Store) Recovers() bool { return s.opt.Log }

// Home is the server of a key.
func (s *Store) Home(key uint64) int { return s.ranges.Server(s.knownFree(key)) }

// Durable is the time up to which the changes of a server are on its SSD, whichever worker made them.
func (s *Store) Durable(server int) r2.Time { return slices.Min(s.parts[server].durable) }

// record appends a change that has just been committed to the log of the worker that made it.
func (p *part) record(c *r2.Co, kind byte, key uint64, real, value []byte) {
	if p.logs == nil {
		return
	}
	f, version := p.logs[c.Thread()], uint64(c.Now()) // before it waits: the order of commits
	for f.Len()-f.Durable() > int64(p.s.opt.LogBehind) {
		c.Compute(spinCycles)
		c.Load64(p.head)
	}
	b := add64(add64(c.Request(), key), version)
	b = add64(b, uint64(kind)|uint64(len(value))<<8|uint64(len(real))<<32)
	c.Append(f, addValue(addValue(b, real), value))
}

// spinCycles is between two looks at a log that is full. Assumed.
const spinCycles = 200

// change is one that was read back from a log.
type change struct {
	key, version uint64
	deleted      bool
	real         []byte // the key, if it has a length of its own: then the other is its hash
	value        []byte
}

func (x *change) compare(key uint64, real []byte) int {
	return cmp.Or(cmp.Compare(x.key, key), bytes.Compare(x.real, real))
}

// recover reads the logs of a server that starts again, and makes its tree of them and of the initial keys, which a checkpoint
// has. Then trainers make a model: those of before belong to the tree of before. No client reaches the server meanwhile.
func (p *part) recover(c *r2.Co) error {
	if len(p.trainers.threads) == 0 {
		return errors.New("nobody trains, xstore.trainers is 0")
	}
	logs := p.logs
	if p.s.opt.planted.forgottenLog {
		logs = logs[:len(logs)-1]
	}
	var changes []change
	for _, f := range logs {
		var err error
		if changes, err = readLog(c, f, changes); err != nil {
			return err
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(a.compare(b.key, b.real), cmp.Compare(a.version, b.version))
	})
	pairs := p.replay(changes)
	p.keys = uint64(len(pairs))
	epoch := p.tree.Epoch()
	if !p.s.opt.planted.oldEpoch {
		epoch++
	}
	if err := p.tree.Rebuild(c, epoch, pairs); err != nil {
		return err
	}
	p.retrainLost(c)
	if f := p.s.spec.Recovered; f != nil {
		f(p.server)
	}
	return nil
}

// readLog appends the changes of a log.
func readLog(c *r2.Co, f *r2.LogFile, dst []change) ([]change, error) {
	from, to := f.Kept()
	if from > 0 {
		return dst, fmt.Errorf("log: its first %d bytes were not kept", from)
	}
	b := make([]byte, to)
	for at := int64(0); at < to; {
		n := c.ReadLog(f, at, b[at:min(to, at+readAtOnce)])
		if n == 0 {
			return dst, fmt.Errorf("log: nothing at offset %d of %d", at, to)
		}
		at += int64(n)
	}
	for len(b) >= recordHeader {
		word := u64(b[16:])
		kind, n, real := byte(word), int(uint32(word)>>8), int(word>>32)
		at := recordHeader + padded(real)
		end := at + padded(n)
		if kind != recordPut && kind != recordDelete {
			return dst, fmt.Errorf("log: a record of kind %d", kind)
		}
		if end > len(b) {
			break // the crash came in the middle of it
		}
		dst = append(dst, change{u64(b), u64(b[8:]), kind == recordDelete, b[recordHeader : recordHeader+real], b[at : at+n]})
		b = b[end:]
	}
	return dst, nil
}

// readAtOnce is a READ of a log in recovery.
const readAtOnce = 1 << 20

// replay is what the initial keys come to with the changes, which rise by key and then by version.
func (p *part) replay(changes []change) (pairs []store.Pair) {
	old := p.initialPairs()
	for k := range changes {
		x := &changes[k]
		last := k+1 == len(changes) || changes[k+1].compare(x.key, x.real) != 0
		if p.s.opt.planted.oldVersion {
			last = k == 0 || changes[k-1].compare(x.key, x.real) != 0
		}
		if !last {
			continue
		}
		for old.more() && x.compare(old.key, old.real) > 0 {
			pairs = append(pairs, old.take())
		}
		if old.more() && x.compare(old.key, old.real) == 0 {
			old.take()
		}
		if !x.deleted {
			pairs = append(pairs, p.pair(x.key, x.real, x.value))
		}
	}
	for old.more() {
		pairs = append(pairs, old.take())
	}
	return pairs
}
