// The tandem model on the event kernel of ns-3. Usage: ns3 SCHEDULER n k visits
#include "tandem.h"

#include <ns3/core-module.h>

#include <string>

using namespace ns3;

namespace {

const int64_t mean = 100000; // ps

Services services;
Stations* stations;
uint32_t k;
uint64_t visits, wanted;

void done(uint32_t at);

void serve(uint32_t at) {
    Simulator::Schedule(PicoSeconds(int64_t(services.draw() * mean)), &done, at);
}

void done(uint32_t at) {
    if (++visits == wanted) {
        Simulator::Stop();
    }
    uint32_t job = stations->pop(at);
    if (stations->busy(at)) {
        serve(at);
    }
    uint32_t to = at + 1 == k ? 0 : at + 1;
    if (stations->push(job, to)) {
        serve(to);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: %s Map|Heap|Calendar|PriorityQueue n k visits\n", argv[0]);
        return 2;
    }
    uint32_t n = std::atoi(argv[2]);
    k = std::atoi(argv[3]);
    wanted = std::strtoull(argv[4], nullptr, 10);
    Time::SetResolution(Time::PS);
    ObjectFactory scheduler;
    scheduler.SetTypeId(std::string("ns3::") + argv[1] + "Scheduler");
    Simulator::SetScheduler(scheduler);
    stations = new Stations(n, k);
    for (uint32_t j = 0; j < n; j++) {
        if (stations->push(j, j % k)) {
            serve(j % k);
        }
    }
    int64_t begin = cpu_ns();
    Simulator::Run();
    int64_t end = cpu_ns();
    report(visits, end - begin, double(Simulator::Now().GetPicoSeconds()) / mean);
    Simulator::Destroy();
    delete stations;
}
