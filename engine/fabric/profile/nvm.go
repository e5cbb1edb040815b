package profile

import "drtmx/engine/fabric/space"

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

// nvmLimits are those of the numbers of NVM. What the device works with it checks
// once more.
var nvmLimits = map[string]limits{
	"nvm.dimms":             {min: 1, max: 64},
	"nvm.interleave":        {min: space.LineBytes, max: 1 << space.HugeShift, power: true},
	"nvm.xline":             {min: space.LineBytes, max: 64 * space.LineBytes, power: true},
	"nvm.xbuffer":           {min: 1, max: 1 << 16},
	"nvm.writeback_queue":   {min: 1, max: 1 << 16},
	"nvm.write_queue":       {min: 1, max: 1 << 16},
	"nvm.read_queue":        {min: 1, max: 1 << 16},
	"nvm.translation_pages": {min: 1, max: 1 << 20},
	"nvm.translation_page":  {min: space.LineBytes, max: 1 << 30, power: true},
	"nvm.read_bandwidth":    {min: 0.001, max: 500},
	"nvm.write_bandwidth":   {min: 0.001, max: 500},
	"nvm.media_shared":      {min: 0, max: 1},
	"nvm.wear_writes":       {min: 0, max: 1<<16 - 1},
	"nvm.wear_block":        {min: 1, max: 1 << 30, power: true},
	"nvm.wear_counters":     {min: 1, max: 1 << 20},
	"nvm.combining_buffers": {min: 1, max: 256},
	"nvm.fill_buffers":      {min: 1, max: 256},
	"nvm.evictions":         {min: 1, max: 4096},
	"nvm.posted_writes":     {min: 1, max: 4096},
	"nvm.remote_writes":     {min: 1, max: 4096},
	"nvm.partial_writes":    {min: 0, max: 4096},
}
