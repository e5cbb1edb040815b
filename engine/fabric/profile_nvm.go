package fabric

// NVMNumbers is the persistent memory of a socket and what the processor does on
// the way to it. The first part is for the device (rdpma/nvm explains each), which
// this package does not know; sizes and times are per DIMM.
type NVMNumbers struct {
	DIMMs            Number `yaml:"dimms" unit:"count"`
	Interleave       Number `yaml:"interleave" unit:"bytes"`
	XLine            Number `yaml:"xline" unit:"bytes"`
	XBuffer          Number `yaml:"xbuffer" unit:"count"`
	WritebackQueue   Number `yaml:"writeback_queue" unit:"count"`
	WriteQueue       Number `yaml:"write_queue" unit:"count"`
	ReadQueue        Number `yaml:"read_queue" unit:"count"`
	ControllerRead   Number `yaml:"controller_read" unit:"ns"`
	ControllerWrite  Number `yaml:"controller_write" unit:"ns"`
	ReadHit          Number `yaml:"read_hit" unit:"ns"`
	MediaRead        Number `yaml:"media_read" unit:"ns"`
	TranslationMiss  Number `yaml:"translation_miss" unit:"ns"`
	TranslationPages Number `yaml:"translation_pages" unit:"count"`
	TranslationPage  Number `yaml:"translation_page" unit:"bytes"`
	ReadBandwidth    Number `yaml:"read_bandwidth" unit:"GB/s"`
	WriteBandwidth   Number `yaml:"write_bandwidth" unit:"GB/s"`
	MediaShared      Number `yaml:"media_shared" unit:"count"`
	WearWrites       Number `yaml:"wear_writes" unit:"count"`
	WearBlock        Number `yaml:"wear_block" unit:"count"`
	WearCounters     Number `yaml:"wear_counters" unit:"count"`
	WearMove         Number `yaml:"wear_move" unit:"ns"`

	Path                 Number `yaml:"path" unit:"ns"`
	StreamPath           Number `yaml:"stream_path" unit:"ns"`
	StreamStore          Number `yaml:"stream_store" unit:"ns"`
	CombiningBuffers     Number `yaml:"combining_buffers" unit:"count"`
	FillBuffers          Number `yaml:"fill_buffers" unit:"count"`
	Evictions            Number `yaml:"evictions" unit:"count"`
	PostedWrites         Number `yaml:"posted_writes" unit:"count"`
	PartialWrites        Number `yaml:"partial_writes" unit:"count"`
	RemoteWrites         Number `yaml:"remote_writes" unit:"count"`
	Interconnect         Number `yaml:"interconnect" unit:"GB/s"`
	InterconnectOverhead Number `yaml:"interconnect_overhead" unit:"bytes"`
	Directory            Number `yaml:"directory" unit:"ns"`
}

// nvmGenerations is the largest generation a node type may have.
func (p *Profile) nvmGenerations() int {
	if p.NVM == nil {
		return 0
	}
	return 2
}

// nvmBounds are the bounds of what this package uses; the device checks the rest.
func (p *Profile) nvmBounds() []bound {
	n := p.NVM
	if n == nil {
		return nil
	}
	return []bound{
		{"nvm.dimms", n.DIMMs, 1, 64}, {"nvm.interleave", n.Interleave, lineBytes, 1 << hugeShift},
		{"nvm.combining_buffers", n.CombiningBuffers, 1, 256}, {"nvm.fill_buffers", n.FillBuffers, 1, 256},
		{"nvm.evictions", n.Evictions, 1, 4096}, {"nvm.posted_writes", n.PostedWrites, 1, 4096},
		{"nvm.remote_writes", n.RemoteWrites, 1, 4096},
		{"nvm.partial_writes", n.PartialWrites, 0, 4096},
	}
}
