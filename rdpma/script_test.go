package rdpma

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
)

// Golden interaction scripts: testdata/*.txt have commands and, below a line of
// dashes, which verbs they became. go test -run Scripts -update writes the
// output anew.
//
//	cluster hints=H3,H6 [dram] [keep-ddio] [flush-dram]   two machines, the server is machine 1
//	hints H1-H9                                           from now on
//	alloc P BYTES [near|dimm=D|words]
//	free P
//	write|pwrite P OFFSET BYTES [two-sided]
//	read P OFFSET BYTES [two-sided]
//	cas P OFFSET
//	batch WRITE... ; WRITE...                             several at once
//
// The coroutine is on thread 0 of machine 0, whose RNIC leads to socket 0.
var update = flag.Bool("update", false, "write the expected output of the scripts anew")

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, file) })
	}
}

func runScript(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, ptrs: map[string]Ptr{}}
	defer func() { s.close() }()
	var out strings.Builder
	in := bufio.NewScanner(strings.NewReader(string(text)))
	expected := false // inside the output of the last command
	for in.Scan() {
		line := in.Text()
		switch {
		case expected && line != "":
		case line == "----":
			expected = true
		case line == "" || strings.HasPrefix(line, "#"):
			expected = false
			fmt.Fprintln(&out, line)
		default:
			fmt.Fprintf(&out, "%s\n----\n%s", line, s.command(strings.Fields(line)))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := out.String(); got != string(text) {
		t.Errorf("%s differs; look at what changed with -update. Got:\n%s", file, got)
	}
}

// script is a cluster under the commands of a file.
type script struct {
	t     *testing.T
	b     *bed
	ptrs  map[string]Ptr
	verbs []r2.VerbEvent
}

func (s *script) Phase(uint32, r2.Time, metrics.Phase) {}

func (s *script) Verb(v *r2.VerbEvent) { s.verbs = append(s.verbs, *v) }

func (s *script) close() {
	if s.b != nil {
		s.b.close()
	}
}

func (s *script) command(w []string) string {
	switch w[0] {
	case "cluster":
		s.open(w[1:])
		return "ok\n"
	case "hints":
		h, err := ParseHints(w[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.b.m.SetHints(h)
		return "ok\n"
	case "free":
		if err := s.b.m.Free(s.ptrs[w[1]]); err != nil {
			return err.Error() + "\n"
		}
		return "ok\n"
	}
	var out strings.Builder
	s.b.do(0, func(c *r2.Co) { s.verbs = nil; s.operate(c, &out, w) })
	return out.String()
}

func (s *script) open(w []string) {
	s.close()
	o := bedOptions{config: Config{Servers: []int{1}}}
	for _, opt := range w {
		key, value, _ := strings.Cut(opt, "=")
		var err error
		switch key {
		case "hints":
			o.config.Hints, err = ParseHints(value)
		case "dram":
			o.config.DRAM = true
		case "keep-ddio":
			o.config.KeepDDIO = true
		case "flush-dram":
			o.config.FlushDRAM = true
		default:
			err = fmt.Errorf("unknown option %q", opt)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	s.b = newBed(s.t, o)
	s.b.cl.Observe(s)
}

// operate runs an operation, and says what it took.
func (s *script) operate(c *r2.Co, out *strings.Builder, w []string) {
	if w[0] == "alloc" {
		s.alloc(c, out, w)
		return
	}
	m := s.b.m
	sums := metrics.ForPhases[uint32]()
	c.TakeTrips(sums)
	before := s.b.f.Counts()
	err := s.post(c, m, w)
	trips := c.TakeTrips(sums)
	after := s.b.f.Counts()
	if err != nil {
		fmt.Fprintln(out, err)
	}
	// Half of the messages of an RPC, and so of its doorbells, are the server's.
	fmt.Fprintf(out, "round trips %d, doorbells %d\n", trips, after.Doorbells-before.Doorbells)
	for _, v := range s.verbs {
		name := v.Op.String()
		if v.Op == fabric.Send {
			name = "RPC " + [...]string{"write", "read"}[v.RPC]
		}
		fmt.Fprintf(out, "  %s %d\n", name, v.Bytes)
	}
}

func (s *script) post(c *r2.Co, m *Memory, w []string) error {
	if w[0] == "cas" {
		_, err := m.CompareSwap(c, s.ptrs[w[1]], s.number(w[2]), 0, 1)
		return err
	}
	b := m.Batch(c)
	if w[0] == "batch" {
		w = w[1:]
	}
	for len(w) > 0 {
		n := 4
		how := OneSided
		if len(w) > 4 && w[4] == "two-sided" {
			how, n = TwoSided, 5
		}
		p, off, bytes := s.ptrs[w[1]], s.number(w[2]), s.number(w[3])
		switch w[0] {
		case "read":
			b.Read(p, off, bytes, how)
		case "write":
			b.Write(p, off, pattern(bytes, 1), how)
		case "pwrite":
			b.PWrite(p, off, pattern(bytes, 1), how)
		default:
			s.t.Fatalf("unknown command %q", w[0])
		}
		if w = w[n:]; len(w) > 0 {
			w = w[1:] // the semicolon
		}
	}
	return b.Wait()
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *script) alloc(c *r2.Co, out *strings.Builder, w []string) {
	m, n := s.b.m, s.number(w[2])
	var p Ptr
	var err error
	if len(w) == 3 {
		p, err = m.Alloc(1, n)
	} else {
		switch how, value, _ := strings.Cut(w[3], "="); how {
		case "near":
			p, err = m.AllocFor(c, 1, n)
		case "dimm":
			p, err = m.AllocOnDIMM(1, 0, s.number(value), n)
		case "words":
			p, err = m.AllocAtomic(1, n)
		}
	}
	if err != nil {
		fmt.Fprintln(out, err)
		return
	}
	s.ptrs[w[1]] = p
	b := m.servers[1].blocks[p.block]
	fmt.Fprintf(out, "%s at %d, room %d, socket %d\n", b.pool.name, p.addr-b.pool.base, b.room, p.socket)
}
