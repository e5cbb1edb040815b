package r2

import (
	"errors"
	"fmt"

	"drtmx/engine/membership"
	"drtmx/engine/r2/core"
	"drtmx/engine/r2/datagram"
	"drtmx/engine/wire"
)

// ErrEpoch is in the error of a request that its receiver has refused, for it was sent in an epoch that is over there.
var ErrEpoch = errors.New("the epoch is over")

// epochBytes is what Config.Epochs puts in front of requests and refusals.
const epochBytes = 4

// EnterEpoch has c's machine go on in a later epoch, of which some machines are members. Requests that it sends from now on carry that
// number, and it refuses those of an earlier one. Its ends of the queue pairs with all other machines are closed: what comes by them fails.
func (c *Co) EnterEpoch(e membership.Epoch, member func(machine int) bool) {
	core.Sync(&c.Program)
	mc, cl := c.w.mc, c.w.cl
	if !cl.cfg.Epochs || e <= mc.epoch {
		panic(fmt.Sprintf("r2: %s enters epoch %d at %d ps: Config.Epochs has to be on, and its machine in one before, not %d", c.Name(), e, c.Now(), mc.epoch))
	}
	mc.epoch = e
	for m := range cl.machines {
		if !member(m) {
			cl.fab.Machine(mc.id).CloseTo(m)
		}
	}
}

// framed copies a request into memory of its own, behind the epoch where requests carry it.
func (w *Worker) framed(req []byte) []byte {
	b := w.messages.Take(w.cl.front + len(req))
	if w.cl.front > 0 {
		wire.Put32(b, uint32(w.mc.epoch))
	}
	copy(b[w.cl.front:], req)
	return b
}

// admits takes the epoch off a request, and refuses it if its own machine is in a later one. Who has sent a passive one hears of its receipt alone.
func (w *Worker) admits(j *job) bool {
	e := membership.Epoch(wire.Get32(j.req))
	if j.req = j.req[epochBytes:]; e >= w.mc.epoch {
		return true
	}
	if j.head.Kind == datagram.Request {
		now := w.messages.Take(epochBytes)
		wire.Put32(now, uint32(w.mc.epoch))
		k := j.ch.Keep(j.seq, now, w.answers.Keep(&j.beside))
		k.How = ofOldEpoch
		w.sendReply(j.ch, j.seq, j.head, k)
	} else {
		w.mc.lost++
	}
	w.messages.Give(j.whole)
	w.repost(j.slot)
	return false
}

// refused is the error of a request that was.
func (w *Worker) refused(ch *channel, k *call, now []byte) error {
	return fmt.Errorf("r2: rpc %s from machine %d in epoch %d to machine %d in epoch %d: %w", w.cl.RPCName(w.cl.rpcOf(k)), w.mc.id, wire.Get32(k.message), ch.peer.mc.id, wire.Get32(now), ErrEpoch)
}
