package runs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The test binary is also the other process: with these variables it writes to a store until it is done or killed, and
// says what was acknowledged, a line each.
const (
	writerFile = "DRTMX_TEST_WRITER"
	writerName = "DRTMX_TEST_WRITER_NAME"
	writerRuns = "DRTMX_TEST_WRITER_RUNS"
	writerMode = "DRTMX_TEST_WRITER_MODE"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(writerFile); file != "" {
		n, _ := strconv.Atoi(os.Getenv(writerRuns))
		if err := write(file, os.Getenv(writerName), n, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// written is what a writer keeps as its i-th, of sizes that take none, one and many pages more.
func written(name string, i int) (Kept, []Member, string, []byte) {
	k := sampleRun(i)
	k.Note = fmt.Sprintf("%s %d", name, i)
	of := func(what string) []byte { return bytes.Repeat([]byte(what+k.Note+","), 1+i%5*400) }
	kept, _ := Key("kept", name, i)
	point, _ := Key("point", name, i)
	return k, []Member{{kept, of("kept")}}, point, of("point")
}

// write keeps n runs and as many points, or goes on for ever for 0.
func write(file, name string, n int, acknowledged io.Writer) error {
	s, err := openWith(file, journal(os.Getenv(writerMode)))
	if err != nil {
		return err
	}
	defer s.Close()
	for i := 0; n == 0 || i < n; i++ {
		k, members, point, body := written(name, i)
		if err := s.Put(point, body); err != nil {
			return err
		}
		id, err := s.Keep(k, members)
		if err != nil {
			return err
		}
		fmt.Fprintf(acknowledged, "%d %d\n", i, id)
	}
	return nil
}

func writer(t *testing.T, file, name string, mode journal, n int) (*exec.Cmd, io.Reader, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), writerFile+"="+file, writerName+"="+name, fmt.Sprintf("%s=%d", writerRuns, n), writerMode+"="+string(mode))
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out, &errs
}

// has fails the test unless the first n of a writer are there, whole.
func has(t *testing.T, s *Store, name string, n int, ids []ID) {
	t.Helper()
	for i := range n {
		want, members, point, body := written(name, i)
		if got, ok := s.Get(point); !ok || !bytes.Equal(got, body) {
			t.Errorf("point %d of %s is gone", i, name)
		}
		list, err := s.List(Filter{Note: want.Note, Since: want.At(), Until: want.At()})
		if err != nil || len(list) == 0 {
			t.Errorf("run %d of %s is gone: %v", i, name, err)
			continue
		}
		if len(ids) > 0 && list[0].ID != ids[i] {
			t.Errorf("run %d of %s is %v, it was acknowledged as %v", i, name, list[0].ID, ids[i])
		}
		if got, err := s.Member(list[0].ID, 1); err != nil || !bytes.Equal(got, members[0].Body) {
			t.Errorf("result of run %d of %s: %v", i, name, err)
		}
	}
}

// sound fails the test unless SQLite finds the file whole.
func sound(t *testing.T, s *Store) {
	t.Helper()
	var says string
	if err := s.db.QueryRow("PRAGMA integrity_check").Scan(&says); err != nil || says != "ok" {
		t.Fatalf("integrity: %q, %v", says, err)
	}
}

// Two processes open a new store and write at once: both wait for each other, and nothing is lost.
func TestTwoProcessesWriteAtOnce(t *testing.T) {
	for _, mode := range []journal{writeAhead, rollback} {
		t.Run(string(mode), func(t *testing.T) { twoWriters(t, mode) })
	}
}

func twoWriters(t *testing.T, mode journal) {
	const n = 60
	file := filepath.Join(t.TempDir(), "runs.db")
	a, outA, errsA := writer(t, file, "a", mode, n)
	b, outB, errsB := writer(t, file, "b", mode, n)
	go io.Copy(io.Discard, outB)
	io.Copy(io.Discard, outA)
	if err := a.Wait(); err != nil {
		t.Fatal(err, errsA)
	}
	if err := b.Wait(); err != nil {
		t.Fatal(err, errsB)
	}
	s, err := openWith(file, mode)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sound(t, s)
	has(t, s, "a", n, nil)
	has(t, s, "b", n, nil)
	if list, err := s.List(Filter{}); err != nil || len(list) != 2*n {
		t.Errorf("%d runs, want %d, %v", len(list), 2*n, err)
	}
}

// A process that is killed while it writes leaves a store with all that was acknowledged.
func TestKilledWriter(t *testing.T) {
	for _, mode := range []journal{writeAhead, rollback} {
		t.Run(string(mode), func(t *testing.T) { killedWriter(t, mode) })
	}
}

func killedWriter(t *testing.T, mode journal) {
	file := filepath.Join(t.TempDir(), "runs.db")
	r := rand.New(rand.NewPCG(1, 2))
	total := 0
	for round := range 6 {
		name := fmt.Sprintf("round%d", round)
		c, out, errs := writer(t, file, name, mode, 0)
		lines, stopAt := bufio.NewScanner(out), 3+r.IntN(40)
		var ids []ID
		for lines.Scan() { // also what comes between the signal and its effect
			var i, id int
			if n, _ := fmt.Sscanf(lines.Text(), "%d %d", &i, &id); n == 2 && i == len(ids) {
				ids = append(ids, ID(id))
			}
			if len(ids) == stopAt {
				time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond) // into the midst of a write
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := c.Wait(); err == nil || len(ids) < stopAt {
			t.Fatalf("ended by itself after %d: %v %s", len(ids), err, errs)
		}
		s, err := openWith(file, mode)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, s)
		has(t, s, name, len(ids), ids)
		total += len(ids)
		if list, err := s.List(Filter{}); err != nil || len(list) < total {
			t.Errorf("%d runs, %d were acknowledged, %v", len(list), total, err)
		}
		s.Close()
	}
}

// snapshot is a store's files as they were when a commit was acknowledged.
type snapshot struct {
	db, wal []byte
	done    int // runs acknowledged
}

func take(t *testing.T, file string, done int) snapshot {
	t.Helper()
	db, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(file + "-wal")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return snapshot{db, wal, done}
}

// restore opens files as a crash left them.
func restore(t *testing.T, dir string, db, wal []byte) *Store {
	t.Helper()
	file := filepath.Join(dir, "cut.db")
	for _, end := range []string{"", "-wal", "-shm"} {
		os.Remove(file + end)
	}
	if err := os.WriteFile(file, db, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file+"-wal", wal, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{File: file})
	if err != nil {
		t.Fatalf("a store that was cut does not open: %v", err)
	}
	return s
}

// The log is cut at the end of every write to it, and at random places within: what was acknowledged before the
// cut is there, and what was not is there as a whole or not at all.
func TestLogCutAnywhere(t *testing.T) {
	const runs = 12
	s := open(t, 0)
	if err := drain(s.db.Query("PRAGMA wal_autocheckpoint = 0")); err != nil {
		t.Fatal(err)
	}
	snaps := []snapshot{take(t, s.file, 0)}
	for i := range runs {
		k, members, point, body := written("w", i)
		if err := s.Put(point, body); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Keep(k, members); err != nil {
			t.Fatal(err)
		}
		snaps = append(snaps, take(t, s.file, i+1))
	}
	last := snaps[runs]
	ends := []int{0} // of the writes: a header of 32 bytes, then frames of a page and 24
	for at := 32; at <= len(last.wal); at += 24 + 4096 {
		ends = append(ends, at)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		ends = append(ends, r.IntN(len(last.wal)+1))
	}
	step, dir, partial := 1, t.TempDir(), 0
	if testing.Short() {
		step = 4
	}
	for i := 0; i < len(ends); i += step {
		cut := ends[i]
		acknowledged := 0
		for _, x := range snaps {
			if len(x.wal) <= cut {
				acknowledged = x.done
			}
		}
		c := restore(t, dir, last.db, last.wal[:cut])
		list, err := c.List(Filter{})
		if err != nil || len(list) < acknowledged || len(list) > acknowledged+1 {
			t.Fatalf("cut at %d of %d: %d runs, %d were acknowledged, %v", cut, len(last.wal), len(list), acknowledged, err)
		}
		has(t, c, "w", len(list), nil)
		sound(t, c)
		if cut < len(last.wal) {
			partial++
		}
		c.Close()
	}
	if partial == 0 || len(snaps[0].wal) >= len(last.wal) {
		t.Error("nothing was cut")
	}
}

// A log is being copied into the file, page by page in any order, when the process ends: the log is still there, and
// everything with it.
func TestCheckpointCutAnywhere(t *testing.T) {
	const runs, page = 12, 4096
	s := open(t, 0)
	if err := drain(s.db.Query("PRAGMA wal_autocheckpoint = 0")); err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		k, members, point, body := written("w", i)
		if err := s.Put(point, body); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Keep(k, members); err != nil {
			t.Fatal(err)
		}
	}
	before := take(t, s.file, runs)
	if err := drain(s.db.QueryContext(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)")); err != nil {
		t.Fatal(err)
	}
	after := take(t, s.file, runs)
	if bytes.Equal(before.db, after.db) || len(after.db) < len(before.db)+8*page {
		t.Fatal("nothing was copied")
	}
	r, dir := rand.New(rand.NewPCG(5, 6)), t.TempDir()
	for range 40 {
		db := append(bytes.Clone(before.db), make([]byte, len(after.db)-len(before.db))...)
		for at := 0; at < len(db); at += page {
			switch r.IntN(3) {
			case 0:
				copy(db[at:at+page], after.db[at:])
			case 1: // half of a page
				copy(db[at:at+page/2], after.db[at:])
			}
		}
		c := restore(t, dir, db[:len(before.db)+r.IntN(len(db)-len(before.db)+1)], before.wal)
		has(t, c, "w", runs, nil)
		sound(t, c)
		c.Close()
	}
}

// One process has the store open and writes while another ends it: the log that both have is not lost.
func TestOthersMayClose(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file, 0)
	for i := range 5 {
		if err := s.Put(key(t, i), []byte(strings.Repeat("x", 1000*i))); err != nil {
			t.Fatal(err)
		}
		c, out, errs := writer(t, file, fmt.Sprint("w", i), writeAhead, 3)
		io.Copy(io.Discard, out)
		if err := c.Wait(); err != nil {
			t.Fatal(err, errs)
		}
	}
	for i := range 5 {
		if b, ok := s.Get(key(t, i)); !ok || len(b) != 1000*i {
			t.Errorf("%d: %d bytes, %v", i, len(b), ok)
		}
		has(t, s, fmt.Sprint("w", i), 3, nil)
	}
}

// Whatever a disk does to the file, what is read is what was written, or nothing; a store that cannot be opened says so in
// a line.
func TestDamagedFile(t *testing.T) {
	const points = 40
	file := filepath.Join(t.TempDir(), "runs.db")
	s := openFile(t, file, 0)
	for i := range points {
		_, _, point, body := written("w", i)
		if err := s.Put(point, body); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 8))
	absent, there, refused := 0, 0, 0
	for round := range 60 {
		db := bytes.Clone(whole)
		for range 1 + round/4 {
			at := r.IntN(len(db) - 64)
			for i := range 64 {
				db[at+i] = byte(r.Uint32())
			}
		}
		if round%5 == 4 {
			db = db[:r.IntN(len(db))]
		}
		if err := os.WriteFile(file, db, 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := Open(Options{File: file})
		if err != nil {
			if refused++; strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), file) {
				t.Error(err)
			}
			continue
		}
		for i := range points {
			_, _, point, body := written("w", i)
			switch got, ok := d.Get(point); {
			case !ok:
				absent++
			case bytes.Equal(got, body):
				there++
			default:
				t.Fatalf("point %d is read as %.40q", i, got)
			}
		}
		d.Close()
		os.Remove(file + "-wal")
		os.Remove(file + "-shm")
	}
	if absent == 0 || there == 0 {
		t.Errorf("%d absent, %d there, %d stores refused", absent, there, refused)
	}
	t.Logf("%d absent, %d there, %d stores refused", absent, there, refused)
}
