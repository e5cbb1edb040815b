package rdpma

import (
	"math"
	"testing"

	"drtmx/engine/fabric"
	"drtmx/engine/fabric/host"
	"drtmx/engine/fabric/profile"
	"drtmx/rdpma/nvm"
)

// prepare gives a cluster of one client and servers with NVM the hardware of
// the thesis: profile r74v.
func prepare(t testing.TB, c *fabric.Config) {
	if c.Profile == nil {
		p, err := profile.Load("r74v")
		if err != nil {
			t.Fatal(err)
		}
		c.Profile = p
	}
	c.NVM = device(c.Profile)
	if c.NodeTypes == nil {
		c.NodeTypes = []string{"val"}
		for len(c.NodeTypes) < c.Machines {
			c.NodeTypes = append(c.NodeTypes, "r74v")
		}
	}
}

func device(p *profile.Profile) func(machine, socket int, t *profile.NodeType) (host.Device, error) {
	n := p.NVM
	rate := func(x profile.Number) int64 { return int64(math.Round(x.Value * 1e9)) }
	c := nvm.Config{
		DIMMs: n.DIMMs.Int(), InterleaveBytes: n.Interleave.Int(), XLineBytes: n.XLine.Int(), XBufferXLines: n.XBuffer.Int(),
		WritebackQueue: n.WritebackQueue.Int(), WriteQueue: n.WriteQueue.Int(), ReadQueue: n.ReadQueue.Int(),
		ControllerReadPS: n.ControllerRead.Time(), ControllerWritePS: n.ControllerWrite.Time(),
		ReadHitPS: n.ReadHit.Time(), MediaReadPS: n.MediaRead.Time(), TranslationMissPS: n.TranslationMiss.Time(),
		TranslationPages: n.TranslationPages.Int(), TranslationPageBytes: n.TranslationPage.Int(),
		MediaReadBytesPerSec: rate(n.ReadBandwidth), MediaWriteBytesPerSec: rate(n.WriteBandwidth), MediaShared: n.MediaShared.Int() > 0,
		WearWrites: n.WearWrites.Int(), WearBlockXLines: n.WearBlock.Int(), WearCounters: n.WearCounters.Int(), WearPS: n.WearMove.Time(),
	}
	return func(_, _ int, t *profile.NodeType) (host.Device, error) {
		switch t.NVMGeneration.Int() {
		case 0:
			return nil, nil
		case 1:
			return nvm.New(c)
		}
		return nvm.New(c.NextGeneration())
	}
}
