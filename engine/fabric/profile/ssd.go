package profile

// SSDNumbers is the solid-state disk of a machine and what a core pays the kernel for a request.
type SSDNumbers struct {
	WriteLatency   Number `yaml:"write_latency" unit:"ns"`
	ReadLatency    Number `yaml:"read_latency" unit:"ns"`
	WriteBandwidth Number `yaml:"write_bandwidth" unit:"GB/s"`
	ReadBandwidth  Number `yaml:"read_bandwidth" unit:"GB/s"`
	QueueDepth     Number `yaml:"queue_depth" unit:"count"`
	Block          Number `yaml:"block" unit:"bytes"`
	Call           Number `yaml:"call" unit:"ns"`
}

// ssdLimits are those of the numbers that a disk cannot work without.
var ssdLimits = map[string]limits{
	"ssd.queue_depth": {min: 1, max: 1 << 16},
	"ssd.block":       {min: 512, max: 4096, power: true},
}
