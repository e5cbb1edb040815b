package r2

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/membership"
	"drtmx/engine/sim"
)

// epochBed is a cluster whose last machine is its configuration: it tells members of a new epoch.
type epochBed struct {
	*bed
	members *membership.Table
	served  []string // requests: from whom, by whom
}

const (
	epochTold  = 3 // the rpc by which the configuration tells: the epoch, and a byte for each member
	epochAsked = 5 // any other
)

func newEpochBed(t *testing.T, c Config, fc fabric.Config) *epochBed {
	members := membership.New(3, membership.Symmetric).Add(1, membership.Configuration)
	c.Threads, c.Coroutines, c.Epochs = 1, 4, true
	b := &epochBed{bed: newBed(t, members.Machines(), c, fc), members: members}
	b.cl.handle(epochTold, func(c *Co, _ Peer, req, _ []byte) int {
		c.EnterEpoch(membership.Epoch(req[0]), func(m int) bool { return slices.Contains(req[1:], byte(m)) })
		return 0
	})
	b.cl.handle(epochAsked, func(c *Co, from Peer, req, rep []byte) int {
		b.served = append(b.served, fmt.Sprintf("%d by %d", from.Machine, c.Machine()))
		return copy(rep, req)
	})
	return b
}

// on runs body on a coroutine of a machine to its end.
func (b *epochBed) on(m int, body func(c *Co)) {
	b.Helper()
	done := false
	b.cl.Spawn(m, 0, func(c *Co) {
		c.Phase(all(phaseExecution))
		body(c)
		done = true
	})
	for range 100 {
		if b.run(10 * sim.Millisecond); done {
			return
		}
	}
	b.Fatalf("machine %d does not get on: %v", m, b.cl.Waiting(9))
}

// enters has the configuration begin an epoch with some members, and tell some machines.
func (b *epochBed) enters(e byte, members, told []byte) {
	b.Helper()
	leader, _ := b.members.First(membership.Configuration)
	b.on(leader, func(c *Co) {
		c.EnterEpoch(membership.Epoch(e), func(m int) bool { return m == leader || slices.Contains(members, byte(m)) })
		for _, m := range told {
			c.Call(int(m), epochTold, append([]byte{e, byte(leader)}, members...))
		}
		if err := c.Wait(); err != nil {
			b.Error(err)
		}
	})
}

// call is the error of a request from one machine to another.
func (b *epochBed) call(from, to int) (err error) {
	b.Helper()
	b.on(from, func(c *Co) {
		r := c.Call(to, epochAsked, []byte("hello"))
		if err = c.Wait(); err == nil && string(r.B) != "hello" {
			b.Errorf("machine %d answers %q", to, r.B)
		}
	})
	return err
}

// A machine that was left out of an epoch gets nothing done at its members, which it does not know: they refuse its requests with the
// reason, and its one-sided requests find their queue pairs closed. Members go on with each other; one that has not heard of the epoch yet is
// refused too until it has, and its queue pairs stay.
func TestOldEpochsAreRefused(t *testing.T) {
	quick, err := profile.Load("val")
	if err != nil {
		t.Fatal(err)
	}
	quick.NIC.TimeoutExponent.Value = 8 // an RNIC gives up after 8 ms, not half a minute
	for _, transport := range []Transport{Datagrams, Writes, Hybrid} {
		b := newEpochBed(t, Config{Transport: transport}, fabric.Config{Profile: quick})
		for from := range 3 {
			if err := b.call(from, (from+1)%3); err != nil {
				t.Errorf("before: %v", err)
			}
		}
		b.enters(2, []byte{0, 1}, []byte{0})
		if err := b.call(0, 1); err != nil { // who is behind does not refuse
			t.Errorf("a request of a later epoch: %v", err)
		}
		b.served = nil

		late, out := b.call(1, 0), b.call(2, 0)
		const what = "r2: rpc test.5 from machine %d in epoch 1 to machine 0 in epoch 2: the epoch is over"
		if late == nil || late.Error() != fmt.Sprintf(what, 1) || out == nil || out.Error() != fmt.Sprintf(what, 2) || !errors.Is(out, ErrEpoch) || b.served != nil {
			t.Errorf("machine 1: %v; machine 2: %v; served: %v", late, out, b.served)
		}
		one := func(post func(c *Co)) (err error) {
			b.on(2, func(c *Co) {
				post(c)
				err = c.Wait()
			})
			return err
		}
		for i, err := range []error{
			one(func(c *Co) { c.Write(b.loc(0, 0), []byte("too late")) }),
			one(func(c *Co) { c.Read(b.loc(0, 0), 8) }),
			one(func(c *Co) { c.FAA(b.loc(0, 0), 1) }),
		} {
			if !errors.Is(err, ErrUnreachable) {
				t.Errorf("one-sided request %d of a machine that is out: %v", i, err)
			}
		}
		b.on(2, func(c *Co) { // nobody waits for these
			c.Phase(phaseExecution, Mode{Passive: true})
			c.Write(b.loc(0, 0), []byte("too late"))
			c.Call(0, epochAsked, nil)
		})
		b.run(sim.Second)
		if b.word(0, 0) != 0 || b.served != nil || b.cl.Lost() != 2 || !b.cl.Quiet() {
			t.Errorf("machine 2 has written %#x and is served %v; %d are lost, quiet %v", b.word(0, 0), b.served, b.cl.Lost(), b.cl.Quiet())
		}
		b.on(1, func(c *Co) {
			if c.FAA(b.loc(0, 0), 7); c.Wait() != nil || b.word(0, 0) != 7 {
				t.Error("a member cannot write")
			}
		})
		b.enters(3, []byte{0, 1}, []byte{0, 1})
		if err := b.call(1, 0); err != nil || !slices.Equal(b.served, []string{"1 by 0"}) {
			t.Errorf("machine 1, when it has heard: %v, served %v", err, b.served)
		}
	}
}

// Messages of all lengths, replies that are deferred, receipts and repetitions carry epochs along.
func TestEpochsOfAllMessages(t *testing.T) {
	c := Config{PerMachine: []int{2, 2, 1}, Coroutines: 3, MaxMessage: 256, MaxRequest: 3000, MaxReply: 9000, ResendAfter: 20 * sim.Microsecond, Epochs: true}
	vale, err := profile.Load("vale")
	if err != nil {
		t.Fatal(err)
	}
	for name, fc := range map[string]fabric.Config{"RNICs": {LossPPM: 30_000}, "TCP": {Profile: vale}} {
		wrong, _, _ := longRun(t, c, fc, 10, 2*sim.Second, nil, anySize)
		for _, s := range wrong {
			t.Error(name, s)
		}
	}
	b := newEpochBed(t, Config{ResendAfter: 20 * sim.Microsecond}, fabric.Config{})
	receipts := ""
	id := b.cl.HandleDeferring("slow", func(c *Co, _ Peer, req, _ []byte) int {
		ticket := c.Defer()
		b.cl.SpawnBackground(0, 0, "answers", func(c *Co) {
			c.Sleep(sim.Millisecond) // the caller has to ask again
			ticket.Answer(c, func(_ *Co, req, rep []byte) int { return copy(rep, req) })
		})
		return 0
	})
	b.cl.OnReceipt(epochAsked, func(_, _, _ int, req []byte) { receipts += string(req) })
	b.on(1, func(c *Co) {
		r := c.Call(0, id, []byte("later"))
		if err := c.Wait(); err != nil || string(r.B) != "later" {
			t.Errorf("%q, %v", r.B, err)
		}
		c.Phase(phaseExecution, Mode{Passive: true})
		c.Call(0, epochAsked, []byte("passive"))
	})
	if b.run(sim.Millisecond); receipts != "passive" {
		t.Errorf("receipts of %q", receipts)
	}
}

// An epoch is entered once, by a cluster that has some.
func TestEpochsGoOn(t *testing.T) {
	plain := newBed(t, 2, Config{Threads: 1}, fabric.Config{})
	on := newEpochBed(t, Config{}, fabric.Config{})
	on.enters(2, []byte{0, 1, 2}, []byte{0, 1, 2})
	for _, b := range []*bed{plain, on.bed} {
		b.cl.Spawn(0, 0, func(c *Co) {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, "Config.Epochs has to be on") {
					t.Errorf("it says %q", said)
				}
			}()
			c.EnterEpoch(membership.First, nil)
		})
		b.run(sim.Millisecond)
	}
}
