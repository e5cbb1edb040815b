package xstore

import (
	"errors"
	"fmt"
	"slices"

	"drtmx/engine/r2"
	"drtmx/xstore/redo"
)

// Durability (§3.4.4). Each worker of a server appends what it writes to a log of its own, in memory; a thread on the same core
// writes the log to the SSD, all that has come since at once. Replies do not wait for that, so a crash loses what came last.
// When the server starts again, the first of these threads recovers its keys, and only then can clients reach it.
const (
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
					c.Fail(fmt.Errorf("store %s: recovery of machine %d: %w", p.s.spec.Name, p.server, err))
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
	c.Append(f, redo.Add(c.Request(), kind, key, version, real, value))
}

// spinCycles is between two looks at a log that is full. Assumed.
const spinCycles = 200

// recover reads the logs of a server that starts again, and makes its tree of them and of the initial keys, which a checkpoint
// has. Then trainers make a model: those of before belong to the tree of before. No client reaches the server meanwhile.
func (p *part) recover(c *r2.Co) error {
	if len(p.trainers.threads) == 0 {
		return errors.New("no thread trains, xstore.trainers is 0")
	}
	logs := p.logs
	if p.s.opt.planted.forgottenLog {
		logs = logs[:len(logs)-1]
	}
	var changes []redo.Change
	for _, f := range logs {
		var err error
		if changes, err = redo.Read(c, f, changes); err != nil {
			return err
		}
	}
	in := redo.Initial{Keys: p.s.ranges.Keys(p.server), ValueBytes: p.s.spec.ValueBytes, Value: p.s.spec.Value}
	if p.s.reals != nil {
		in.Reals = p.reals()
	}
	pairs := redo.Replay(in, changes, p.s.opt.planted.oldVersion)
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
