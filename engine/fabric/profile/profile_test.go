package profile

import (
	"reflect"
	"strings"
	"testing"
)

func TestProfiles(t *testing.T) {
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name {
			t.Errorf("profile %s calls itself %s", name, p.Name)
		}
	}
	p := loadVal(t)
	n := p.NodeTypes[0]
	if p.ID() != "val@1" || n.Cores() != 24 || n.Sockets.Int() != 2 || n.NICs.Int() != 2 || n.DRAM.Int() != 128 {
		t.Errorf("val is %s with %+v", p.ID(), n)
	}
	if p.CPU.CoroutineSwitch.Time() != 20_000 {
		t.Errorf("a coroutine switch takes %d ps, the thesis says 20 ns", p.CPU.CoroutineSwitch.Time())
	}
	if _, err := Load("vla"); err == nil || !strings.Contains(err.Error(), "val") {
		t.Errorf("unknown profile: %v", err)
	}
	if _, err := p.NodeType("r74v"); err == nil || !strings.Contains(err.Error(), `"r74v"`) {
		t.Errorf("unknown node type: %v", err)
	}
}

// Whoever changes a profile that it has loaded changes its own.
func TestLoadedProfilesShareNothing(t *testing.T) {
	var spoil func(v reflect.Value)
	spoil = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				spoil(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				spoil(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				spoil(v.Index(i))
			}
		case reflect.Float64:
			v.SetFloat(-1)
		case reflect.Map, reflect.Interface, reflect.Func, reflect.Chan:
			t.Fatalf("a %v in a profile: clone does not know it", v.Type())
		}
	}
	for _, name := range Names() {
		for range 2 {
			p, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			b, err := profileFiles.ReadFile(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			if want, err := Parse(b); err != nil || !reflect.DeepEqual(p, want) {
				t.Errorf("%s: loaded is not what is in the file, %v", name, err)
			}
			if spoil(reflect.ValueOf(p)); p.CPU.CoroutineSwitch.Value != -1 || p.NodeTypes[0].Sockets.Value != -1 {
				t.Fatalf("%s: the test changes nothing", name)
			}
		}
	}
}

// Whatever is wrong with a profile, the error says where.
func TestProfileErrors(t *testing.T) {
	b, err := profileFiles.ReadFile("val.yaml")
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	cases := []struct{ name, old, new, has string }{
		{"empty", good, "", "empty"},
		{"not YAML", good, "a: [", "YAML"},
		{"a list", good, "- 1\n", "mapping"},
		{"unknown section", "\ncpu:", "\ncpus:", `"cpus"`},
		{"unknown number", "  mmio:", "  mmoi:", `"mmoi"`},
		{"missing number", good[strings.Index(good, "  mmio:"):strings.Index(good, "  poll_empty:")], "", `"mmio" is missing`},
		{"missing field", "value: 97, ", "", `cpu.mmio: field "value" is missing`},
		{"unknown field", "value: 97, ", "value: 97, valeu: 1, ", `cpu.mmio: unknown field "valeu"`},
		{"twice", "value: 97, ", "value: 97, value: 71, ", `"value" `},
		{"not a number", "value: 97,", "value: fast,", `cpu.mmio: value "fast"`},
		{"not finite", "value: 97,", "value: .inf,", "cpu.mmio: value"},
		{"negative", "value: 97,", "value: -1,", "cpu.mmio: value -1"},
		{"wrong unit", "value: 97, unit: ns", "value: 97, unit: us", `cpu.mmio: unit "us"`},
		{"wrong kind", "value: 97, unit: ns, kind: fitted", "value: 97, unit: ns, kind: guess", `cpu.mmio: kind "guess"`},
		{"no source", `source: "f2-2a-shared-drop, f2-5-db-order; hundreds of cycles (thesis 2.2.3); as R74V, for it is the time of the bus"`, `source: ""`, "cpu.mmio: source"},
		{"half a socket", "value: 2, unit: count", "value: 2.5, unit: count", "2.5"},
		{"odd packets", "value: 256, unit: bytes, kind: datasheet,\n      meaning: \"of a packet", "value: 250, unit: bytes, kind: datasheet,\n      meaning: \"of a packet", "power of two"},
		{"no contexts", "value: 480,", "value: 0,", "nic.qp_contexts"},
		{"too many ways", "value: 20, unit: count, kind: datasheet,\n        meaning: \"ways of", "value: 25, unit: count, kind: datasheet,\n        meaning: \"ways of", "llc_ways"},
		{"version", "version: 1", "version: one", "version"},
		{"no node types", good[strings.Index(good, "\nnode_types:"):], "\nnode_types: {}\n", "node_types"},
	}
	for _, c := range cases {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s: the replacement does not fit the file any more", c.name)
		}
		if _, err := Parse([]byte(bad)); err == nil || !strings.Contains(err.Error(), c.has) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.has)
		}
	}
}

func FuzzParseProfile(f *testing.F) {
	b, err := profileFiles.ReadFile("val.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("name: x\nversion: 1\n"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Parse(b); err == nil && len(p.NodeTypes) == 0 {
			t.Error("a profile without node types")
		}
	})
}

// Every number of every profile has been given: none is left at zero by a field
// that the loader does not know.
func TestNoNumberIsForgotten(t *testing.T) {
	p := loadVal(t)
	for _, section := range []any{p.CPU, p.NIC, p.Wire, p.PCIe, p.Memory, *p.NodeTypes[0]} {
		v := reflect.ValueOf(section)
		for i := range v.NumField() {
			optional := v.Type().Field(i).Tag.Get("optional") != ""
			if n, ok := v.Field(i).Interface().(Number); ok && !optional && (n.Value == 0 || n.Kind == "") {
				t.Errorf("%s of %s is %+v", v.Type().Field(i).Name, v.Type().Name(), n)
			}
		}
	}
}

// The scheduler's numbers are Linux's defaults of a machine with eight CPUs or more: those of
// its source, four times. A profile may have none, and a clone has its own.
func TestScheduler(t *testing.T) {
	for _, name := range Names() {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		n := p.Scheduler
		if n.Latency.Value != 4*6e6 || n.MinGranularity.Value != 4*0.75e6 || n.WakeupGranularity.Value != 4*1e6 || n.Tick.Value != 1e9/250 {
			t.Errorf("%s: %+v", name, n)
		}
		if q := p.Clone(); q.Scheduler == p.Scheduler {
			t.Errorf("%s: a clone shares its scheduler", name)
		}
		text, err := Text(name)
		if err != nil {
			t.Fatal(err)
		}
		from := strings.Index(string(text), "\nscheduler:")
		q, err := Parse([]byte(string(text[:from]) + string(text[strings.Index(string(text), "\nnode_types:"):])))
		if err != nil || q.Scheduler != nil {
			t.Errorf("%s without a scheduler: %v", name, err)
		}
	}
	p := loadVal(t)
	p.Scheduler.Tick.Value = 0
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "scheduler.tick") {
		t.Errorf("no time between ticks: %v", err)
	}
}

// A disk's numbers are its own in a clone, and refused where it could not work with them.
func TestSSDProfile(t *testing.T) {
	p := loadVal(t)
	q := p.Clone()
	q.SSD.Block.Value = 3000
	if err := q.Check(); err == nil || !strings.Contains(err.Error(), "ssd.block") {
		t.Errorf("blocks of 3000 bytes: %v", err)
	}
	if p.SSD.Block.Value != 4096 {
		t.Error("a clone shares its disk")
	}
}

// The cycles of a message are bounded by R74V's: the same code on younger cores, in the
// row that they limit (s2-ddio-two-on, 54 M/s on the ten cores of a socket, a doorbell
// for each reply) as far as a row may be off. Fewer cycles on the older cores cannot be.
func TestCyclesOfMessages(t *testing.T) {
	const (
		published = 10 / 54e6 * 1e9 // ns of a core for the server's half of an RPC
		tolerance = 1.15
	)
	code := func(p *Profile) float64 { return p.CPU.PostWQE.Value + p.CPU.PollCQE.Value + p.CPU.RecvRefill.Value }
	r74v, err := Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	val := loadVal(t)
	rest := r74v.CPU.MMIO.Value + r74v.CPU.Dispatch.Value + r74v.CPU.CopyLine.Value
	if half := code(r74v) + rest; half < published/tolerance || half > published*tolerance {
		t.Errorf("the server's half of an RPC takes %.4g ns of a core of R74V, published are %.4g", half, published)
	}
	clocks := r74v.NodeTypes[0].Frequency.Value / val.NodeTypes[0].Frequency.Value
	least, most := (published/tolerance-rest)*clocks, (published*tolerance-rest)*clocks
	t.Logf("%.4g ns, bounds %.4g and %.4g", code(val), least, most)
	if got := code(val); got < least-0.05 || got > most {
		t.Errorf("post_wqe, poll_cqe and recv_refill of VAL are %.4g ns, by R74V's row they are from %.4g to %.4g", got, least, most)
	}
	if val.CPU.MMIO.Value != r74v.CPU.MMIO.Value {
		t.Errorf("an MMIO takes %g and %g ns: the bus is the same", val.CPU.MMIO.Value, r74v.CPU.MMIO.Value)
	}
}

func loadVal(t *testing.T) *Profile {
	t.Helper()
	p, err := Load("val")
	if err != nil {
		t.Fatal(err)
	}
	return p
}
