package octopus

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"drtmx/engine/r2"
	"drtmx/engine/txn"
	"drtmx/engine/workload"
	"drtmx/rdpma"
	files "drtmx/rdpma/octopus"
)

// Setup is how the file system treats its memory.
type Setup = files.Setup

// Name is the value of the knob workload that chooses it.
const Name = "octopus"

const (
	// FileBytes is the size of a file.
	FileBytes = 1 << 20
	// MaxPayload is what one write carries.
	MaxPayload = rdpma.MaxBytes
	// MinAlign is to what offsets are aligned at least: rdpma knows no others.
	MinAlign = 8
	maxAlign = 4096

	// The numbers of the pools, one for each kind of memory.
	poolNVM  = 8
	poolDRAM = 12
)

// Options of the benchmark. Zero values mean their defaults.
type Options struct {
	Payload int // bytes per write; 4,096
	Files   int // per server; 256
	Align   int // offsets are random multiples of it; 8
	Setup   Setup
}

// Bench is the workload.
type Bench struct {
	opt     Options
	env     workload.Env
	servers []int
	// fs are the file systems in NVM and in DRAM, nil until one is used.
	fs      [2]*files.FS
	content []byte
	report  workload.Verbs
}

// New checks the options.
func New(o Options) (*Bench, error) {
	if o.Payload == 0 {
		o.Payload = 4096
	}
	if o.Files == 0 {
		o.Files = 256
	}
	if o.Align == 0 {
		o.Align = MinAlign
	}
	if o.Files < 1 {
		return nil, fmt.Errorf("workload.files %d: at least 1", o.Files)
	}
	b := &Bench{opt: o}
	return b, b.check(o)
}

// check refuses what may change while the benchmark runs.
func (b *Bench) check(o Options) error {
	switch {
	case o.Payload < 1 || o.Payload > MaxPayload:
		return fmt.Errorf("workload.payload %d: from 1 to %d bytes", o.Payload, MaxPayload)
	case o.Align < MinAlign || o.Align > maxAlign || o.Align&(o.Align-1) != 0:
		return fmt.Errorf("workload.align %d: a power of 2 from %d to %d", o.Align, MinAlign, maxAlign)
	}
	return nil
}

// Name is the value of the knob workload that chooses it.
func (b *Bench) Name() string { return Name }

// Types has the only request type.
func (b *Bench) Types() []string { return []string{"write"} }

// DB is nil: no transactions.
func (b *Bench) DB() *txn.DB { return nil }

// Warm does nothing: what DDIO leaves of the cache fills in less than a warm-up.
func (b *Bench) Warm(workload.Between) error { return nil }

// Open makes the files.
func (b *Bench) Open(env workload.Env) error {
	if env.Cluster.Machines() < 2 {
		return fmt.Errorf("%s on one machine: at least 2, files are on others", Name)
	}
	b.env, b.report = env, workload.NewVerbs(env)
	for m := range env.ServerCount() {
		b.servers = append(b.servers, m)
	}
	all := len(b.servers) * b.opt.Files
	b.content = make([]byte, FileBytes+all*rdpma.LineBytes)
	rand := env.Cluster.Stream("octopus.content", 0)
	for i := 0; i < len(b.content); i += 8 {
		binary.LittleEndian.PutUint64(b.content[i:], rand.Uint64())
	}
	return b.use(b.opt.Setup)
}

// use changes to another setup, and makes its files if they are in a kind of memory
// that has none yet. DDIO is the cluster's switch, so hint H3 is none of ours.
func (b *Bench) use(s Setup) error {
	s.Hints.H3 = false
	b.opt.Setup = s
	if fs := b.current(); fs != nil {
		fs.Use(s)
		return nil
	}
	k, pool := 0, poolNVM
	if s.DRAM {
		k, pool = 1, poolDRAM
	}
	fs, err := files.Open(b.env.Cluster, files.Config{Setup: s, KeepDDIO: true, Servers: b.servers, FileBytes: FileBytes, Files: b.opt.Files, Pool: pool})
	if err != nil {
		return err
	}
	for file := range len(b.servers) * b.opt.Files {
		if err := fs.Create(file); err != nil {
			return err
		}
	}
	b.fs[k] = fs
	return nil
}

// current is the file system in use.
func (b *Bench) current() *files.FS {
	if b.opt.Setup.DRAM {
		return b.fs[1]
	}
	return b.fs[0]
}

// bytes are what a file has in a range, once written.
func (b *Bench) bytes(file, off, n int) []byte { return b.content[file*rdpma.LineBytes+off:][:n] }

// Set changes the payload, the alignment or the setup for the writes that follow.
func (b *Bench) Set(name string, value any) error {
	o := b.opt
	switch v := value.(type) {
	case int:
		switch name {
		case "payload":
			o.Payload = v
		case "align":
			o.Align = v
		default:
			return workload.UnknownParameter(Name, name)
		}
	case Setup:
		return b.use(v)
	default:
		return workload.UnknownParameter(Name, name)
	}
	if err := b.check(o); err != nil {
		return err
	}
	b.opt = o
	return nil
}

// Each visits all bytes of the files as they are on the servers, block by block: for
// oracles, which read without being charged.
func (b *Bench) Each(f func(at r2.Loc, block []byte)) {
	b.blocks(func(_, _ int, at r2.Loc, block []byte) bool {
		f(at, block)
		return true
	})
}

// blocks visits them until f has seen enough.
func (b *Bench) blocks(f func(file, off int, at r2.Loc, block []byte) bool) {
	for _, fs := range b.fs {
		if fs == nil {
			continue
		}
		for file := range len(b.servers) * b.opt.Files {
			for off := 0; off < FileBytes; off += fs.BlockBytes() {
				at := fs.Where(file, off)
				if !f(file, off, at, b.env.Cluster.Mem(at.Machine).Bytes(at.Addr, fs.BlockBytes())) {
					return
				}
			}
		}
	}
}

// blank is a page of a file that was not written. A block has whole pages.
var blank [4096]byte

// Check finds a byte that was never written where it is.
func (b *Bench) Check() []workload.Invariant {
	v := workload.Invariant{Name: "octopus.bytes", OK: true, Rule: "each byte of a file is what is written there"}
	b.blocks(func(file, off int, _ r2.Loc, got []byte) bool {
		for ; v.OK && len(got) > 0; off, got = off+len(blank), got[len(blank):] {
			page, want := got[:len(blank)], b.bytes(file, off, len(blank))
			if bytes.Equal(page, blank[:]) || bytes.Equal(page, want) { // most
				continue
			}
			for i, x := range page {
				if x != 0 && x != want[i] {
					v.OK, v.Text = false, fmt.Sprintf("file %d has %#02x at byte %d, where only %#02x is written", file, x, off+i, want[i])
					break
				}
			}
		}
		return v.OK
	})
	return []workload.Invariant{v}
}

// runner is one coroutine's loop.
type runner struct {
	b *Bench
	c *r2.Co
}

// Runner makes a coroutine's loop.
func (b *Bench) Runner(c *r2.Co) workload.Runner { return &runner{b, c} }

// Next writes once.
func (r *runner) Next() error {
	b, c := r.b, r.c
	begin := b.report.Begin(c, r2.Mode{Outstanding: true, Doorbell: true})
	file, off := r.target()
	if err := b.current().Write(c, file, off, b.bytes(file, off, b.opt.Payload)); err != nil {
		return err
	}
	b.report.Done(c, begin)
	return nil
}

// target draws a file of another server, and a place in it.
func (r *runner) target() (file, off int) {
	b, rand, m := r.b, r.c.Rand(), r.c.Machine()
	n := len(b.servers)
	others := n
	if m < n {
		others--
	}
	s := rand.Intn(others)
	if m < n && s >= m {
		s++
	}
	places := (FileBytes-b.opt.Payload)/b.opt.Align + 1
	return rand.Intn(b.opt.Files)*n + s, rand.Intn(places) * b.opt.Align
}
