package fabric_test

import (
	"fmt"
	"log"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/sim"
)

// Machine 0 writes into the memory of machine 1 and reads it back, with one
// doorbell for both.
func Example() {
	s := sim.New(sim.Options{Seed: 1})
	f, err := fabric.New(s, fabric.Config{Machines: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	defer s.Close()

	var mem [2]*host.Memory
	var region [2]host.MR
	var pairs [2]*fabric.QP
	cq := f.Machine(0).NICs[0].CreateCQ(16)
	for i := range 2 {
		mem[i] = f.Machine(i).Mem
		a, err := mem[i].Alloc(host.Alloc{Name: "example", Bytes: 4096})
		if err != nil {
			log.Fatal(err)
		}
		region[i] = mem[i].Register(a, 4096, host.LocalWrite|host.RemoteRead|host.RemoteWrite)
		if pairs[i], err = f.Machine(i).NICs[0].CreateQP(fabric.QPConfig{Transport: fabric.RC, SendCQ: cq}); err != nil {
			log.Fatal(err)
		}
	}
	if err := fabric.Connect(pairs[0], pairs[1]); err != nil {
		log.Fatal(err)
	}

	copy(mem[0].Bytes(region[0].Addr, 5), "hello")
	err = pairs[0].PostSend(s.Now(), []fabric.SendWR{
		{ID: 1, Op: fabric.Write, Local: region[0].Addr, LKey: region[0].LKey, Len: 5, Remote: region[1].Addr, RKey: region[1].RKey},
		{ID: 2, Op: fabric.Read, Signaled: true, Local: region[0].Addr + 64, LKey: region[0].LKey, Len: 5,
			Remote: region[1].Addr, RKey: region[1].RKey},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Run(20 * sim.Microsecond); err != nil {
		log.Fatal(err)
	}
	var done [4]fabric.CQE
	for _, c := range done[:cq.Poll(done[:])] {
		fmt.Println(c.ID, c.Op, c.Status, c.Bytes, "bytes")
	}
	fmt.Printf("%s\n", mem[0].Bytes(region[0].Addr+64, 5))
	// Output:
	// 2 READ success 5 bytes
	// hello
}
