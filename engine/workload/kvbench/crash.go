package kvbench

import (
	"fmt"

	"drtmx/engine/r2"
)

// What a crash of a server does to what is known of its keys. A write that was answered before the time that the store calls
// durable has survived; of the later ones each key has any, as long as no write that survived has to come behind it. Which
// one it is the store says when it has recovered, and from then on no client may see another one of before.

// outage is a server that has crashed and not recovered.
type outage struct {
	at      r2.Time
	durable r2.Time // answers of before survive it
}

// crashed begins an outage of a server: answers of requests that begin before it ends are not judged.
func (k *checker) crashed(server int, durable r2.Time) {
	k.outages[server] = outage{k.now(), durable}
}

// out says that a request to a key met an outage of the key's server: then its answer may be of before or after.
func (k *checker) out(key uint64, begin r2.Time) bool {
	if k.home == nil {
		return false
	}
	server := k.home(key)
	_, down := k.outages[server]
	return down || begin < k.recoveredAt[server]
}

// recovered ends an outage. find is what the store holds.
func (k *checker) recovered(server int, find func(key uint64, value []byte) bool) {
	o := k.outages[server]
	delete(k.outages, server)
	k.recoveredAt[server] = k.now()
	value := make([]byte, len(k.scratch))
	for _, key := range k.written() {
		if k.home(key) != server {
			continue
		}
		r, now := k.registers[key], id(0)
		there := find(key, value)
		if there {
			var wrong string
			if now, wrong = parse(key, value, k.scratch); wrong != "" {
				k.report("key %d has value %x behind the recovery of machine %d, %s", key, value, server, wrong)
				continue
			}
		}
		if wrong := r.survived(there, now, o.durable); wrong != "" {
			k.report("key %d behind the recovery of machine %d, where answers until %s are durable: %s", key, server, us(o.durable), wrong)
		}
		k.registers[key] = r.again(there, now)
	}
}

// survived says what is wrong with what a key has behind a recovery; x is the write of its value.
func (r *register) survived(there bool, x id, durable r2.Time) string {
	v := r.find(x)
	switch {
	case !there && r.there:
		return "it was there from the start, and is not"
	case there && v == nil:
		return fmt.Sprintf("%v is there, which had been overwritten for long, or was never there", x)
	case there:
		if wrong := r.effective(v); wrong != "" {
			return wrong
		}
	}
	for i := range r.versions {
		switch w := &r.versions[i]; {
		case w.acked >= durable || there && w.id == x:
		case !there:
			return fmt.Sprintf("it is not there, and %v had been answered by %s", w.id, us(w.acked))
		case v.inserts || r.precedes(v) < w.began:
			return fmt.Sprintf("%v is there, and %v, which came behind it, had been answered by %s", x, w.id, us(w.acked))
		}
	}
	return ""
}

// again is what is known of a key behind a recovery: its value, and the writes that are still under way.
func (r *register) again(there bool, x id) *register {
	n := newRegister(there)
	if there {
		n.versions[0].id = x
	}
	for _, v := range r.versions {
		if v.pending && !v.failed && !(there && v.id == x) {
			n.write(v.id, v.began, v.inserts)
		}
	}
	return n
}

// failed notes that a write has ended with an error. One that began while its server was down has no effect; another one may
// have taken effect or not, or do so still.
func (k *checker) failed(key uint64, x id) {
	r := k.registers[key]
	if r == nil || k.home == nil {
		return
	}
	v := r.find(x)
	switch o, out := k.outages[k.home(key)]; {
	case v == nil:
	case out && v.began >= o.at:
		r.forget(x)
	default:
		v.failed = true
	}
}
