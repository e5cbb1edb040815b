package nvm

import (
	"fmt"
	"math/bits"

	"drtmx/engine/sim"
)

// LineBytes is the granularity of requests (thesis table 2-3): a cache line or
// PCIe data word. A line number is an address divided by it.
const LineBytes = 64

// maxXLineLines bounds the lines of an XLine: they are bits of a word.
const maxXLineLines = 64

// Config are the sizes and times of one socket's DIMMs. There are no defaults:
// the numbers belong to the hardware profile. Times are in picoseconds. Every
// field but DIMMs and InterleaveBytes is per DIMM.
type Config struct {
	// DIMMs of the socket, and how many bytes in a row are on the same one
	// (thesis §2.3.4.1, H2: 4 KB over six DIMMs).
	DIMMs           int
	InterleaveBytes int

	// XLineBytes is what the media read and write at once: 256 (thesis §2.3.2.1).
	// A power of two from 64, where there is nothing to combine, to 4096.
	XLineBytes int
	// XBufferXLines is the capacity of the write-combining buffer in XLines. With
	// fewer, writes leave it before their neighbours have come.
	XBufferXLines int
	// WritebackQueue is how many XLines may be on their way from the buffer to the
	// media. With one, a partial XLine is read and written before the next; with
	// some, reads overlap with writes.
	WritebackQueue int
	// WriteQueue is the entries of the memory controller's write pending queue,
	// where a write becomes persistent. When it is full writes wait outside.
	WriteQueue int
	// ReadQueue is how many reads may be under way.
	ReadQueue int

	// ControllerReadPS and ControllerWritePS are how long a request of 64 bytes
	// holds the controller. They bound the rate of requests that hit the buffer.
	ControllerReadPS  sim.Time
	ControllerWritePS sim.Time
	// ReadHitPS is from the controller to the answer when the XLine is in the
	// buffer, MediaReadPS is added when it has to come from the media, and
	// TranslationMissPS when the media address has to be looked up first.
	// IdleRead sums them up.
	ReadHitPS         sim.Time
	MediaReadPS       sim.Time
	TranslationMissPS sim.Time
	// TranslationPages of TranslationPageBytes have their media address at hand:
	// the address-indirection buffer, and the second knee of a pointer chase.
	TranslationPages     int
	TranslationPageBytes int

	// MediaReadBytesPerSec and MediaWriteBytesPerSec are the bandwidth of the
	// media of one DIMM, a sixth of the socket's (thesis §2.1).
	MediaReadBytesPerSec  int64
	MediaWriteBytesPerSec int64
	// MediaShared makes reads and writes of the media take turns. Otherwise they
	// do not disturb each other there, only in the controller and the buffer.
	MediaShared bool

	// WearWrites is after how many media writes a block of WearBlockXLines moves
	// to another place, which keeps the media from writing for WearPS. 0 leaves
	// wear levelling out. Blocks whose numbers are equal modulo WearCounters share
	// a counter.
	WearWrites      int
	WearBlockXLines int
	WearCounters    int
	WearPS          sim.Time
}

// NextGeneration is the device of thesis §2.4: the same with 25 % more
// bandwidth. That caches belong to its persistent domain too is no matter of
// the device, for what leaves them is what it sees.
func (c Config) NextGeneration() Config {
	c.MediaReadBytesPerSec += c.MediaReadBytesPerSec / 4
	c.MediaWriteBytesPerSec += c.MediaWriteBytesPerSec / 4
	return c
}

// mediaTime is how long an XLine takes at a bandwidth, to the nearest picosecond.
func (c Config) mediaTime(bytesPerSec int64) sim.Time {
	return (int64(c.XLineBytes)*sim.Second + bytesPerSec/2) / bytesPerSec
}

// Validate says what is wrong with a configuration.
func (c Config) Validate() error {
	ranges := []struct {
		name         string
		value        int64
		least, most  int64
		powerOfTwo   bool
		unlessUnused bool
	}{
		{"DIMMs", int64(c.DIMMs), 1, 64, false, false},
		{"InterleaveBytes", int64(c.InterleaveBytes), LineBytes, 1 << 30, true, false},
		{"XLineBytes", int64(c.XLineBytes), LineBytes, LineBytes * maxXLineLines, true, false},
		{"XBufferXLines", int64(c.XBufferXLines), 1, 1 << 24, false, false},
		{"WritebackQueue", int64(c.WritebackQueue), 1, 1 << 16, false, false},
		{"WriteQueue", int64(c.WriteQueue), 1, 1 << 16, false, false},
		{"ReadQueue", int64(c.ReadQueue), 1, 1 << 16, false, false},
		{"ControllerReadPS", c.ControllerReadPS, 0, sim.Second, false, false},
		{"ControllerWritePS", c.ControllerWritePS, 0, sim.Second, false, false},
		{"ReadHitPS", c.ReadHitPS, 0, sim.Second, false, false},
		{"MediaReadPS", c.MediaReadPS, 0, sim.Second, false, false},
		{"TranslationMissPS", c.TranslationMissPS, 0, sim.Second, false, false},
		{"TranslationPages", int64(c.TranslationPages), 1, 1 << 24, false, false},
		{"TranslationPageBytes", int64(c.TranslationPageBytes), LineBytes, 1 << 30, true, false},
		{"MediaReadBytesPerSec", c.MediaReadBytesPerSec, 1e6, 1e12, false, false},
		{"MediaWriteBytesPerSec", c.MediaWriteBytesPerSec, 1e6, 1e12, false, false},
		{"WearWrites", int64(c.WearWrites), 0, 1<<16 - 1, false, false},
		{"WearBlockXLines", int64(c.WearBlockXLines), 1, 1 << 30, true, true},
		{"WearCounters", int64(c.WearCounters), 1, 1 << 24, false, true},
		{"WearPS", c.WearPS, 0, sim.Second, false, true},
	}
	for _, r := range ranges {
		if r.unlessUnused && c.WearWrites == 0 {
			continue
		}
		if r.value < r.least || r.value > r.most {
			return fmt.Errorf("nvm: %s %d is not in %d .. %d", r.name, r.value, r.least, r.most)
		}
		if r.powerOfTwo && bits.OnesCount64(uint64(r.value)) != 1 {
			return fmt.Errorf("nvm: %s %d is not a power of two", r.name, r.value)
		}
	}
	switch {
	case c.InterleaveBytes < c.XLineBytes:
		return fmt.Errorf("nvm: InterleaveBytes %d is less than XLineBytes %d", c.InterleaveBytes, c.XLineBytes)
	case c.TranslationPageBytes < c.XLineBytes:
		return fmt.Errorf("nvm: TranslationPageBytes %d is less than XLineBytes %d", c.TranslationPageBytes, c.XLineBytes)
	}
	return nil
}
