// Package scripttest runs golden interaction scripts: a file in testdata has commands and, below
// a line of dashes, what the protocol did for each. Only tests import it.
package scripttest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/history"
	"drtmx/engine/kv"
	"drtmx/engine/metrics"
	"drtmx/engine/r2"
	"drtmx/engine/r2/clocks"
	"drtmx/engine/replication"
	"drtmx/engine/replication/redo"
	"drtmx/engine/sim"
	"drtmx/engine/store"
	"drtmx/engine/testbed"
	"drtmx/engine/timestamp"
	"drtmx/engine/txn"
)

// Protocol is whose scripts they are.
type Protocol struct {
	// Config makes the configuration of one attempt from the options of the cluster command that
	// are not the script's own, KNOB=VALUE.
	Config func(options map[string]string) (txn.Config, error)
	Row    func(row []byte) string
	// Dated is a configuration of which records have versions; nil: it has none.
	Dated func(cfg txn.Config, o timestamp.Options) txn.Config
}

// Run runs testdata/*.txt. go test -run Scripts -update writes what is expected anew. The commands:
//
//	cluster machines=M [scheme=S] [oracle=true] [KNOB=VALUE ...]   key k lives on machine k mod M; those below 32 exist, with
//	                         value 10k; versions have stamps of scheme S, and all clocks stand still at 0. An oracle is one machine
//	                         more; knobs ts.* are switches of S
//	clock M V                the clock of machine M shows V
//	begin T on=M [ro] [seen=V]   starts transaction T on machine M, one attempt; its client has seen stamp V
//	prefetch T k ...         announces keys
//	queue T k ...            announces keys that are read before a value is used
//	read T k                 update T k +d, which reads it first
//	put T k v                writes it without reading
//	insert T k v             delete T k
//	commit T                 rollback T
//	COMMAND T ... &          goes on after 50 us if it is not done by then: it waits for a lock
//	await T                  waits for it
//	hold T stamped           has T stand still when it has its stamp and is not decided; hold T installed, when its versions are in place
//	                         and the scheme has not heard of it. let T has it go on
//	stamp T                  the stamp that T has drawn
//	point T                  where snapshot T reads
//	writes M N k             N transactions on machine M write key k, one after the other
//	oracle                   what the oracle's machine has
//	settle                   lets everything passive finish
//	rows k ...               what primary and backups hold
//
// Requests are listed by phase in the order of their posting; passive
// one-sided ones appear when a later completion confirms them.
func Run(t *testing.T, p Protocol) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { runScript(t, p, file) })
	}
}

var update = flag.Bool("update", false, "write the expected output of the scripts anew")

func runScript(t *testing.T, p Protocol, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, p: p}
	defer s.close()
	var out strings.Builder
	in := bufio.NewScanner(strings.NewReader(string(text)))
	expected := false // inside the output of the last command
	for in.Scan() {
		line := in.Text()
		switch {
		case expected && line != "":
			continue
		case line == "----":
			expected = true
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			expected = false
			fmt.Fprintln(&out, line)
			continue
		}
		fmt.Fprintf(&out, "%s\n----\n%s", line, s.command(strings.Fields(line)))
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := out.String(); got != string(text) {
		t.Errorf("%s differs; look at what changed with -update:\n%s", file, firstDifference(got, string(text)))
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is %q, was %q", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(a), len(b))
}

// script is a tiny cluster under the commands of a file.
type script struct {
	t     *testing.T
	p     Protocol
	s     *sim.Sim
	f     *fabric.Fabric
	cl    *r2.Cluster
	db    *txn.DB
	table store.Table
	rec   *history.Recorder
	txns  map[string]*actor
	seats []*actor   // coroutines, by machine and number
	clock [16]uint64 // by machine
	verbs []r2.VerbEvent
	watch watch // of the scheme in force
}

// actor is a coroutine that runs one transaction after the other, step by
// step.
type actor struct {
	co     uint32
	on     int
	name   string
	ro     bool
	seen   timestamp.Stamp
	begun  bool
	step   []string
	answer string
	done   bool
	out    txn.Outcome
}

const (
	scriptTable = 1
	scriptSeats = 2 // coroutines per machine
)

func (s *script) close() {
	if s.s != nil {
		s.s.Close()
		s.f.Close()
	}
}

func (s *script) command(w []string) string {
	s.verbs = s.verbs[:0]
	var text string
	switch w[0] {
	case "cluster":
		return s.open(w[1:])
	case "begin":
		text = s.begin(w[1], w[2:])
	case "clock":
		s.clock[number(s.t, w[1])] = number(s.t, w[2])
		return ""
	case "settle":
		s.run(200 * sim.Microsecond)
		text = fmt.Sprintf("in flight: %d\n", s.db.InFlight())
	case "rows":
		return s.rows(w[1:])
	case "hold", "let", "stamp", "point", "writes", "oracle":
		return s.ask(w[0], w[1:])
	default:
		a := s.txns[w[1]]
		if a == nil {
			s.t.Fatalf("no transaction %s", w[1])
		}
		if step := append([]string{w[0]}, w[2:]...); step[0] != "await" {
			a.step, a.answer = step, ""
		}
		text = s.do(a)
	}
	return text + s.trace()
}

func (s *script) open(args []string) string {
	machines, options := 3, map[string]string{}
	for _, arg := range args {
		k, v, _ := strings.Cut(arg, "=")
		options[k] = v
	}
	if v, ok := options["machines"]; ok {
		delete(options, "machines")
		n, err := strconv.Atoi(v)
		if err != nil {
			s.t.Fatal(err)
		}
		machines = n
	}
	scheme, asked := options["scheme"], options["oracle"] == "true"
	delete(options, "scheme")
	delete(options, "oracle")
	values := switches(machines, asked, options)
	members := testbed.Members(values)
	cfg, err := s.p.Config(options)
	if err != nil {
		s.t.Fatal(err)
	}
	if scheme != "" {
		cfg = s.p.Dated(cfg, timestamp.Options{Scheme: scheme, VersionBytes: 1 << 16, GCNS: 1_000_000_000, Values: values, Clocks: clocks.Fixed(func(m int) uint64 { return s.clock[m] })})
	}
	profile, err := profile.Load("val")
	if err != nil {
		s.t.Fatal(err)
	}
	s.s = sim.New(sim.Options{Seed: 1})
	if s.f, err = fabric.New(s.s, fabric.Config{Profile: profile, Machines: members.Machines(), TornReads: true}); err != nil {
		s.t.Fatal(err)
	}
	if s.cl, err = r2.New(s.s, s.f, r2.Config{Threads: 1, Coroutines: scriptSeats}); err != nil {
		s.t.Fatal(err)
	}
	s.rec = history.New(history.Options{})
	s.watch = watch{held: map[uint32]string{}, stamps: map[uint32]timestamp.Stamp{}, points: map[uint32][]uint64{}, last: map[string]uint32{}}
	o := txn.Options{Config: cfg, Store: kv.Kind, Schemes: s.watch.over(), Members: members, Recorder: s.rec, Log: replication.Choice{Kind: redo.Kind, Check: true}, OnDone: s.ended}
	if s.db, err = txn.Open(s.cl, o); err != nil {
		return err.Error() + "\n"
	}
	if s.table, err = s.db.AddTable(store.Spec{ID: scriptTable, Name: "t", ValueBytes: 8, Spare: 16, Init: func(key uint64, v []byte) {
		binary.LittleEndian.PutUint64(v, 10*key)
	}}, store.Stripes(machines, 32)); err != nil {
		s.t.Fatal(err)
	}
	s.txns = map[string]*actor{}
	for m := range machines {
		for range scriptSeats {
			a := &actor{on: m}
			s.seats = append(s.seats, a)
			a.co = s.cl.Spawn(m, 0, func(c *r2.Co) { s.act(c, a) }).ID()
		}
	}
	s.cl.Observe(s)
	s.run(10 * sim.Microsecond)
	s.verbs = s.verbs[:0]
	return "ok\n"
}

// Phase and Verb are what r2 reports.
func (s *script) Phase(uint32, r2.Time, metrics.Phase) {}

// Verb collects a request.
func (s *script) Verb(v *r2.VerbEvent) { s.verbs = append(s.verbs, *v) }

func (s *script) run(d sim.Time) {
	if err := s.s.Run(s.s.Now() + d); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) ended(m, thread int, o *txn.Outcome) {
	for _, a := range s.seats {
		if a.co == o.Co {
			a.out = o.Clone()
		}
	}
}

// number reads one.
func number(t *testing.T, text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *script) begin(name string, args []string) string {
	on, ro, seen := 0, false, uint64(0)
	for _, arg := range args {
		if v, ok := strings.CutPrefix(arg, "on="); ok {
			on, _ = strconv.Atoi(v)
		}
		if v, ok := strings.CutPrefix(arg, "seen="); ok {
			seen = number(s.t, v)
		}
		ro = ro || arg == "ro"
	}
	for _, a := range s.seats {
		if a.on == on && a.name == "" {
			a.name, a.ro, a.begun, a.done, a.seen = name, ro, true, false, timestamp.Stamp(seen)
			s.txns[name], s.watch.last[name] = a, a.co
			s.run(5 * sim.Microsecond)
			return ""
		}
	}
	s.t.Fatalf("machine %d has no coroutine free for %s", on, name)
	return ""
}

// do waits for the answer of a transaction to its step, or gives that up for now.
func (s *script) do(a *actor) string {
	patience, n := 2000, len(a.step)-1
	if n > 0 && a.step[n] == "&" {
		patience, a.step = 50, a.step[:n]
	}
	for range patience {
		s.run(sim.Microsecond)
		if a.step == nil && a.answer != "" {
			name := a.name
			if a.done {
				s.run(20 * sim.Microsecond)
				delete(s.txns, name)
				a.name = ""
			}
			return name + ": " + a.answer + "\n"
		}
	}
	if patience == 2000 {
		s.t.Fatalf("%s: %v does not end", a.name, a.step)
	}
	return a.name + ": waits\n"
}

// act is the program of a coroutine.
func (s *script) act(c *r2.Co, a *actor) {
	client := s.db.Client(c)
	for {
		for !a.begun {
			c.Sleep(200 * sim.Nanosecond)
		}
		a.begun = false
		if a.seen > 0 { // by a transaction before
			_ = client.Run(0, false, func(tx *txn.Tx) error {
				tx.Session().Seen = a.seen
				return tx.Rollback()
			})
		}
		err := client.Run(0, a.ro, func(tx *txn.Tx) error { return a.body(c, tx) })
		switch {
		case err == nil:
			a.answer = "committed" + trips(&a.out)
		case errors.Is(err, txn.ErrRollback):
			a.answer = "rolled back"
		default:
			a.answer = err.Error() + trips(&a.out)
		}
		a.step, a.done = nil, true
	}
}

func trips(o *txn.Outcome) string {
	var b strings.Builder
	for _, p := range metrics.Phases() {
		n := o.RoundTrips[p]
		if n > 0 {
			fmt.Fprintf(&b, ", %s %d", p, n)
		}
	}
	if b.Len() == 0 {
		return ", no round trips"
	}
	return "; round trips: " + b.String()[2:]
}

func (a *actor) body(c *r2.Co, tx *txn.Tx) error {
	for {
		for a.step == nil {
			c.Sleep(200 * sim.Nanosecond)
		}
		w := a.step
		switch w[0] {
		case "commit":
			return nil
		case "rollback":
			return tx.Rollback()
		}
		answer, err := a.access(tx, w)
		if err != nil {
			return err
		}
		a.answer, a.step = answer, nil
	}
}

func (a *actor) access(tx *txn.Tx, w []string) (string, error) {
	var refs []txn.Ref
	for _, k := range w[1:] {
		if !strings.HasPrefix(k, "+") {
			n, err := strconv.ParseUint(k, 10, 64)
			if err != nil {
				return "", err
			}
			refs = append(refs, txn.Ref{Table: scriptTable, Key: n})
		}
	}
	switch w[0] {
	case "prefetch":
		return "ok", tx.Prefetch(refs...)
	case "queue":
		return "ok", tx.Queue(refs...)
	case "delete":
		return "ok", tx.Delete(scriptTable, refs[0].Key)
	case "put", "insert":
		return a.write(tx, w[0], refs[0].Key, refs[1].Key)
	}
	v, err := tx.GetInt(scriptTable, refs[0].Key)
	if errors.Is(err, txn.ErrNotFound) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	if w[0] == "update" {
		d, err := strconv.ParseInt(w[2], 10, 64)
		if err != nil {
			return "", err
		}
		v += d
		if err := tx.PutInt(scriptTable, refs[0].Key, v); err != nil {
			return "", err
		}
	}
	return strconv.FormatInt(v, 10), nil
}

// write writes or inserts a record.
func (a *actor) write(tx *txn.Tx, how string, key, v uint64) (string, error) {
	if how == "put" {
		return "ok", tx.PutInt(scriptTable, key, int64(v))
	}
	value, err := tx.Insert(scriptTable, key)
	if errors.Is(err, txn.ErrExists) {
		return "exists", nil
	}
	if err != nil {
		return "", err
	}
	binary.LittleEndian.PutUint64(value, v)
	return "ok", nil
}

// trace lists the requests of the last command.
func (s *script) trace() string {
	sort.SliceStable(s.verbs, func(i, j int) bool { return s.verbs[i].Post < s.verbs[j].Post })
	var b strings.Builder
	for _, v := range s.verbs {
		op := v.Op.String()
		if v.Op == fabric.Send {
			name := s.db.Cluster().RPCName(v.RPC)
			op = "RPC " + name[strings.LastIndexByte(name, '.')+1:]
		}
		fmt.Fprintf(&b, "  %-13s m%d -> m%d  %s %d", v.Phase, v.From, v.To, op, v.Bytes)
		if v.Passive {
			b.WriteString(" passive")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *script) rows(keys []string) string {
	var b strings.Builder
	row := make([]byte, s.table.RowBytes())
	for _, k := range keys {
		key, err := strconv.ParseUint(k, 10, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d:", key)
		m := s.table.Primary(key)
		for _, at := range append([]int{m}, s.db.Log().Backups(m)...) {
			if !s.table.Row(at, key, row) {
				fmt.Fprintf(&b, "  m%d none", at)
				continue
			}
			fmt.Fprintf(&b, "  m%d %s value %d", at, s.p.Row(row), binary.LittleEndian.Uint64(s.table.Rows().Layout.Value(row)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
