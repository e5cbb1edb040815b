package oracle

import "drtmx/engine/r2"

// keeper runs STABILIZE() asynchronously: a coroutine of the oracle's thread 0, which goes on for as long as the stable
// timestamp moves, and is called when something is installed.
type keeper struct {
	co     *r2.Co
	asleep bool
	flag   r2.Addr // reserved: what asleep takes of memory
}

func (k *keeper) open(cl *r2.Cluster, machine int, name string, stabilize func(c *r2.Co) bool) (err error) {
	if k.flag, err = cl.Mem(machine).Reserve(name+".keeper", lineBytes, 0); err != nil {
		return err
	}
	k.co = cl.SpawnBackground(machine, 0, name, func(c *r2.Co) {
		for {
			for stabilize(c) {
				c.Yield()
			}
			k.asleep = true
			c.Touch(k.flag, 8)
			if stabilize(c) { // what came before it saw the flag has called no other thread
				k.asleep = false
				continue
			}
			c.Suspend()
		}
	})
	return nil
}

// call has the stable timestamp looked at.
func (k *keeper) call(c *r2.Co) {
	c.Touch(k.flag, 8)
	if k.asleep {
		k.asleep = false
		c.Wake(k.co)
	}
}
