package fabric

import (
	"encoding/binary"
	"slices"
	"testing"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// plainDevice takes a line per gap and answers reads after a latency. It remembers
// what came.
type plainDevice struct {
	gap, latency sim.Time
	free         sim.Time
	last         sim.Time
	reads        []uint64
	writes       []uint64
	backwards    int
}

func (d *plainDevice) Read(now sim.Time, line uint64) sim.Time {
	d.at(now)
	d.reads = append(d.reads, line)
	return now + d.latency
}

func (d *plainDevice) Write(now sim.Time, line uint64) sim.Time {
	d.at(now)
	d.writes = append(d.writes, line)
	accepted := max(now, d.free)
	d.free = accepted + d.gap
	return accepted
}

func (d *plainDevice) Room(uint64) sim.Time { return d.free }

func (d *plainDevice) at(now sim.Time) {
	if now < d.last {
		d.backwards++
	}
	d.last = max(d.last, now)
}

// nvmBed is two machines of R74V, each socket with a plain device.
func nvmBed(t *testing.T, gap sim.Time, ddio bool) (b *bed, devices [][]*plainDevice) {
	t.Helper()
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	devices = [][]*plainDevice{make([]*plainDevice, 2), make([]*plainDevice, 2)}
	b = newBed(t, bedOptions{machines: 2, threads: 1, span: 1 << 20, config: Config{Profile: p, NoDDIO: !ddio,
		NVM: func(m, k int, _ *profile.NodeType) (host.Device, error) {
			devices[m][k] = &plainDevice{gap: gap, latency: 200 * sim.Nanosecond}
			return devices[m][k], nil
		}}})
	t.Cleanup(func() {
		for _, list := range devices {
			for _, d := range list {
				if d.backwards > 0 {
					t.Errorf("%d calls of a device go back in time", d.backwards)
				}
			}
		}
	})
	return b, devices
}

func (b *bed) allocNVM(m, socket, dimm int, bytes uint64) (space.Addr, host.MR) {
	b.t.Helper()
	mem := b.f.Machine(m).Mem
	a, err := mem.Alloc(host.Alloc{Name: "nvm", Bytes: bytes, Socket: socket, NVM: true, DIMM: dimm})
	if err != nil {
		b.t.Fatal(err)
	}
	return a, mem.Register(a, bytes, host.LocalWrite|host.RemoteRead|host.RemoteWrite|host.RemoteAtomic)
}

// Interleaved memory goes round the DIMMs every 4 KB, pinned memory stays on its
// DIMM, and no two lines of a socket share a line of the device.
func TestNVMPlaces(t *testing.T) {
	b, _ := nvmBed(t, 0, true)
	mem := b.f.Machine(0).Mem
	const dimms, unit = 6, 4096 / space.LineBytes
	seen := map[uint64]bool{}
	for i, dimm := range []int{0, 3, 6, 0, 1} {
		a, _ := b.allocNVM(0, 1, dimm, 3<<20)
		if !mem.OnNVM(a) || mem.Home(a) != 1 {
			t.Errorf("allocation %d is not in the NVM of socket 1", i)
		}
		first := mem.DeviceLine(a>>space.LineShift) / unit % dimms
		for l := a >> space.LineShift; l < (a+4<<20)>>space.LineShift; l++ {
			dl := mem.DeviceLine(l)
			if seen[dl] {
				t.Fatalf("allocation %d: line %d of the device twice", i, dl)
			}
			seen[dl] = true
			want := (first + (l-a>>space.LineShift)/unit) % dimms
			if dimm > 0 {
				want = uint64(dimm - 1)
			}
			if got := dl / unit % dimms; got != want || dl%unit != l%unit {
				t.Fatalf("allocation %d, line %d: on DIMM %d, want %d", i, l-a>>space.LineShift, got, want)
			}
		}
	}
	for _, bad := range []host.Alloc{{Bytes: 1, NVM: true, Socket: 2}, {Bytes: 1, NVM: true, DIMM: 7}, {Bytes: 1, DIMM: 1}, {Bytes: 1, NVM: true, DIMM: -1}} {
		if _, err := mem.Alloc(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	if a := b.data[0]; mem.OnNVM(a) || b.f.Machine(0).NVM(1) == nil {
		t.Error("DRAM is NVM, or there is none")
	}
}

// What a core's accesses ask of the device.
func TestNVMCoreAccess(t *testing.T) {
	b, devices := nvmBed(t, 0, true)
	m, d := b.f.Machine(0), devices[0][0]
	a, _ := b.allocNVM(0, 0, 0, 1<<20)
	for _, x := range []struct {
		what          string
		at            space.Addr
		n             int
		kind          host.Kind
		reads, writes int
	}{
		{"load", a, 128, host.Load, 2, 0}, {"load again", a, 128, host.Load, 0, 0},
		{"flush of clean lines", a, 128, host.Flush, 0, 0},
		{"store", a + 256, 64, host.Store, 1, 0}, {"store of a cached line", a + 256, 8, host.Store, 0, 0},
		{"flush", a + 256, 64, host.Flush, 0, 1}, {"flush again", a + 256, 64, host.Flush, 0, 0},
		{"whole lines past the cache", a + 512, 128, host.StoreNT, 0, 2},
		{"a part of a line", a + 1024, 16, host.StoreNT, 1, 1},
		{"a part of a cached line", a, 16, host.StoreNT, 0, 1},
	} {
		r, w := len(d.reads), len(d.writes)
		took := m.Access(0, b.sim.Now(), x.at, x.n, x.kind)
		b.run(sim.Microsecond)
		if !m.Await(0, true, b.kPost, 0) {
			t.Errorf("%s: not through after 1 µs", x.what)
		}
		if r, w = len(d.reads)-r, len(d.writes)-w; r != x.reads || w != x.writes || took <= 0 {
			t.Errorf("%s: %d reads, %d writes in %d ps; want %d and %d", x.what, r, w, took, x.reads, x.writes)
		}
	}
	near := m.Access(0, b.sim.Now(), a+1<<19, 8, host.Load)
	far := m.Access(m.Cores()-1, b.sim.Now(), a+1<<19+64, 8, host.Load)
	if far <= near {
		t.Errorf("a load from the other socket takes %d ps, from the own one %d", far, near)
	}
}

// Every dirty line leaves the cache once, and none that was not written.
func TestNVMEvictionsConserveLines(t *testing.T) {
	b, devices := nvmBed(t, 0, true)
	m, d := b.f.Machine(0), devices[0][0]
	const bytes = 64 << 20 // several times the cache
	a, _ := b.allocNVM(0, 0, 0, bytes)
	stored := map[uint64]bool{}
	r := b.sim.Stream("stores", 0)
	for range 600_000 {
		at := a + r.Uint64n(bytes/space.LineBytes)*space.LineBytes
		if r.Intn(2) == 0 {
			m.Access(0, b.sim.Now(), at, 8, host.Load)
			continue
		}
		m.Access(0, b.sim.Now(), at, 8, host.Store)
		stored[m.Mem.DeviceLine(at>>space.LineShift)] = true
	}
	if len(d.writes) < 50_000 {
		t.Errorf("only %d lines left the cache", len(d.writes))
	}
	for _, l := range d.writes {
		if !stored[l] {
			t.Fatalf("line %d was written back and never stored to", l)
		}
	}
	inOrder := 0
	for i := 1; i < len(d.writes); i++ {
		if d.writes[i] > d.writes[i-1] {
			inOrder++
		}
	}
	if share := float64(inOrder) / float64(len(d.writes)); share < .4 || share > .6 {
		t.Errorf("%.2f of the evictions are ascending", share)
	}
}

// The buffers of a core bound what it has under way; Await tells when they have
// taken everything and when they are empty. They drain in no order.
func TestNVMCombiningBuffers(t *testing.T) {
	const gap = 50 * sim.Nanosecond
	b, devices := nvmBed(t, gap, true)
	m, d := b.f.Machine(0), devices[0][0]
	a, _ := b.allocNVM(0, 0, 1, 1<<20)
	var woken []sim.Time
	wake := b.sim.Register("woken", func(uint32) { woken = append(woken, b.sim.Now()) })
	const lines = 40
	buffers := b.f.profile.NVM.CombiningBuffers.Int()
	m.Access(0, 0, a, lines*space.LineBytes, host.StoreNT)
	if m.Await(0, false, wake, 0) {
		t.Fatal("more lines than buffers, and nobody waits")
	}
	path := b.f.profile.NVM.StreamPath.Time()
	b.run(path + sim.Time(lines-buffers)*gap)
	if m.Await(0, true, wake, 0) {
		t.Fatal("the buffers are empty too early")
	}
	b.run(10 * sim.Microsecond)
	want := []sim.Time{path + sim.Time(lines-buffers-1)*gap, path + sim.Time(lines-1)*gap}
	if !slices.Equal(woken, want) {
		t.Errorf("woken at %v, want %v", woken, want)
	}
	sorted := slices.Sorted(slices.Values(d.writes))
	if slices.Equal(sorted, d.writes) || len(slices.Compact(sorted)) != lines {
		t.Errorf("%d lines, each once and not in order; got %v", lines, d.writes)
	}
}

// WRITEs do not reach memory faster than it takes them, the number outside is
// bounded, and a READ behind a WRITE ends after the WRITE is persistent.
func TestNVMPostedWrites(t *testing.T) {
	const gap = 100 * sim.Nanosecond
	for _, bytes := range []uint32{64, 16} { // whole lines and partial ones
		b, devices := nvmBed(t, gap, false)
		_, mr := b.allocNVM(1, 0, 0, 8<<20)
		d := devices[1][0]
		next := func(w *bedWorker, id uint64) {
			if w.machine == 0 {
				at := mr.Addr + w.rand.Uint64n(mr.Len/64)*64
				w.post(w.rc[1], SendWR{ID: id, Op: Write, Signaled: true, Inline: true, Local: w.scratch, LKey: w.key, Len: bytes, Remote: at, RKey: mr.RKey})
			}
		}
		b.start(100, next, nil)
		rate := 2 * b.rate(20*sim.Microsecond, 50*sim.Microsecond)
		if want := float64(sim.Microsecond) / float64(gap); rate < .97*want || rate > 1.03*want {
			t.Errorf("%d bytes: %.2f M/s, the device takes %.2f", bytes, rate, want)
		}
		limit := b.f.profile.NVM.PostedWrites.Int()
		if n := b.f.Machine(1).NICs[0].Posted.Open; n > limit+1 {
			t.Errorf("%d bytes: %d writes outside of memory, at most %d", bytes, n, limit)
		}
		var read, taken sim.Time
		b.workers[0].done = func(w *bedWorker, e *CQE) {
			if e.ID == 1<<20 {
				read, taken = e.At, d.free-gap
			}
		}
		w := b.workers[0]
		written := len(d.writes)
		w.post(w.rc[1], SendWR{ID: 1 << 20, Op: Read, Signaled: true, Local: w.scratch, LKey: w.key, Len: 8, Remote: b.data[1], RKey: b.keys[1]})
		b.run(100 * sim.Microsecond)
		if len(d.writes) == written || read <= taken {
			t.Errorf("%d bytes: the READ ended at %d, the last WRITE before it was persistent at %d", bytes, read, taken)
		}
	}
}

// DDIO is a property of the socket at which the RNIC sits.
func TestDDIOPerSocket(t *testing.T) {
	b, devices := nvmBed(t, 0, true)
	_, mr := b.allocNVM(1, 0, 0, 2<<20)
	b.f.Machine(1).SetDDIO(0, false)
	if m := b.f.Machine(1); m.DDIO(0) || !m.DDIO(1) {
		t.Error("DDIO of one socket")
	}
	w := b.workers[0]
	b.start(0, nil, nil)
	post := func() int {
		before := len(devices[1][0].writes)
		w.next = func(*bedWorker, uint64) {}
		w.post(w.rc[1], SendWR{ID: 1, Op: Write, Signaled: true, Inline: true, Local: w.scratch, LKey: w.key, Len: 64, Remote: mr.Addr, RKey: mr.RKey})
		b.run(10 * sim.Microsecond)
		return len(devices[1][0].writes) - before
	}
	if n := post(); n != 1 {
		t.Errorf("without DDIO %d lines reach the device", n)
	}
	b.f.SetDDIO(true)
	if n := post(); n != 0 {
		t.Errorf("with DDIO %d lines reach the device", n)
	}
}

// PCIe's writes are performed in order: a partial write whose line is there waits
// for one before it whose line comes from the other socket.
func TestPartialWritesInOrder(t *testing.T) {
	b, devices := nvmBed(t, 0, false)
	near, _ := b.allocNVM(1, 0, 0, 2<<20)
	far, _ := b.allocNVM(1, 1, 0, 2<<20)
	m := b.f.Machine(1)
	n := m.NICs[0]
	write := func(a space.Addr) {
		n.Claim(host.ByWrite, a, 16)
		m.DMAWrite(&n.Port, b.sim.Now(), a, 16)
	}
	c := &b.f.cost
	line := 201*sim.Nanosecond + c.LLCDMA
	write(near)
	b.run(line)
	if len(devices[1][0].writes) != 1 {
		t.Fatalf("%d writes when the line of a lone one is there", len(devices[1][0].writes))
	}
	write(far)
	write(near + 64)
	b.run(line + c.Cross)
	if len(devices[1][0].writes) != 1 {
		t.Error("the second write was performed before the first")
	}
	b.run(b.f.profile.NVM.Directory.Time() + sim.Microsecond)
	if near, far := len(devices[1][0].writes), len(devices[1][1].writes); near != 2 || far != 2 {
		t.Errorf("%d writes here and %d there, want 2 and 2: of the line and of its directory entry", near, far)
	}
}

// The home of a memory tracks only so many lines that cores of other sockets write
// past the caches; of its own cores' it takes any number.
func TestRemoteWritesAreTracked(t *testing.T) {
	b, _ := nvmBed(t, 50*sim.Nanosecond, true)
	m := b.f.Machine(0)
	x := m.Processors[1].NVM
	a, _ := b.allocNVM(0, 1, 0, 1<<20)
	const each = 8 * space.LineBytes
	for core := range 4 { // of socket 0
		m.Access(core, 0, a+space.Addr(core)*each, each, host.StoreNT)
	}
	if x.Remote != x.Trackers || len(x.Tracking) != 4*8-x.Trackers {
		t.Errorf("%d lines tracked and %d waiting, there are %d trackers", x.Remote, len(x.Tracking), x.Trackers)
	}
	b.run(10 * sim.Microsecond)
	if x.Remote != 0 || len(x.Tracking) != 0 {
		t.Errorf("%d lines tracked and %d waiting at the end", x.Remote, len(x.Tracking))
	}
	own, _ := b.allocNVM(0, 0, 0, 1<<20)
	m.Access(0, b.sim.Now(), own, each, host.StoreNT)
	if x := m.Processors[0].NVM; x.Remote != 0 {
		t.Errorf("%d lines of the socket's own tracked", x.Remote)
	}
}

// What a READ or an atomic brings into the requester's own NVM is in flight as what a
// WRITE brings there: it may be in a cache yet.
func TestReadIntoNVM(t *testing.T) {
	p, err := profile.Load("r74v")
	if err != nil {
		t.Fatal(err)
	}
	b := newBed(t, bedOptions{machines: 2, threads: 1, span: 1 << 20, config: Config{Profile: p, Durability: true,
		NVM: func(m, k int, _ *profile.NodeType) (host.Device, error) {
			return &plainDevice{gap: 10 * sim.Nanosecond, latency: 200 * sim.Nanosecond}, nil
		}}})
	here, r := b.allocNVM(0, 0, 0, 1<<20)
	x := b.workers[0]
	copy(b.f.Machine(1).Mem.Bytes(b.data[1], 8), "from far")
	read, add := x.read(1, 1, 64), x.read(2, 1, 8)
	read.Local, read.LKey = here, r.LKey
	add.Op, add.Local, add.LKey = FetchAdd, here+4096, r.LKey
	x.postAll(x.rc[1], read, add)
	b.run(20 * sim.Microsecond)
	expect(t, "completions", x.completions(), "1 READ success", "2 FAA success")
	m := b.f.Machine(0)
	for what, at := range map[string]space.Addr{"READ": here, "FAA": here + 4096} { // order-free: each alone
		if got := string(m.Mem.Bytes(at, 8)); got != "from far" {
			t.Errorf("%s brought %q", what, got)
		}
		if got := m.AfterCrash(at, 8, nil); string(got) != string(make([]byte, 8)) {
			t.Errorf("with DDIO %q of a %s is %v, and would be there after a crash", got, what, m.Where(at))
		}
	}
}

// Requests that wait for room among the posted writes take as much memory as there
// are at a time, not as there ever were.
func TestPostedQueueIsBounded(t *testing.T) {
	b, _ := nvmBed(t, 100*sim.Nanosecond, false)
	a, r := b.allocNVM(1, 0, 0, 1<<20)
	x := b.workers[0]
	const requests = 100
	x.next = func(w *bedWorker, id uint64) {
		w.post(w.rc[1], SendWR{ID: id, Op: Write, Signaled: true, Local: w.scratch + space.Addr(id)*256, LKey: w.key, Len: 256, Remote: a + space.Addr(id)*256, RKey: r.RKey})
	}
	x.done = func(w *bedWorker, e *CQE) { w.next(w, e.ID) }
	x.cq.Arm(0, b.kWork, 0)
	for id := range uint64(requests) {
		x.next(x, id)
	}
	b.run(2 * sim.Millisecond)
	if n := len(b.f.Machine(1).NICs[0].Posted.Queue); n < requests/4 || n > 4*requests {
		t.Errorf("%d in the queue of %d requests", n, requests)
	}
}

// Requests that wait for room among the posted writes keep their order also when the first of
// them has to be sent again: its receiver is not ready, or the RNIC is down.
func TestOrderBehindPostedWrites(t *testing.T) {
	for _, down := range []bool{false, true} {
		b, _ := nvmBed(t, sim.Microsecond, false)
		_, mr := b.allocNVM(1, 0, 0, 2<<20)
		x, y := b.workers[0], b.workers[1]
		b.start(0, nil, func(*bedWorker, *CQE) {})
		for i := range space.Addr(b.f.profile.NVM.PostedWrites.Int() + 4) {
			x.post(x.rc[1], SendWR{Op: Write, Inline: true, Local: x.scratch, LKey: x.key, Len: 64, Remote: mr.Addr + i*64, RKey: mr.RKey})
		}
		b.f.Machine(0).Mem.Bytes(x.scratch, 1)[0] = 7
		first := SendWR{ID: 1, Op: Send, Signaled: true, Inline: true, Local: x.scratch, LKey: x.key, Len: 16}
		if down {
			first = x.write(1, 1, 8)
			first.Remote += 64
		}
		x.postAll(x.rc[1], first, x.write(2, 1, 8))
		n := b.f.Machine(1).NICs[0]
		b.run(3 * sim.Microsecond)
		if waiting := len(n.Posted.Queue) - n.Posted.First; waiting < 3 {
			t.Fatalf("%d requests wait for room", waiting)
		}
		n.SetDown(down)
		b.run(10 * sim.Microsecond)
		there := b.f.Machine(1).Mem.Bytes(b.data[1], 1)
		if there[0] != 0 {
			t.Errorf("down %v: a WRITE overtook the request before it", down)
		}
		n.SetDown(false)
		y.postRecv(y.rc[0], 51, 64)
		var order []uint64
		x.done = func(_ *bedWorker, e *CQE) {
			if e.Status == Success {
				order = append(order, e.ID)
			}
		}
		b.run(10 * sim.Second)
		if !slices.Equal(order, []uint64{1, 2}) || there[0] != 7 {
			t.Errorf("down %v: requests %v are done, want 1 and 2", down, order)
		}
	}
}

// A READ that waits for a posted write whose line is being read looks again later, also on a
// machine whose LLC answers at once: at the same instant it would look for ever.
func TestReadWaitsForUnknownWrites(t *testing.T) {
	b, _ := nvmBed(t, 0, false)
	b.f.hosts.Cost.LLCDMA = 0
	n, r := b.f.Machine(1).NICs[0], b.workers[0].rc[1].peer
	line := n.Posted.Push(host.Unknown)
	p := n.machine.fab
	i, v := p.allocVerb()
	v.r = r
	if !p.behindWrites(n, r, i, b.sim.Now()) {
		t.Fatal("the READ does not wait")
	}
	if until := r.lanes[executing].until; until <= b.sim.Now() {
		t.Errorf("the READ looks again at %d ps, which is now", until)
	}
	n.Posted.Set(line, b.sim.Now())
	if p.behindWrites(n, r, i, b.sim.Now()) {
		t.Error("the READ waits, and everything before it was taken")
	}
}

// Between two sockets there is one link: what one socket's memory sends there and what the other's
// is sent from there share a direction.
func TestOneLinkBetweenSockets(t *testing.T) {
	b, _ := nvmBed(t, 0, true)
	first, second := b.f.Machine(1).Processors[0].NVM, b.f.Machine(1).Processors[1].NVM
	const from, to = 0, 1 // the other sockets
	now, line := b.sim.Now(), first.LinkLine
	for i, got := range []sim.Time{first.Cross(now, to), second.Cross(now, from), first.Cross(now, from), second.Cross(now, to)} {
		if want := sim.Time(1+i%2) * line; got != want {
			t.Errorf("line %d crosses in %d ps, want %d", i, got, want)
		}
	}
	sum := sim.Time(0)
	for _, u := range b.f.Usage(nil) {
		if u.Node == 1 && u.Resource == host.Interconnect {
			sum += sim.Time(u.Index + 1)
		}
	}
	if sum != 1+2 {
		t.Errorf("the directions are not numbered 0 and 1, once each")
	}
}

// An atomic stores what it computed from what it read: when that has reached the RNIC, and one way later.
func TestAtomicStoresWhatItRead(t *testing.T) {
	for _, latency := range []sim.Time{0, 200 * sim.Nanosecond, 2 * sim.Microsecond} {
		b, devices := nvmBed(t, 0, true)
		a, mr := b.allocNVM(1, 0, 0, 1<<20)
		devices[1][0].latency = latency
		x, c := b.workers[0], &b.f.cost
		x.postAll(x.rc[1], SendWR{Op: FetchAdd, Signaled: true, Local: x.scratch, LKey: x.key, Len: 8, Remote: a, RKey: mr.RKey, Swap: 7},
			SendWR{Op: Read, Signaled: true, Local: x.scratch + 64, LKey: x.key, Len: 8, Remote: a, RKey: mr.RKey})
		var asked, stored sim.Time
		for end := b.sim.Now() + 20*sim.Microsecond; b.sim.Now() < end; b.run(100) {
			if asked == 0 && len(devices[1][0].reads) > 0 {
				asked = b.sim.Now()
			}
			if stored == 0 && binary.LittleEndian.Uint64(b.f.Machine(1).Mem.Bytes(a, 8)) == 7 {
				stored = b.sim.Now()
			}
		}
		if least := latency + 2*c.oneWay; stored < asked+least || stored > asked+least+200*sim.Nanosecond {
			t.Errorf("latency %d: stored %d ps after it was read, at least %d", latency, stored-asked, least)
		}
		if saw := binary.LittleEndian.Uint64(b.f.Machine(0).Mem.Bytes(x.scratch+64, 8)); saw != 7 {
			t.Errorf("latency %d: the READ behind it saw %d", latency, saw)
		}
	}
}
