package beside

import "math/bits"

// Answers are those that a thread keeps with its replies, each under a number that travels beside the reply. The thread alone keeps and
// drops them. An answer stays what it is from Keep to Drop, so who got its number with the reply reads it as it was sent, whatever else
// the thread keeps meanwhile.
type Answers struct {
	all    *Kept
	made   uint32
	unused []uint32
}

// Kept are the answers of a thread as others find them. Blocks are made, each twice as large as the one before, and never move.
type Kept struct{ blocks [32 - firstBits][]Answer }

// The first block has 1<<firstBits answers.
const firstBits = 4

// NewAnswers has none.
func NewAnswers() Answers { return Answers{all: new(Kept)} }

// Kept is where others find them.
func (a *Answers) Kept() *Kept { return a.all }

// Of is the answer of a number.
func (k *Kept) Of(number uint32) *Answer {
	number += 1 << firstBits
	block := bits.Len32(number) - firstBits - 1
	return &k.blocks[block][number-1<<(block+firstBits)]
}

// Keep copies one, and returns its number.
func (a *Answers) Keep(from *Answer) (number uint32) {
	if n := len(a.unused); n > 0 {
		number, a.unused = a.unused[n-1], a.unused[:n-1]
	} else {
		number = a.made
		if full := a.made + 1<<firstBits; full&(full-1) == 0 {
			a.all.blocks[bits.Len32(full)-firstBits-1] = make([]Answer, full)
		}
		a.made++
	}
	a.all.Of(number).Set(from)
	return number
}

// Drop ends one.
func (a *Answers) Drop(number uint32) { a.unused = append(a.unused, number) }

// Len is how many are kept.
func (a *Answers) Len() int { return int(a.made) - len(a.unused) }
