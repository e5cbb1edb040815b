package core

import (
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

const (
	logChunk = 64 << 10 // bytes of a log's memory that are allocated and forgotten together
	logKept  = 64 << 20 // see LogFile.Most
)

// LogFile is an append-only file on a machine's SSD, with its bytes. Appended bytes are in the
// memory of the machine until a shared thread's Sync has made them durable. A crash keeps a
// prefix: what was durable, and of writes under way the blocks that the disk had accepted.
//
// The simulator keeps the newest bytes only, see Most: offsets go on for ever.
type LogFile struct {
	clock   *sim.Sim
	machine int
	disk    *host.SSD
	name    string
	chunks  [][]byte
	spare   [][]byte
	from    int64 // first byte that is kept, at the begin of chunks[0]
	kept    int64 // first byte that readers may have
	durable int64
	asked   int64 // up to here Sync has written
	end     int64
	Most    int64      // bytes that are kept: of a longer file the oldest durable ones are forgotten, as by Trim
	writes  []logWrite // under way, in order
}

// logWrite is a request of Sync: blocks that cross the disk's link from begin to over.
type logWrite struct {
	from, to          int64
	begin, over, done Time
}

// LogFile is the file of that name on a machine's SSD, made if there is none.
func (sys *System) LogFile(m int, name string) *LogFile {
	for _, f := range sys.files {
		if f.machine == m && f.name == name {
			return f
		}
	}
	f := &LogFile{clock: sys.machines[m].Clock, machine: m, disk: sys.Disk(m, "log "+name), name: name, Most: logKept}
	sys.files = append(sys.files, f)
	return f
}

// Disk is a machine's SSD, for a user that is named in the error where there is none.
func (sys *System) Disk(m int, who string) *host.SSD {
	d := sys.fab.Machine(m).SSD
	if d == nil {
		panic(fmt.Sprintf("r2: %s on machine %d: profile %s names no SSD", who, m, sys.fab.Profile().Name))
	}
	return d
}

// HasSSD says whether the machines have SSDs.
func (sys *System) HasSSD() bool { return sys.fab.Profile().SSD != nil }

// Len is the offset behind the last byte that was appended.
func (f *LogFile) Len() int64 { return f.end }

// Durable is the offset behind the last byte that would survive a crash for sure.
func (f *LogFile) Durable() int64 {
	f.retireWrites()
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

// retireWrites takes note of writes that are complete.
func (f *LogFile) retireWrites() {
	n := 0
	for n < len(f.writes) && f.writes[n].done <= f.clock.Now() {
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
	if f.end-f.kept > f.Most {
		f.Trim(f.end - f.Most)
	}
	if f.end-f.kept > f.Most {
		f.clock.Fail(fmt.Errorf("r2: log %s of machine %d has %d bytes that are not durable: its logger does not keep up", f.name, f.machine, f.end-f.durable))
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
	now := f.clock.Now()
	f.retireWrites()
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
func (p *Program) Append(f *LogFile, b []byte) (end int64) {
	if f.machine != p.w.machine.id {
		panic(fmt.Sprintf("r2: %s appends to log %s of machine %d", p.Name(), f.name, f.machine))
	}
	p.w.Charge(p.w.CopyCost(len(b)))
	f.append(b)
	return f.end
}

// Sync makes durable what was appended to a log before, and blocks a shared thread until it is.
// What is appended meanwhile waits for the next Sync: group commit. It returns how far the log
// is durable.
func (p *Program) Sync(f *LogFile) (durable int64) {
	t := Logger(p, "Sync")
	if f.machine != p.w.machine.id {
		panic(fmt.Sprintf("r2: %s syncs log %s of machine %d", p.Name(), f.name, f.machine))
	}
	if p.sync(); f.asked == f.end {
		if f.retireWrites(); len(f.writes) > 0 { // another thread has asked for the rest
			t.WaitForDisk(f.writes[len(f.writes)-1].done)
		}
		return f.Durable()
	}
	n := int(f.end - f.asked)
	p.w.Charge(f.disk.Call + p.w.CopyCost(n))
	p.sync()
	from, to := f.asked, f.end // more may have been appended
	begin, over, done := f.disk.Write(p.w.Clock.Now(), f.disk.Blocks(from, int(to-from)))
	f.retireWrites()
	f.writes = append(f.writes, logWrite{from, to, begin, over, done})
	f.asked = to
	t.WaitForDisk(done)
	return f.Durable()
}

// ReadLog reads durable bytes of a log of the coroutine's machine from an offset on, at the disk's
// time. It returns how many there were; none where they are no longer kept. A shared thread
// blocks; a worker's coroutine sleeps, which a handler cannot.
func (p *Program) ReadLog(f *LogFile, from int64, b []byte) int {
	first, last := f.Kept()
	if f.machine != p.w.machine.id || from < first || from >= last || len(b) == 0 {
		return 0
	}
	n := int(min(int64(len(b)), last-from))
	p.w.Charge(f.disk.Call + p.w.CopyCost(n))
	p.sync()
	now := p.w.Clock.Now()
	done := f.disk.Read(now, f.disk.Blocks(from, n))
	if t := ThreadOf(p); t != nil {
		t.WaitForDisk(done)
	} else {
		p.w.sys.above.Sleep(p.id, done-now)
	}
	return f.read(from, b[:n])
}

// Logger is the thread of a coroutine that may block.
func Logger(p *Program, what string) *Thread {
	t := ThreadOf(p)
	if t == nil {
		panic(fmt.Sprintf("r2: %s by %s, which is no thread of SpawnShared: it would block its worker", what, p.Name()))
	}
	return t
}

// WaitForDisk blocks until a request is complete.
func (t *Thread) WaitForDisk(done Time) {
	t.requests++
	t.w.Clock.At(done, t.share.machine.kSSD, t.w.id|uint32(t.requests)<<16)
	t.wait(writing)
}

// complete goes on behind the thread's last request; those of before a crash are void.
func (t *Thread) complete(request uint16) {
	if request == t.requests {
		t.finish(writing)
	}
}
