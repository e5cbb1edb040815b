package calibration

import (
	"fmt"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/fabric/space"
	"drtmx/engine/sim"
)

// chase is the mean time in nanoseconds of a core's loads of random lines of its own
// socket's memory, one after the other, with warm translations: what Intel MLC
// measures. The region is far larger than the LLC, and than what the DIMMs have
// translations for at hand.
func chase(nvm bool) func(p *profile.Profile) (float64, error) {
	const region, page, loads = 1 << 30, 2 << 20, 10_000
	return func(p *profile.Profile) (float64, error) {
		return ask(p, 1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
			m, rand := f.Machine(0), s.Stream("calibration.chase", 0)
			base, err := m.Mem.Alloc(host.Alloc{Name: "chase", Bytes: region, NVM: nvm})
			if err != nil {
				return 0, fmt.Errorf("memory for loads: %w", err)
			}
			for at := space.Addr(0); at < region; at += page {
				m.Access(0, s.Now(), base+at, 8, host.Load)
			}
			begin := sim.Millisecond // what the first loads of the pages have queued is over
			now := begin
			for range loads {
				if err := s.Run(now); err != nil {
					return 0, err
				}
				now += m.Access(0, now, base+space.Addr(rand.Uint64n(region/64))*64, 8, host.Load)
			}
			return float64(now-begin) / loads / float64(sim.Nanosecond), nil
		})
	}
}

// randomReads is millions of loads per second of one core whose addresses do not
// depend on each other, of random lines of its own socket's DRAM.
func randomReads(p *profile.Profile) (float64, error) {
	const region, rounds, loads = 1 << 30, 200, 64
	return ask(p, 1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		m, rand := f.Machine(0), s.Stream("calibration.random", 0)
		base, err := m.Mem.Alloc(host.Alloc{Name: "random", Bytes: region})
		if err != nil {
			return 0, fmt.Errorf("memory for loads: %w", err)
		}
		var at [loads]space.Addr
		now := s.Now()
		for range rounds {
			for i := range at {
				at[i] = base + space.Addr(rand.Uint64n(region/64))*64
			}
			if err := s.Run(now); err != nil {
				return 0, err
			}
			now += m.Gather(0, now, at[:], 64)
		}
		return rounds * loads / (float64(now) / float64(sim.Microsecond)), nil
	})
}

// crossSocket is the bandwidth of one socket's cores that store to the other
// socket's NVM, in percent of that to their own, each at the best number of cores.
func crossSocket(p *profile.Profile) (float64, error) {
	var best [2]float64
	for socket := range best {
		for _, cores := range []int{1, 2, 4, 8} {
			x, err := storeBandwidth(p, socket, cores)
			if err != nil {
				return 0, err
			}
			best[socket] = max(best[socket], x)
		}
	}
	return 100 * best[1] / best[0], nil
}

// storeBandwidth is bytes per second of cores of socket 0, each of which fills a
// stretch of a socket's NVM with non-temporal stores.
func storeBandwidth(p *profile.Profile, socket, cores int) (float64, error) {
	const each, piece, span = 64 << 20, 256, 200 * sim.Microsecond
	return ask(p, 1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		m := f.Machine(0)
		base, err := m.Mem.Alloc(host.Alloc{Name: "stores", Bytes: each * uint64(cores), Socket: socket, NVM: true})
		if err != nil {
			return 0, fmt.Errorf("memory for stores: %w", err)
		}
		done := make([]space.Addr, cores)
		var next, room sim.Kind
		next = s.Register("calibration.store", func(core uint32) {
			at := base + each*space.Addr(core) + done[core]%each
			done[core] += piece
			s.At(s.Now()+m.Access(int(core), s.Now(), at, piece, host.StoreNT), room, core)
		})
		room = s.Register("calibration.room", func(core uint32) {
			if m.Await(int(core), false, next, core) {
				s.At(s.Now(), next, core)
			}
		})
		for core := range cores {
			s.At(0, next, uint32(core))
		}
		// The first half fills the DIMMs' buffers.
		if err := s.Run(span); err != nil {
			return 0, err
		}
		before := total(done)
		err = s.Run(2 * span)
		return (total(done) - before) * float64(sim.Second) / float64(span), err
	})
}

func total(xs []space.Addr) (sum float64) {
	for _, x := range xs {
		sum += float64(x)
	}
	return sum
}

// xlineRate is millions of whole XLines per second that a socket's NVM takes, at
// random places, from a client that has many under way.
func xlineRate(p *profile.Profile) (float64, error) {
	const xlines, under, region = 100_000, 1024, 1 << 30
	return ask(p, 1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		dev, rand := f.Machine(0).NVM(0), s.Stream("calibration.xlines", 0)
		lines := uint64(p.NVM.XLine.Int() / 64)
		ring := make([]sim.Time, under)
		var now, begin sim.Time
		for i := range xlines {
			k := i % under
			now = max(now, ring[k])
			if i == xlines/2 {
				begin = now
			}
			first := rand.Uint64n(region/64/lines) * lines
			for l := range lines {
				ring[k] = max(ring[k], dev.Write(now, first+l))
			}
		}
		return float64(xlines/2) / float64(now-begin) * float64(sim.Second) / 1e6, nil
	})
}

// lineBytes is the distance from a byte that was loaded to the nearest one that
// misses.
func lineBytes(p *profile.Profile) (float64, error) {
	return ask(p, 1, func(s *sim.Sim, f *fabric.Fabric) (float64, error) {
		m := f.Machine(0)
		a, err := m.Mem.Alloc(host.Alloc{Name: "line", Bytes: 1 << 20})
		if err != nil {
			return 0, fmt.Errorf("memory for loads: %w", err)
		}
		m.Access(0, 0, a, 1, host.Load)
		hit := m.Access(0, 0, a, 1, host.Load)
		for d := space.Addr(1); d < 1<<20; d++ {
			if m.Access(0, 0, a+d, 1, host.Load) > hit {
				return float64(d), nil
			}
		}
		return 0, fmt.Errorf("every load of a megabyte hits after one")
	})
}
