package owned_test

import (
	"testing"
	"unsafe"

	"drtmx/engine/owned"
)

func TestEach(t *testing.T) {
	e := owned.New(3, func(m int) uint64 { return uint64(10 * m) })
	*e.Of(1) += 5
	if sum := owned.Sum(&e); sum != 0+15+20 {
		t.Errorf("the parts add up to %d", sum)
	}
	var order []int
	for m := range e.All() {
		if order = append(order, m); m == 1 {
			break
		}
	}
	if len(order) != 2 || order[0] != 0 || order[1] != 1 {
		t.Errorf("machines in the order %v", order)
	}
	if apart := uintptr(unsafe.Pointer(e.Of(1))) - uintptr(unsafe.Pointer(e.Of(0))); apart < 128 {
		t.Errorf("parts of two machines are %d bytes apart: their cores would take the line from each other", apart)
	}
	var none owned.Each[int]
	if owned.Sum(&none) != 0 {
		t.Error("a sum of no machines")
	}
}

func BenchmarkOf(b *testing.B) {
	e := owned.New[uint64](16, nil)
	for i := 0; b.Loop(); i++ {
		*e.Of(i & 15)++
	}
}
