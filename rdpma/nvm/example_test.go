package nvm_test

import (
	"fmt"

	"drtmx/rdpma/nvm"
)

// Four lines of an XLine and four lines of four XLines: the same writes, and four
// times the bytes on the media.
func Example() {
	for _, apart := range []uint64{1, 4} {
		d, err := nvm.New(nvm.Config{
			DIMMs: 6, InterleaveBytes: 4096,
			XLineBytes: 256, XBufferXLines: 64, WritebackQueue: 4, WriteQueue: 4, ReadQueue: 64,
			ControllerReadPS: 3_000, ControllerWritePS: 3_000,
			ReadHitPS: 100_000, MediaReadPS: 75_000, TranslationMissPS: 40_000,
			TranslationPages: 4096, TranslationPageBytes: 4096,
			MediaReadBytesPerSec: 40_000_000_000 / 6, MediaWriteBytesPerSec: 52_000_000 * 256 / 6,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range uint64(4) {
			d.Write(0, i*apart)
		}
		d.Flush(0)
		s := d.Stats()
		fmt.Printf("%d lines written, %d read and %d written on the media: amplification %.0f\n",
			s.WriteReq, s.MediaRead, s.MediaWrite, s.WriteAmplification())
	}
	// Output:
	// 4 lines written, 0 read and 4 written on the media: amplification 1
	// 4 lines written, 16 read and 16 written on the media: amplification 4
}
