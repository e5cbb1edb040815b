package main

// yardstickEvents make the yardstick take about a tenth of a second.
const yardstickEvents = 200_000

// work is the yardstick: what the simulator's inner loop does, frozen here. It takes the earliest event from a heap, reads and
// writes a few lines of a memory larger than the caches of a core, and puts the event back later.
func work(events int) uint64 {
	const lines, pending = 1 << 17, 512 // 8 MiB
	memory := make([][8]uint64, lines)
	heap := make([]uint64, pending)
	random := uint64(1)
	next := func() uint64 {
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		return random
	}
	for i := range heap {
		heap[i] = uint64(i)
	}
	for range events {
		now := heap[0]
		for range 3 {
			line := &memory[next()%lines]
			line[now%8] += now
			random += line[0]
		}
		sink(heap, now+1+next()%4096)
	}
	return heap[0] + random
}

// sink replaces the earliest entry of a heap.
func sink(heap []uint64, at uint64) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1] < heap[child] {
			child++
		}
		if at <= heap[child] {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = at
}
