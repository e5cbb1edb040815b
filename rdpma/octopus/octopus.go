package octopus

import (
	"encoding/binary"
	"errors"
	"fmt"

	"drtmx/engine/fabric/host"
	"drtmx/engine/r2"
	"drtmx/rdpma"
)

// Setup is how a file system treats its memory. It can change while it runs,
// except for the kind of memory.
type Setup struct {
	DRAM    bool        // DRAM in the place of NVM: what Octopus was made for
	Hints   rdpma.Hints // of Table 2-4
	Durable bool        // a Write that has returned survives a crash
}

// Config sizes the file system.
type Config struct {
	Setup Setup
	// KeepDDIO leaves the servers' DDIO as it is, see rdpma.Config.
	KeepDDIO bool
	// Servers are the machines that keep files; default all.
	Servers []int
	// BlockBytes is the size of a block, a multiple of 256; default 64 KB. Larger
	// blocks mean fewer addresses per answer.
	BlockBytes int
	// FileBytes is the size of a file, a multiple of the block; default 1 MB.
	FileBytes int
	// Files is for how many files there is room per server; default 64.
	Files int
	// Pool tells pools of one cluster apart, see rdpma.Config.
	Pool int
}

// inodeHeader is the size of the file, in front of its blocks' pointers.
const inodeHeader = 8

// ErrNoFile: the file was not created.
var ErrNoFile = errors.New("no such file")

// FS is a file system.
type FS struct {
	rpcLookup uint8
	cl        *r2.Cluster
	mem       *rdpma.Memory
	cfg       Config
	inodes    []r2.Addr // by place in Servers
	most      int       // pointers in an answer

	request [12]byte // of a lookup
}

// Open makes an empty file system.
func Open(cl *r2.Cluster, c Config) (*FS, error) {
	if err := c.complete(cl); err != nil {
		return nil, err
	}
	pool := uint64(c.Files)*uint64(c.FileBytes) + uint64(c.FileBytes)
	mem, err := rdpma.Open(cl, rdpma.Config{Servers: c.Servers, PoolBytes: pool, Hints: c.Setup.Hints, DRAM: c.Setup.DRAM, KeepDDIO: c.KeepDDIO, Pool: c.Pool})
	if err != nil {
		return nil, err
	}
	fs := &FS{cl: cl, mem: mem, cfg: c, most: (cl.MaxPayload() - 1) / rdpma.PtrBytes}
	for _, m := range c.Servers {
		a, err := cl.Mem(m).Alloc(host.Alloc{Name: "octopus.inodes", Bytes: uint64(c.Files * fs.inodeBytes()), NVM: !c.Setup.DRAM})
		if err != nil {
			return nil, fmt.Errorf("octopus: inodes: %w", err)
		}
		fs.inodes = append(fs.inodes, a)
	}
	fs.rpcLookup = cl.Handle(fmt.Sprintf("octopus.%d.lookup", c.Pool), fs.lookup)
	return fs, nil
}

func (c *Config) complete(cl *r2.Cluster) error {
	if c.Servers == nil {
		for m := range cl.Machines() {
			c.Servers = append(c.Servers, m)
		}
	}
	if c.BlockBytes == 0 {
		c.BlockBytes = 64 << 10
	}
	if c.FileBytes == 0 {
		c.FileBytes = max(1<<20, c.BlockBytes)
	}
	if c.Files == 0 {
		c.Files = 64
	}
	switch {
	case c.BlockBytes < rdpma.XLineBytes || c.BlockBytes%rdpma.XLineBytes != 0:
		return fmt.Errorf("octopus: BlockBytes %d: must be a multiple of %d", c.BlockBytes, rdpma.XLineBytes)
	case c.FileBytes < c.BlockBytes || c.FileBytes%c.BlockBytes != 0:
		return fmt.Errorf("octopus: FileBytes %d: must be a multiple of BlockBytes, %d", c.FileBytes, c.BlockBytes)
	case c.Files < 1:
		return fmt.Errorf("octopus: Files %d: must be at least 1", c.Files)
	}
	return nil
}

func (fs *FS) inodeBytes() int {
	return inodeHeader + fs.cfg.FileBytes/fs.cfg.BlockBytes*rdpma.PtrBytes
}

// Use changes how operations that begin from now on treat the memory. Its kind
// stays.
func (fs *FS) Use(s Setup) {
	s.DRAM = fs.cfg.Setup.DRAM
	fs.cfg.Setup = s
	fs.mem.SetHints(s.Hints)
}

// home is the server of a file and the address of its inode.
func (fs *FS) home(file int) (machine int, inode r2.Addr, err error) {
	n := len(fs.cfg.Servers)
	if file < 0 || file >= n*fs.cfg.Files {
		return 0, 0, fmt.Errorf("octopus: file %d: numbers go from 0 to %d: %w", file, n*fs.cfg.Files-1, ErrNoFile)
	}
	return fs.cfg.Servers[file%n], fs.inodes[file%n] + r2.Addr(file/n*fs.inodeBytes()), nil
}

// Create allocates the blocks of a file, before the run.
func (fs *FS) Create(file int) error {
	machine, inode, err := fs.home(file)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(fs.cfg.FileBytes))
	for range fs.cfg.FileBytes / fs.cfg.BlockBytes {
		p, err := fs.mem.Alloc(machine, fs.cfg.BlockBytes)
		if err != nil {
			return fmt.Errorf("octopus: file %d: %w", file, err)
		}
		b = p.Append(b)
	}
	copy(fs.cl.Mem(machine).Bytes(inode, len(b)), b)
	return nil
}

// Statuses of an answer.
const (
	found = iota
	missing
)

// lookup answers with the pointers of some blocks: file, first block and how many
// are three 32-bit words.
func (fs *FS) lookup(c *r2.Co, _ r2.Peer, req, rep []byte) int {
	file, first, n := int(binary.LittleEndian.Uint32(req)), int(binary.LittleEndian.Uint32(req[4:])), int(binary.LittleEndian.Uint32(req[8:]))
	_, inode, err := fs.home(file)
	rep[0] = missing
	if err != nil || c.Load64(inode) == 0 {
		return 1
	}
	rep[0] = found
	return 1 + copy(rep[1:], c.Load(inode+inodeHeader+r2.Addr(first*rdpma.PtrBytes), n*rdpma.PtrBytes))
}

// spans are the parts of an operation, block by block, of which the file's server
// has told the places.
type spans struct {
	fs    *FS
	reply *r2.Reply
	file  int
	off   int // of the operation in the file
	n     int // bytes of it
	done  int // of them, so far
}

// span is the part that lies in one block.
type span struct {
	block    rdpma.Ptr
	off      int // in the block
	from, to int // of the operation's bytes
}

// next is the next part, false behind the last.
func (x *spans) next() (s span, more bool, err error) {
	if x.done == x.n {
		return s, false, nil
	}
	size := x.fs.cfg.BlockBytes
	at := x.off + x.done
	k := at/size - x.off/size
	if s.block, err = rdpma.ParsePtr(x.reply.B[1+k*rdpma.PtrBytes:]); err != nil {
		return s, false, fmt.Errorf("octopus: file %d: %w", x.file, err)
	}
	s.off, s.from = at%size, x.done
	x.done += min(size-s.off, x.n-x.done)
	s.to = x.done
	return s, true, nil
}

// ask asks the file's server for the blocks of a range.
func (fs *FS) ask(c *r2.Co, file, off, n int) (spans, error) {
	x := spans{fs: fs, file: file, off: off, n: n}
	machine, _, err := fs.home(file)
	if err != nil {
		return x, err
	}
	if n < 1 || off < 0 || off+n > fs.cfg.FileBytes {
		return x, fmt.Errorf("octopus: bytes %d to %d of file %d: files have %d", off, off+n, file, fs.cfg.FileBytes)
	}
	size := fs.cfg.BlockBytes
	first, count := off/size, (off+n-1)/size-off/size+1
	if count > fs.most {
		return x, fmt.Errorf("octopus: %d bytes are in %d blocks: an answer names at most %d: use larger blocks or smaller operations", n, count, fs.most)
	}
	req := fs.request[:0] // a call copies it
	for _, w := range [...]int{file, first, count} {
		req = binary.LittleEndian.AppendUint32(req, uint32(w))
	}
	x.reply = c.Call(machine, fs.rpcLookup, req)
	if err := c.Wait(); err != nil {
		return x, fmt.Errorf("octopus: file %d: %w", file, err)
	}
	if x.reply.B[0] != found {
		return x, fmt.Errorf("octopus: file %d: create it first: %w", file, ErrNoFile)
	}
	return x, nil
}

// Write overwrites bytes of a file, from an offset that is a multiple of 8: one RPC,
// then WRITEs, with the configuration's durability.
func (fs *FS) Write(c *r2.Co, file, off int, data []byte) error {
	x, err := fs.ask(c, file, off, len(data))
	if err != nil {
		return err
	}
	b := fs.mem.Batch(c)
	for {
		s, more, err := x.next()
		if err != nil {
			return err
		}
		if !more {
			return b.Wait()
		}
		if fs.cfg.Setup.Durable {
			b.PWrite(s.block, s.off, data[s.from:s.to], rdpma.OneSided)
		} else {
			b.Write(s.block, s.off, data[s.from:s.to], rdpma.OneSided)
		}
	}
}

// Read reads bytes of a file: one RPC, then READs.
func (fs *FS) Read(c *r2.Co, file, off, n int) ([]byte, error) {
	x, err := fs.ask(c, file, off, n)
	if err != nil {
		return nil, err
	}
	b := fs.mem.Batch(c)
	var data []rdpma.Data
	for {
		s, more, err := x.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		data = append(data, b.Read(s.block, s.off, s.to-s.from, rdpma.OneSided))
	}
	if err := b.Wait(); err != nil {
		return nil, err
	}
	out := make([]byte, 0, n)
	for i := range data {
		out = append(out, data[i].Bytes()...)
	}
	return out, nil
}

// BlockBytes is the size of a block.
func (fs *FS) BlockBytes() int { return fs.cfg.BlockBytes }

// Where is the place of a file's byte: for oracles, which read without being charged.
// The file was created, and has it.
func (fs *FS) Where(file, off int) r2.Loc {
	machine, inode, err := fs.home(file)
	if err != nil || off < 0 || off >= fs.cfg.FileBytes {
		panic(fmt.Sprintf("octopus: byte %d of file %d: there are %d per server, of %d bytes", off, file, fs.cfg.Files, fs.cfg.FileBytes))
	}
	size := fs.cfg.BlockBytes
	b := fs.cl.Mem(machine).Bytes(inode+inodeHeader+r2.Addr(off/size*rdpma.PtrBytes), rdpma.PtrBytes)
	p, err := rdpma.ParsePtr(b)
	if err != nil {
		panic(err) // it has the bytes of one
	}
	return r2.Loc{Machine: machine, Addr: p.Addr() + r2.Addr(off%size)}
}
