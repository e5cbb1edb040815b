package r2

import (
	"fmt"

	"drtmx/engine/fabric/host"
)

const (
	logChunk = 64 << 10 // bytes of a log's memory that are allocated and forgotten together
	logKept  = 64 << 20 // see LogFile.Keep
)

// LogFile is an append-only file on a machine's SSD, with its bytes. Appended bytes are in the
// memory of the machine until a shared thread's Sync has made them durable. A crash keeps a
// prefix: what was durable, and of writes under way the blocks that the disk had accepted.
//
// The simulator keeps the newest bytes only, see Keep: offsets go on for ever.
type LogFile struct {
	cl      *Cluster
	mc      *machine
	disk    *host.SSD
	name    string
	chunks  [][]byte
	spare   [][]byte
	from    int64 // first byte that is kept, at the begin of chunks[0]
	kept    int64 // first byte that readers may have
	durable int64
	asked   int64 // up to here Sync has written
	end     int64
	most    int64
	writes  []logWrite // under way, in order
}

// logWrite is a request of Sync: blocks that cross the disk's link from begin to over.
type logWrite struct {
	from, to          int64
	begin, over, done Time
}

// LogFile is the file of that name on a machine's SSD, made if there is none.
func (cl *Cluster) LogFile(m int, name string) *LogFile {
	for _, f := range cl.files {
		if f.mc.id == m && f.name == name {
			return f
		}
	}
	f := &LogFile{cl: cl, mc: cl.machines[m], disk: cl.disk(m, "log "+name), name: name, most: logKept}
	cl.files = append(cl.files, f)
	return f
}

// disk is a machine's SSD, which somebody asks for.
func (cl *Cluster) disk(m int, who string) *host.SSD {
	d := cl.fab.Machine(m).SSD
	if d == nil {
		panic(fmt.Sprintf("r2: %s on machine %d: profile %s names no SSD", who, m, cl.fab.Profile().Name))
	}
	return d
}

// HasSSD says whether the machines have SSDs.
func (cl *Cluster) HasSSD() bool { return cl.fab.Profile().SSD != nil }

// Len is the offset behind the last byte that was appended.
func (f *LogFile) Len() int64 { return f.end }

// Durable is the offset behind the last byte that would survive a crash for sure.
func (f *LogFile) Durable() int64 {
	f.settle()
	return f.durable
}

// Kept is from which to which offset durable bytes can be read.
func (f *LogFile) Kept() (from, to int64) { return f.kept, f.Durable() }

// Trim forgets what is in front of an offset, as a checkpoint allows.
func (f *LogFile) Trim(to int64) {
	f.kept = max(f.kept, min(to, f.Durable()))
	n := int((f.kept - f.from) / logChunk)
	f.spare = append(f.spare, f.chunks[:n]...)
	f.chunks = f.chunks[:copy(f.chunks, f.chunks[n:])]
	f.from += int64(n) * logChunk
}

// settle takes note of requests that are complete.
func (f *LogFile) settle() {
	n := 0
	for n < len(f.writes) && f.writes[n].done <= f.cl.sim.Now() {
		f.durable = max(f.durable, f.writes[n].to)
		n++
	}
	if n > 0 {
		f.writes = f.writes[:copy(f.writes, f.writes[n:])]
	}
}

// at is the memory at an offset, up to the end of its chunk.
func (f *LogFile) at(offset int64) []byte {
	i := offset - f.from
	return f.chunks[i/logChunk][i%logChunk:]
}

// append takes bytes into the machine's memory.
func (f *LogFile) append(b []byte) {
	for len(b) > 0 {
		if f.end == f.from+int64(len(f.chunks))*logChunk {
			f.chunks = append(f.chunks, f.chunk())
		}
		n := copy(f.at(f.end), b)
		f.end += int64(n)
		b = b[n:]
	}
	if f.end-f.kept > f.most {
		f.Trim(f.end - f.most)
	}
	if f.end-f.kept > f.most {
		f.cl.Fail(fmt.Errorf("r2: log %s of machine %d has %d bytes that are not durable: its logger does not keep up", f.name, f.mc.id, f.end-f.durable))
	}
}

func (f *LogFile) chunk() []byte {
	if n := len(f.spare); n > 0 {
		b := f.spare[n-1]
		f.spare = f.spare[:n-1]
		return b
	}
	return make([]byte, logChunk)
}

// read copies durable bytes from an offset on, if they are kept.
func (f *LogFile) read(from int64, b []byte) int {
	if from < f.kept {
		return 0
	}
	n := int(min(int64(len(b)), f.Durable()-from))
	for done := 0; done < n; {
		done += copy(b[done:n], f.at(from+int64(done)))
	}
	return n
}

// crash leaves what the disk has.
func (f *LogFile) crash() {
	now := f.cl.sim.Now()
	f.settle()
	for _, w := range f.writes {
		if now >= w.over {
			f.durable = w.to
			continue
		}
		size, blocks := int64(f.disk.Block), int64(f.disk.Blocks(w.from, int(w.to-w.from)))
		accepted := blocks * max(0, now-w.begin) / (w.over - w.begin)
		f.durable = max(f.durable, min(w.to, (w.from/size+accepted)*size))
		break
	}
	f.writes = f.writes[:0]
	f.asked, f.end = f.durable, f.durable
	for n := (f.end - f.from + logChunk - 1) / logChunk; int64(len(f.chunks)) > n; {
		last := len(f.chunks) - 1
		f.spare = append(f.spare, f.chunks[last])
		f.chunks = f.chunks[:last]
	}
}

// Append adds bytes to a log of the coroutine's machine, in its memory. It returns the offset
// behind them: once Durable is there they survive a crash.
func (c *Co) Append(f *LogFile, b []byte) (end int64) {
	if f.mc != c.w.mc {
		panic(fmt.Sprintf("r2: %s appends to log %s of machine %d", c.name, f.name, f.mc.id))
	}
	c.w.charge(c.w.copyCost(len(b)))
	f.append(b)
	return f.end
}

// Sync makes durable what was appended to a log before, and blocks a shared thread until it is.
// What is appended meanwhile waits for the next Sync: group commit. It returns how far the log
// is durable.
func (c *Co) Sync(f *LogFile) (durable int64) {
	t := c.logger("Sync")
	if f.mc != c.w.mc {
		panic(fmt.Sprintf("r2: %s syncs log %s of machine %d", c.name, f.name, f.mc.id))
	}
	if c.sync(); f.asked == f.end {
		if f.settle(); len(f.writes) > 0 { // another thread has asked for the rest
			t.waitForDisk(f.writes[len(f.writes)-1].done)
		}
		return f.Durable()
	}
	n := int(f.end - f.asked)
	c.w.charge(f.disk.Call + c.w.copyCost(n))
	c.sync()
	from, to := f.asked, f.end // more may have been appended
	begin, over, done := f.disk.Write(c.w.cl.sim.Now(), f.disk.Blocks(from, int(to-from)))
	f.settle()
	f.writes = append(f.writes, logWrite{from, to, begin, over, done})
	f.asked = to
	t.waitForDisk(done)
	return f.Durable()
}

// ReadLog reads durable bytes of a log of the coroutine's machine from an offset on, at the disk's
// time. It returns how many there were; none where they are no longer kept. A shared thread
// blocks; a worker's coroutine sleeps, which a handler cannot.
func (c *Co) ReadLog(f *LogFile, from int64, b []byte) int {
	first, last := f.Kept()
	if f.mc != c.w.mc || from < first || from >= last || len(b) == 0 {
		return 0
	}
	n := int(min(int64(len(b)), last-from))
	c.w.charge(f.disk.Call + c.w.copyCost(n))
	c.sync()
	now := c.w.cl.sim.Now()
	done := f.disk.Read(now, f.disk.Blocks(from, n))
	if t := c.sharedThread(); t != nil {
		t.waitForDisk(done)
	} else {
		c.Sleep(done - now)
	}
	return f.read(from, b[:n])
}

// logger is the thread of a coroutine that may block.
func (c *Co) logger(what string) *thread {
	t := c.sharedThread()
	if t == nil {
		panic(fmt.Sprintf("r2: %s by %s, which is no thread of SpawnShared: it would block its worker", what, c.name))
	}
	return t
}

// waitForDisk blocks until a request is complete.
func (t *thread) waitForDisk(done Time) {
	t.requests++
	cl := t.share.cl
	cl.sim.At(done, cl.kSSD, uint32(t.w.id)|uint32(t.requests)<<16)
	t.wait(writing)
}

// complete goes on behind the thread's last request; those of before a crash are void.
func (t *thread) complete(request uint16) {
	if request == t.requests {
		t.finish(writing)
	}
}
