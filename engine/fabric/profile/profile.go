package profile

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"drtmx/engine/sim"
)

// Profile is the hardware of a cluster: node types and the numbers that decide
// what everything costs. It is loaded from a YAML file in which every number
// says what it means and where it comes from.
type Profile struct {
	Name    string
	Version int
	Title   string

	CPU    CPUNumbers
	NIC    NICNumbers
	Wire   WireNumbers
	PCIe   PCIeNumbers
	Memory MemoryNumbers
	// NVM is nil where no machine has any.
	NVM *NVMNumbers
	// TCP is nil where the NICs have RDMA. Where it is not, messages go through the
	// kernel, and the numbers tagged rdma:"only" are not there.
	TCP *TCPNumbers
	// Scheduler is nil where no two threads may share a core.
	Scheduler *SchedulerNumbers
	// SSD is nil where machines have none that is known.
	SSD *SSDNumbers

	// NodeTypes are in the order of the file; the first is the default.
	NodeTypes []*NodeType
}

// Number is a quantity of a profile.
type Number struct {
	Value   float64
	Unit    string
	Meaning string
	Source  string
	Kind    NumberKind
}

// NumberKind says how far a number may be trusted, and changed.
type NumberKind string

// The kinds of numbers.
const (
	Physics   NumberKind = "physics"   // follows from a standard or a law
	Datasheet NumberKind = "datasheet" // published by the maker, or configured so on the testbed
	Fitted    NumberKind = "fitted"    // fitted to the calibration rows with use=fit, and to nothing else
	Assumed   NumberKind = "assumed"   // plausible; no row depends on it closely
)

// Time is a number of nanoseconds as virtual time. It is rounded here, once.
func (n Number) Time() sim.Time { return sim.Time(math.Round(n.Value * 1000)) }

// Int is a count.
func (n Number) Int() int { return int(n.Value) }

// PerKB is the time of 1024 bytes at a number of GB/s.
func (n Number) PerKB() sim.Time { return sim.Time(math.Round(1024 * 1000 / n.Value)) }

// CPUNumbers is what a core pays for talking to its RNIC, charged by engine/r2. Of
// these and of the following, those tagged rdma:"only" describe RNICs alone.
type CPUNumbers struct {
	PostWQE         Number `yaml:"post_wqe" unit:"ns" rdma:"only"`
	MMIO            Number `yaml:"mmio" unit:"ns" rdma:"only"`
	PollEmpty       Number `yaml:"poll_empty" unit:"ns" rdma:"only"`
	PollCQE         Number `yaml:"poll_cqe" unit:"ns" rdma:"only"`
	RecvRefill      Number `yaml:"recv_refill" unit:"ns" rdma:"only"`
	CoroutineSwitch Number `yaml:"coroutine_switch" unit:"ns"`
	Dispatch        Number `yaml:"dispatch" unit:"ns"`
	CopyLine        Number `yaml:"copy_line" unit:"ns"`
	Atomic          Number `yaml:"atomic" unit:"ns"`
	LineTransfer    Number `yaml:"line_transfer" unit:"ns"`
	HTMRegion       Number `yaml:"htm_region" unit:"ns"`
	HTMAbort        Number `yaml:"htm_abort" unit:"ns"`
}

// NICNumbers is what messages cost inside an RNIC.
type NICNumbers struct {
	TxSend           Number `yaml:"tx_send" unit:"ns"`
	TxWrite          Number `yaml:"tx_write" unit:"ns" rdma:"only"`
	TxRead           Number `yaml:"tx_read" unit:"ns" rdma:"only"`
	TxAtomic         Number `yaml:"tx_atomic" unit:"ns" rdma:"only"`
	TxReadResponse   Number `yaml:"tx_read_response" unit:"ns" rdma:"only"`
	TxAtomicResponse Number `yaml:"tx_atomic_response" unit:"ns" rdma:"only"`
	TxAck            Number `yaml:"tx_ack" unit:"ns" rdma:"only"`
	TxGather         Number `yaml:"tx_gather" unit:"GB/s"`
	TxLatency        Number `yaml:"tx_latency" unit:"ns"`

	RxSend       Number `yaml:"rx_send" unit:"ns"`
	RxWrite      Number `yaml:"rx_write" unit:"ns" rdma:"only"`
	RxRead       Number `yaml:"rx_read" unit:"ns" rdma:"only"`
	RxAtomic     Number `yaml:"rx_atomic" unit:"ns" rdma:"only"`
	RxResponse   Number `yaml:"rx_response" unit:"ns" rdma:"only"`
	RxAck        Number `yaml:"rx_ack" unit:"ns" rdma:"only"`
	RxCompletion Number `yaml:"rx_completion" unit:"ns" rdma:"only"`
	RxScatter    Number `yaml:"rx_scatter" unit:"GB/s"`
	RxLatency    Number `yaml:"rx_latency" unit:"ns"`

	AtomicUnit      Number `yaml:"atomic_unit" unit:"ns" rdma:"only"`
	ConflictHold    Number `yaml:"conflict_hold" unit:"ns" rdma:"only"`
	ConflictSlots   Number `yaml:"conflict_slots" unit:"count" rdma:"only"`
	ConflictGranule Number `yaml:"conflict_granule" unit:"bytes" rdma:"only"`

	QPContexts       Number `yaml:"qp_contexts" unit:"count" rdma:"only"`
	QPFetch          Number `yaml:"qp_fetch" unit:"ns" rdma:"only"`
	Translations     Number `yaml:"translations" unit:"count" rdma:"only"`
	TranslationFetch Number `yaml:"translation_fetch" unit:"ns" rdma:"only"`

	BlueFlame   Number `yaml:"blueflame" unit:"bytes" rdma:"only"`
	MaxInline   Number `yaml:"max_inline" unit:"bytes" rdma:"only"`
	SGEMax      Number `yaml:"sge_max" unit:"count" rdma:"only"`
	SendDepth   Number `yaml:"send_depth" unit:"count"`
	RecvDepth   Number `yaml:"recv_depth" unit:"count"`
	Outstanding Number `yaml:"outstanding" unit:"count" rdma:"only"`

	MMIODedicated Number `yaml:"mmio_dedicated" unit:"count" rdma:"only"`
	MMIOShared    Number `yaml:"mmio_shared" unit:"count" rdma:"only"`

	RetryCount      Number `yaml:"retry_count" unit:"count" rdma:"only"`
	TimeoutExponent Number `yaml:"timeout_exponent" unit:"count" rdma:"only"`
	RNRRetry        Number `yaml:"rnr_retry" unit:"count" rdma:"only"`
	RNRTimer        Number `yaml:"rnr_timer" unit:"ns"`
	LossRecovery    Number `yaml:"loss_recovery" unit:"ns" rdma:"only"`
}

// WireNumbers is the network between the RNICs.
type WireNumbers struct {
	Bandwidth    Number `yaml:"bandwidth" unit:"GB/s"`
	Cable        Number `yaml:"cable" unit:"ns"`
	Switch       Number `yaml:"switch" unit:"ns"`
	Loopback     Number `yaml:"loopback" unit:"ns"`
	MTU          Number `yaml:"mtu" unit:"bytes"`
	Header       Number `yaml:"header" unit:"bytes"`
	HeaderRemote Number `yaml:"header_remote" unit:"bytes" rdma:"only"`
	HeaderAtomic Number `yaml:"header_atomic" unit:"bytes" rdma:"only"`
	HeaderAck    Number `yaml:"header_ack" unit:"bytes" rdma:"only"`
	HeaderUD     Number `yaml:"header_ud" unit:"bytes" rdma:"only"`
}

// PCIeNumbers is the path between an RNIC and its socket.
type PCIeNumbers struct {
	OneWay      Number `yaml:"one_way" unit:"ns"`
	Bandwidth   Number `yaml:"bandwidth" unit:"GB/s"`
	Header      Number `yaml:"header" unit:"bytes"`
	HeaderReply Number `yaml:"header_reply" unit:"bytes"`
	MaxPayload  Number `yaml:"max_payload" unit:"bytes"`
	WQE         Number `yaml:"wqe" unit:"bytes"`
	RecvWQE     Number `yaml:"recv_wqe" unit:"bytes"`
	CQE         Number `yaml:"cqe" unit:"bytes"`
}

// MemoryNumbers is LLC, TLB and DRAM.
type MemoryNumbers struct {
	LLCHit      Number `yaml:"llc_hit" unit:"ns"`
	LLCNext     Number `yaml:"llc_next" unit:"ns"`
	LLCStore    Number `yaml:"llc_store" unit:"ns"`
	LLCDMA      Number `yaml:"llc_dma" unit:"ns"`
	DRAM        Number `yaml:"dram" unit:"ns"`
	DRAMNext    Number `yaml:"dram_next" unit:"ns"`
	DRAMRandom  Number `yaml:"dram_random" unit:"ns"`
	DRAMStore   Number `yaml:"dram_store" unit:"ns"`
	CrossSocket Number `yaml:"cross_socket" unit:"ns"`
	TLBEntries  Number `yaml:"tlb_entries" unit:"count"`
	TLBWalk     Number `yaml:"tlb_walk" unit:"ns"`
}

// NodeType is a kind of machine.
type NodeType struct {
	Name string

	Sockets          Number `yaml:"sockets" unit:"count"`
	CoresPerSocket   Number `yaml:"cores_per_socket" unit:"count"`
	Frequency        Number `yaml:"frequency" unit:"MHz"`
	DRAM             Number `yaml:"dram" unit:"GB"`
	NICs             Number `yaml:"nics" unit:"count"`
	LLC              Number `yaml:"llc" unit:"MB"`
	LLCWays          Number `yaml:"llc_ways" unit:"count"`
	DDIOWays         Number `yaml:"ddio_ways" unit:"count"`
	Channels         Number `yaml:"channels" unit:"count"`
	ChannelBandwidth Number `yaml:"channel_bandwidth" unit:"GB/s"`
	// NVMGeneration says which NVM the sockets have: 0 none, 1 that of the
	// profile's section nvm, 2 its successor.
	NVMGeneration Number `yaml:"nvm_generation" unit:"count" optional:"true"`
}

// Cores is the number of cores of all sockets.
func (t *NodeType) Cores() int { return t.Sockets.Int() * t.CoresPerSocket.Int() }

// CPUCosts are CPUNumbers as virtual time, for one machine.
type CPUCosts struct {
	PostWQE, MMIO, PollEmpty, PollCQE, RecvRefill sim.Time
	CoroutineSwitch, Dispatch, CopyLine, Atomic   sim.Time
	LineTransfer                                  sim.Time
	HTMBegin, HTMCommit, HTMAbort                 sim.Time
	// MemoryLine is a line that the RNIC has written past the cache.
	MemoryLine sim.Time
	MHz        int64
}

func (p *Profile) CPUCosts(t *NodeType) CPUCosts {
	c := &p.CPU
	costs := CPUCosts{
		PostWQE: c.PostWQE.Time(), MMIO: c.MMIO.Time(), PollEmpty: c.PollEmpty.Time(), PollCQE: c.PollCQE.Time(),
		RecvRefill: c.RecvRefill.Time(), CoroutineSwitch: c.CoroutineSwitch.Time(), Dispatch: c.Dispatch.Time(),
		CopyLine: c.CopyLine.Time(), Atomic: c.Atomic.Time(), LineTransfer: c.LineTransfer.Time(), MemoryLine: p.Memory.DRAM.Time(), MHz: int64(t.Frequency.Int()),
		HTMBegin: c.HTMRegion.Time() / 2, HTMAbort: c.HTMAbort.Time(),
	}
	costs.HTMCommit = c.HTMRegion.Time() - costs.HTMBegin
	if p.TCP != nil { // what describes RNICs is 0
		costs.PollEmpty = p.TCP.Poll.Time()
	}
	return costs
}

// NodeType finds a node type by name; "" is the first.
func (p *Profile) NodeType(name string) (*NodeType, error) {
	for _, t := range p.NodeTypes {
		if t.Name == name || name == "" {
			return t, nil
		}
	}
	names := make([]string, len(p.NodeTypes))
	for i, t := range p.NodeTypes {
		names[i] = t.Name
	}
	return nil, fmt.Errorf("node type %q: profile %s has %s", name, p.Name, strings.Join(names, ", "))
}

// ID is the profile's name and version, as results carry it.
func (p *Profile) ID() string { return fmt.Sprintf("%s@%d", p.Name, p.Version) }

//go:embed *.yaml
var profileFiles embed.FS

// Names are the names of the profiles that come with the package.
func Names() []string {
	files, err := fs.Glob(profileFiles, "*.yaml")
	if err != nil {
		panic("profile: " + err.Error()) // the pattern is constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".yaml")
	}
	slices.Sort(files)
	return files
}

// Load reads a profile that comes with the package. The caller may change it.
func Load(name string) (*Profile, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("profile %q: not found; there is %s", name, strings.Join(Names(), ", "))
	}
	loaded.Lock()
	defer loaded.Unlock()
	if p := loaded.by[name]; p != nil {
		return p.clone(), nil
	}
	b, err := profileFiles.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("profile %q: %w", name, err)
	}
	p, err := Parse(b)
	if err != nil {
		return nil, err
	}
	loaded.by[name] = p
	return p.clone(), nil
}

// loaded are the profiles that have been read: to parse one takes as long as to run a small system.
var loaded = struct { // program: of its files
	sync.Mutex
	by map[string]*Profile
}{by: map[string]*Profile{}}

// clone is a copy that shares nothing with p.
func (p *Profile) clone() *Profile {
	c := *p
	c.NVM, c.TCP, c.Scheduler, c.SSD = copied(p.NVM), copied(p.TCP), copied(p.Scheduler), copied(p.SSD)
	c.NodeTypes = make([]*NodeType, len(p.NodeTypes))
	for i, t := range p.NodeTypes {
		c.NodeTypes[i] = copied(t)
	}
	return &c
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
