package result

// NodeInside is what the parts of a machine did in a span of time: how busy each was, as a share of
// the time, and what went through it per second.
type NodeInside struct {
	Node    int            `json:"node"`
	Type    string         `json:"type"`
	Role    string         `json:"role"` // "symmetric", "server", "client" or "oracle"
	Down    bool           `json:"down,omitempty"`
	FromNS  int64          `json:"from_ns"`
	ToNS    int64          `json:"to_ns"`
	NICs    []NICInside    `json:"nics"`
	Sockets []SocketInside `json:"sockets"`
	Between []float64      `json:"between_sockets,omitempty"` // how busy the way between sockets to NVM was, by direction
}

// Flow is what went through a link or a bus.
type Flow struct {
	Busy        float64 `json:"busy"`
	BytesPerSec float64 `json:"bytes_per_s"` // headers included
	OpsPerSec   float64 `json:"ops_per_s"`
}

// NICInside is an RNIC.
type NICInside struct {
	NIC           int     `json:"nic"`
	Socket        int     `json:"socket"`
	Send          Flow    `json:"send"`     // pipelines; they have no bytes of their own
	Receive       Flow    `json:"receive"`  //
	Atomics       Flow    `json:"atomics"`  // the unit that executes them
	Contexts      Flow    `json:"contexts"` // the fetching of contexts and pages that it does not keep
	ContextHits   float64 `json:"context_hits"`
	PageHits      float64 `json:"page_hits"`
	Out           Flow    `json:"out"` // to the switch
	In            Flow    `json:"in"`
	WritesToHost  Flow    `json:"writes_to_host"` // over PCIe
	ReadsFromHost Flow    `json:"reads_from_host"`
}

// SocketInside is a processor with its cache and its memory.
type SocketInside struct {
	Socket        int        `json:"socket"`
	Cores         int        `json:"cores"`
	Threads       []float64  `json:"threads"` // how busy each worker thread's core was
	LLCBytes      int        `json:"llc_bytes"`
	Ways          int        `json:"llc_ways"`
	DDIO          bool       `json:"ddio"`
	DDIOWays      int        `json:"ddio_ways"`
	DDIOHits      float64    `json:"ddio_hits"`      // lines of DMA writes per second that the cache had
	DDIOMisses    float64    `json:"ddio_misses"`    //
	DDIOEvictions float64    `json:"ddio_evictions"` // dirty lines that left for them
	DRAM          Flow       `json:"dram"`           // of all channels; Busy is the busiest
	Channels      []float64  `json:"dram_channels"`  // how busy each was
	NVM           *NVMInside `json:"nvm,omitempty"`  // nil without
}

// NVMInside is what was asked of a socket's NVM, in requests of 64 bytes, and its DIMMs.
type NVMInside struct {
	ReadsPerSec  float64      `json:"reads_per_s"`
	WritesPerSec float64      `json:"writes_per_s"`
	DIMMs        []DIMMInside `json:"dimms"`
}

// DIMMInside is what the media of a DIMM did, and how full its buffer was at the end.
type DIMMInside struct {
	Read   Flow    `json:"read"`
	Write  Flow    `json:"write"`
	Buffer float64 `json:"buffer"`
	Dirty  float64 `json:"buffer_dirty"`
}

// NVMStat is what the NVM of all machines did, as its counters say (section 2.3.2.1): requests are of
// 64 bytes, and the amplification is what the media wrote for each byte of a write request.
type NVMStat struct {
	ReadReq            uint64  `json:"read_req"`
	WriteReq           uint64  `json:"write_req"`
	MediaReadBytes     uint64  `json:"media_read_bytes"`
	MediaWriteBytes    uint64  `json:"media_write_bytes"`
	WriteAmplification float64 `json:"write_amplification"`
	// DIMMs are each DIMM's part, of a window only.
	DIMMs []DIMMStat `json:"dimms,omitempty"`
}

// DIMMStat is what the media of one DIMM moved, and how much of its buffer was in use at the end.
type DIMMStat struct {
	Node       int     `json:"node"`
	Socket     int     `json:"socket"`
	DIMM       int     `json:"dimm"` // counted from 1, as workload.dimm
	ReadBytes  uint64  `json:"media_read_bytes"`
	WriteBytes uint64  `json:"media_write_bytes"`
	Buffer     float64 `json:"buffer"`       // share of its XLines that are in use
	Dirty      float64 `json:"buffer_dirty"` // share of dirty bytes, not yet written to the media
}

// PCIeStat is what RNICs moved over PCIe in a window, in words of at most 64 bytes: the words that
// they read, those that they wrote, and of these the ones that are less than a line of memory, which
// the host has to read before it can write it (section 2.3.4.1).
type PCIeStat struct {
	ReadWords  uint64    `json:"read_words"`
	WriteWords PCIeWords `json:"write_words"`
	Partial    PCIeWords `json:"partial_words"`
}

// PCIeWords are words by why they were written.
type PCIeWords struct {
	Write      uint64 `json:"write"`      // a WRITE from elsewhere
	Message    uint64 `json:"message"`    // a message fills a RECV
	Fill       uint64 `json:"fill"`       // a READ or atomic brings back what it found
	Atomic     uint64 `json:"atomic"`     // an atomic from elsewhere
	Completion uint64 `json:"completion"` // a completion
}

// Sum is all words.
func (w PCIeWords) Sum() uint64 { return w.Write + w.Message + w.Fill + w.Atomic + w.Completion }

// CacheStat is how the caches between RNICs and memory did in a window: the ways of the LLC into which
// DDIO writes, and the RNICs' caches of queue-pair contexts and of translations.
type CacheStat struct {
	DDIOHits          uint64 `json:"ddio_hits"`
	DDIOMisses        uint64 `json:"ddio_misses"`
	DDIOEvictions     uint64 `json:"ddio_evictions"` // dirty lines that left for those that missed
	Contexts          uint64 `json:"contexts"`
	ContextMisses     uint64 `json:"context_misses"`
	Translations      uint64 `json:"translations"`
	TranslationMisses uint64 `json:"translation_misses"`
}
