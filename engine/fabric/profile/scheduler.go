package profile

import "drtmx/engine/sim"

// SchedulerNumbers is how the operating system shares a core among threads: Linux's CFS
// of the testbeds' time. What it does with them is engine/r2's.
type SchedulerNumbers struct {
	Latency           Number `yaml:"latency" unit:"ns"`
	MinGranularity    Number `yaml:"min_granularity" unit:"ns"`
	WakeupGranularity Number `yaml:"wakeup_granularity" unit:"ns"`
	Tick              Number `yaml:"tick" unit:"ns"`
	ContextSwitch     Number `yaml:"context_switch" unit:"ns"`
	Wake              Number `yaml:"wake" unit:"ns"`
}

// schedulerLimits are those of the numbers that a schedule cannot work without.
var schedulerLimits = map[string]limits{
	"scheduler.latency":         {min: 1000, max: maxNS},
	"scheduler.min_granularity": {min: 1000, max: maxNS},
	"scheduler.tick":            {min: 1000, max: maxNS},
}

// SchedulerCosts are SchedulerNumbers as virtual time.
type SchedulerCosts struct {
	Latency, MinGranularity, WakeupGranularity sim.Time
	Tick, ContextSwitch, Wake                  sim.Time
}

// SchedulerCosts is how cores are shared; nil where the profile does not say.
func (p *Profile) SchedulerCosts() *SchedulerCosts {
	n := p.Scheduler
	if n == nil {
		return nil
	}
	return &SchedulerCosts{
		Latency: n.Latency.Time(), MinGranularity: n.MinGranularity.Time(), WakeupGranularity: n.WakeupGranularity.Time(),
		Tick: n.Tick.Time(), ContextSwitch: n.ContextSwitch.Time(), Wake: n.Wake.Time(),
	}
}
