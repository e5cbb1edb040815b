// Requests of 64 bytes and their responses over UDP on ns-3: hosts around one router, links of 100 Gbps, so many requests of each
// host on their way. It is the nearest that ns-3 has to READs of 64 bytes: packets on links and through protocol layers, without the
// RNICs, caches and cores of ours. Usage: udppair hosts outstanding pairs
#include "tandem.h"

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <random>
#include <string>
#include <vector>

using namespace ns3;

namespace {

const uint16_t port = 4791;
const uint32_t payload = 64;

uint64_t ended, wanted;

// A client has requests on their way to random others; each response lets the next one leave.
class Client {
  public:
    Client(Ptr<Node> node, uint32_t self, const std::vector<Ipv4Address>& hosts)
        : self_(self), hosts_(hosts), random_(self), other_(0, hosts.size() - 2),
          socket_(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId())) {
        socket_->Bind();
        socket_->SetRecvCallback(MakeCallback(&Client::receive, this));
    }

    void send() {
        uint32_t to = other_(random_);
        if (to >= self_) {
            to++;
        }
        socket_->SendTo(Create<Packet>(payload), 0, InetSocketAddress(hosts_[to], port));
    }

  private:
    void receive(Ptr<Socket> s) {
        while (s->Recv()) {
            if (++ended == wanted) {
                Simulator::Stop();
            }
            send();
        }
    }

    uint32_t self_;
    const std::vector<Ipv4Address>& hosts_;
    std::mt19937_64 random_;
    std::uniform_int_distribution<uint32_t> other_;
    Ptr<Socket> socket_;
};

void answer(Ptr<Socket> s) {
    Address from;
    while (s->RecvFrom(from)) {
        s->SendTo(Create<Packet>(payload), 0, from);
    }
}

// connect gives each host a link to the router, and returns their addresses.
std::vector<Ipv4Address> connect(const NodeContainer& hosts) {
    NodeContainer router;
    router.Create(1);
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(router);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
    link.SetChannelAttribute("Delay", StringValue("150ns"));
    link.DisableFlowControl(); // no traffic control in front of the device: fewer events
    std::vector<Ipv4Address> out;
    Ipv4AddressHelper networks("10.0.0.0", "255.255.255.0");
    for (uint32_t i = 0; i < hosts.GetN(); i++) {
        out.push_back(networks.Assign(link.Install(hosts.Get(i), router.Get(0))).GetAddress(0));
        networks.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    return out;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s hosts outstanding pairs\n", argv[0]);
        return 2;
    }
    uint32_t n = std::atoi(argv[1]), outstanding = std::atoi(argv[2]);
    wanted = std::strtoull(argv[3], nullptr, 10);
    Time::SetResolution(Time::PS);
    Config::SetDefault("ns3::UdpSocket::RcvBufSize", UintegerValue(1 << 28));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("1000000p")); // nothing is lost
    NodeContainer nodes;
    nodes.Create(n);
    std::vector<Ipv4Address> hosts = connect(nodes);
    std::vector<Client*> clients;
    for (uint32_t i = 0; i < n; i++) {
        Ptr<Socket> server = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
        server->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        server->SetRecvCallback(MakeCallback(&answer));
        clients.push_back(new Client(nodes.Get(i), i, hosts));
        for (uint32_t k = 0; k < outstanding; k++) {
            Simulator::Schedule(NanoSeconds(10 * k + i), &Client::send, clients[i]);
        }
    }
    int64_t begin = cpu_ns();
    Simulator::Run();
    int64_t end = cpu_ns();
    report(ended, end - begin, Simulator::Now().GetSeconds());
    Simulator::Destroy();
}
