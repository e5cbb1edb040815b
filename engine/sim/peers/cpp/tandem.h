// What the C++ versions of the tandem model share: service times, the CPU clock
// and the result line. See ../tandem/tandem.go for the model.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

struct Services {
    std::vector<double> table; // in mean service times
    uint64_t lcg = 1;

    Services() : table(4096) {
        for (int i = 0; i < 4096; i++) {
            table[i] = -std::log((i + 0.5) / 4096);
        }
    }

    double draw() {
        lcg = lcg * 6364136223846793005ULL + 1442695040888963407ULL;
        return table[lcg >> 52];
    }
};

// A station is a list of jobs of which the first is served.
struct Stations {
    static constexpr uint32_t none = ~0u;
    std::vector<uint32_t> next, first, last;

    Stations(uint32_t n, uint32_t k) : next(n), first(k, none), last(k) {}

    // push returns whether the job is served at once.
    bool push(uint32_t job, uint32_t at) {
        next[job] = none;
        if (first[at] == none) {
            first[at] = last[at] = job;
            return true;
        }
        next[last[at]] = job;
        last[at] = job;
        return false;
    }

    // pop removes the job that was served.
    uint32_t pop(uint32_t at) {
        uint32_t job = first[at];
        first[at] = next[job];
        return job;
    }

    bool busy(uint32_t at) const { return first[at] != none; }
};

inline int64_t cpu_ns() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The result line: visits, CPU time, visits per mean service time.
inline void report(uint64_t visits, int64_t cpu, double mean_services) {
    std::printf("%llu %lld %.4f\n", (unsigned long long)visits, (long long)cpu, visits / mean_services);
}
