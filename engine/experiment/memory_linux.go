package experiment

import (
	"os"
	"strconv"
	"strings"
)

// AvailableMemory is what the kernel thinks can still be used, further limited by the control
// group that the process runs in; 0 when unknown.
func AvailableMemory() int64 {
	free := meminfo("MemAvailable:")
	if limit := numberIn("/sys/fs/cgroup/memory.max"); limit > 0 {
		if left := limit - numberIn("/sys/fs/cgroup/memory.current"); free == 0 || left < free {
			free = max(left, 1)
		}
	}
	return free
}

func meminfo(key string) int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == key {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

func numberIn(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0 // "max": no limit
	}
	return n
}
