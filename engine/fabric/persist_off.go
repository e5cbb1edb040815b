//go:build !invariants

package fabric

func (d *durability) check() {}
