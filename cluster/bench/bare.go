package main

import "drtmx/engine/sim"

// A bare READ is what the queue of events and the coroutines take of a READ: its six
// events and its wait, the pipelines of the RNICs, and the copy of its bytes, without
// queue pairs, caches, cores and completions. What a READ takes beyond it is the models'.
type bare struct {
	s      *sim.Sim
	tx, rx [bareNICs]sim.FIFO
	reads  []bareRead
	procs  []*sim.Proc
	mem    []byte
	buf    []byte
	done   uint64

	kTx, kRx, kMem, kReply, kAnswer, kDone sim.Kind
}

type bareRead struct {
	from, to, at uint32
	_            [52]byte // as much as a verb
}

const (
	bareNICs    = 32
	bareClients = 16 * 24 * 12
	bareBytes   = 64
	bareMemory  = 64 << 20

	// As long as those of a loaded cluster, about.
	bareService = 11 * sim.Nanosecond
	bareHop     = 300 * sim.Nanosecond
)

func newBare() *bare {
	b := &bare{s: sim.New(sim.Options{}), reads: make([]bareRead, bareClients), mem: make([]byte, bareMemory), buf: make([]byte, bareClients*bareBytes)}
	at := func(t sim.Time, k sim.Kind, i uint32) { b.s.At(t+bareHop, k, i) }
	b.kDone = b.s.Register("done", func(i uint32) { b.done++; b.procs[i].Resume() })
	b.kAnswer = b.s.Register("answer", func(i uint32) { at(b.rx[b.reads[i].from].Serve(b.s.Now(), bareService), b.kDone, i) })
	b.kReply = b.s.Register("reply", func(i uint32) { at(b.tx[b.reads[i].to].Serve(b.s.Now(), bareService), b.kAnswer, i) })
	b.kMem = b.s.Register("memory", func(i uint32) {
		copy(b.buf[i*bareBytes:(i+1)*bareBytes], b.mem[b.reads[i].at:])
		at(b.s.Now(), b.kReply, i)
	})
	b.kRx = b.s.Register("rx", func(i uint32) { at(b.rx[b.reads[i].to].Serve(b.s.Now(), bareService), b.kMem, i) })
	b.kTx = b.s.Register("tx", func(i uint32) { at(b.tx[b.reads[i].from].Serve(b.s.Now(), bareService), b.kRx, i) })
	for i := range uint32(bareClients) {
		r := b.s.Stream("client", uint64(i))
		b.procs = append(b.procs, b.s.Go("client", func(p *sim.Proc) {
			for {
				b.reads[i] = bareRead{from: i % bareNICs, to: uint32(r.Uint64n(bareNICs)), at: uint32(r.Uint64n(bareMemory/bareBytes)) * bareBytes}
				at(b.s.Now(), b.kTx, i)
				p.Park()
			}
		}))
		b.procs[i].WakeAt(sim.Time(i) * sim.Nanosecond)
	}
	return b
}

// runBare is the rate of bare READs.
func runBare() (map[string]float64, error) {
	const warm, span = 20 * sim.Microsecond, 500 * sim.Microsecond
	b := newBare()
	defer b.s.Close()
	if err := b.s.Run(warm); err != nil {
		return nil, err
	}
	rate, err := inSlices("bare", func(n int64) error { return b.s.Run(b.s.Now() + span/n) }, func() uint64 { return b.done })
	return map[string]float64{"rate": rate}, err
}
