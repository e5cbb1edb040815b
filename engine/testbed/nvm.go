package testbed

import (
	"math"

	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/engine/knob"
	"drtmx/rdpma/nvm"
)

// HasNVM says whether machines of the profile have any.
func HasNVM(v knob.Values) bool { return Shipped(v).NVM != nil }

// MostDIMMs is how many a socket of any hardware may have.
const MostDIMMs = 64

// DIMMs is how many a socket has, or may have where there is no NVM.
func DIMMs(v knob.Values) any {
	if !HasNVM(v) {
		return MostDIMMs
	}
	return Profile(v).NVM.DIMMs.Int()
}

// OnNVM says whether a micro-benchmark's data lie there.
func OnNVM(v knob.Values) bool { return HasNVM(v) && v.Bool("nvm.enabled") }

// NVMDevices makes the devices that a profile describes, as fabric.Config takes them.
func NVMDevices(p *profile.Profile) func(machine, socket int, t *profile.NodeType) (host.Device, error) {
	return func(_, _ int, t *profile.NodeType) (host.Device, error) {
		if p.NVM == nil || t.NVMGeneration.Int() == 0 {
			return nil, nil
		}
		c := nvmConfig(p.NVM)
		if t.NVMGeneration.Int() > 1 {
			c = c.NextGeneration()
		}
		return nvm.New(c)
	}
}

// nvmConfig is the device in the numbers of a profile.
func nvmConfig(n *profile.NVMNumbers) nvm.Config {
	rate := func(x profile.Number) int64 { return int64(math.Round(x.Value * 1e9)) }
	return nvm.Config{
		DIMMs: n.DIMMs.Int(), InterleaveBytes: n.Interleave.Int(), XLineBytes: n.XLine.Int(), XBufferXLines: n.XBuffer.Int(),
		WritebackQueue: n.WritebackQueue.Int(), WriteQueue: n.WriteQueue.Int(), ReadQueue: n.ReadQueue.Int(),
		ControllerReadPS: n.ControllerRead.Time(), ControllerWritePS: n.ControllerWrite.Time(),
		ReadHitPS: n.ReadHit.Time(), MediaReadPS: n.MediaRead.Time(), TranslationMissPS: n.TranslationMiss.Time(),
		TranslationPages: n.TranslationPages.Int(), TranslationPageBytes: n.TranslationPage.Int(),
		MediaReadBytesPerSec: rate(n.ReadBandwidth), MediaWriteBytesPerSec: rate(n.WriteBandwidth), MediaShared: n.MediaShared.Int() > 0,
		WearWrites: n.WearWrites.Int(), WearBlockXLines: n.WearBlock.Int(), WearCounters: n.WearCounters.Int(), WearPS: n.WearMove.Time(),
	}
}
