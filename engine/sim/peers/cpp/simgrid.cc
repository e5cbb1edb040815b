// The tandem model with SimGrid's S4U actors, one per job. Usage: simgrid n k visits
#include "tandem.h"

#include <simgrid/s4u.hpp>

#include <string>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
    sg4::Engine engine(&argc, argv); // takes the options it knows from argv
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s n k visits\n", argv[0]);
        return 2;
    }
    uint32_t n = std::atoi(argv[1]), k = std::atoi(argv[2]);
    uint64_t wanted = std::strtoull(argv[3], nullptr, 10), visits = 0;
    double reached = 0; // the time at which the last visit that counts ended

    auto* zone = sg4::create_full_zone("world");
    auto* host = zone->create_host("host", 1e9)->seal();
    zone->seal();

    Services services;
    std::vector<sg4::MutexPtr> stations(k);
    for (auto& s : stations) {
        s = sg4::Mutex::create();
    }
    for (uint32_t j = 0; j < n; j++) {
        sg4::Actor::create("job" + std::to_string(j), host, [&, j] {
            // One second is the mean service time: SimGrid's precision is absolute.
            for (uint32_t at = j % k; visits < wanted; at = at + 1 == k ? 0 : at + 1) {
                stations[at]->lock();
                sg4::this_actor::sleep_for(services.draw());
                stations[at]->unlock();
                if (++visits == wanted) {
                    reached = sg4::Engine::get_clock();
                }
            }
        });
    }
    int64_t begin = cpu_ns();
    engine.run();
    int64_t end = cpu_ns();
    // The jobs that were under way when the last visit ended finish theirs too:
    // they have cost time and they count, but not for the throughput.
    report(visits, end - begin, reached * visits / wanted);
}
