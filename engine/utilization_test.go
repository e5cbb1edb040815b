package engine

import (
	"math"
	"testing"

	"drtmx/engine/experiment"
)

// utilizationBeds load what is booked ahead of its time: links behind deep send queues, the media
// of the NVM behind their buffers, and cores.
var utilizationBeds = map[string]experiment.Spec{
	"WRITEs":        {Workload: "micro-write", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.payload": 1024, "workload.objects": 8}},
	"small WRITEs":  {Workload: "micro-write", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.objects": 64}},
	"long READs":    {Workload: "micro-read", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.payload": 4096, "workload.objects": 8}},
	"atomics":       {Workload: "micro-atomic", Set: experiment.Knobs{"nodes": 3, "threads": 4, "workload.keys": 10}},
	"TCP":           {Workload: "micro-rpc", Set: experiment.Knobs{"nodes": 3, "threads": 2, "profile": "vale"}},
	"NVM":           {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "workload.payload": 64}},
	"NVM no DDIO":   {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "workload.payload": 1024, "ddio": false}},
	"NVM shared":    {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "ddio": false, "hardware.nvm.media_shared": 1}},
	"NVM persist":   {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "ddio": false, "nvm.persist": true}},
	"NVM two-sided": {Workload: "micro-write", Set: experiment.Knobs{"profile": "r74v", "servers": 1, "clients": 6, "workload.payload": 256, "workload.primitive": "two-sided", "workload.copy": "ntstore"}},
	"rings":         {Workload: "micro-rpc", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.transport": "write", "hardware.cpu.poll_empty": 100}},
	"slow cores":    {Workload: "micro-write", Set: experiment.Knobs{"nodes": 3, "threads": 2, "hardware.cpu.poll_cqe": "20us"}},
	"smallbank":     {Preset: "drtm+h", Workload: "smallbank", Set: experiment.Knobs{"nodes": 3, "threads": 2, "workload.accounts": 500}},
}

// Nothing is busy for longer than a window lasts, be it a microsecond, nor for less than no time, and
// the windows together have been as busy as the whole.
func TestUtilizationOfWindows(t *testing.T) {
	for name, spec := range utilizationBeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, err := spec.With(experiment.Knobs{"window_ns": "1us", "check": "off"})
			if err != nil {
				t.Fatal(err)
			}
			s := open(t, spec)
			const windows = 150
			advance(t, s, windows*1000)
			sums := map[string]float64{}
			for _, w := range s.Windows(0) {
				for resource, u := range w.Utilization {
					sums[resource] += u.Mean
					if u.Mean < 0 || u.Mean > u.Max || u.Max > 1 {
						t.Errorf("window %d: %s is busy for %+v of the time", w.Index, resource, u)
					}
				}
			}
			for resource, whole := range s.Result().Utilization {
				if mean := sums[resource] / windows; math.Abs(mean-whole.Mean) > 1e-6 {
					t.Errorf("%s is busy for %g of the windows, and %g of the whole", resource, mean, whole.Mean)
				}
			}
		})
	}
}
