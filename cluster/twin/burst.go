package twin

import "time"

// burstTime is how soon a change follows another if the two are one: those of a slider
// that is dragged have one ghost.
const burstTime = time.Second

// Burst finds changes that are one.
type Burst struct {
	version int // of the knobs, that the first of them made
	last    time.Time
}

// First is the version that began what this one belongs to.
func (b *Burst) First(version int, now time.Time) int {
	if b.version == 0 || now.Sub(b.last) > burstTime {
		b.version = version
	}
	b.last = now
	return b.version
}
