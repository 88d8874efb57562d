#include "slimgraph/fabric/internal/make_transport.h"

#include <sys/mman.h>

#include <cstring>

#include "slimgraph/base/shared_memory.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/fabric/internal/open_channels.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/tcp/channel.h"
#include "slimgraph/fabric/internal/tcp/service.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

namespace {

class TcpTransport : public Transport {
 public:
  TcpTransport(TcpChannel::Network network, std::vector<Poller> pollers, Poller service_poller,
               UniqueFd listener)
      : network_(std::move(network)),
        pollers_(std::move(pollers)),
        waiting_(network_.endpoints),
        channels_(network_.job, network_.endpoints),
        service_(std::make_unique<TcpService>(
            std::move(service_poller), std::move(listener),
            TcpService::AdmissionRules{.key = network_.key,
                                       .challenge = network_.contacts[network_.self].challenge,
                                       .nodes = network_.job.nodes(),
                                       .endpoints = network_.endpoints,
                                       .encrypts = network_.encrypts},
            [this](auto connection) { PassToChannel(std::move(connection)); })) {}

  std::string_view name() const override { return "tcp"; }

  Result<RegionMemory> Allocate(std::uint64_t bytes) override { return AllocatePages(bytes); }
  Result<RegionMemory> Adopt(const SharedMemory& memory, bool writable) override {
    return RegionMemory{memory.base(), memory.bytes(), writable, /*owned=*/false};
  }
  void Free(const RegionMemory& memory) override { FreePages(memory); }
  void Clear(const RegionMemory& memory) override { DiscardPages(memory, MADV_DONTNEED); }

  Status Publish(RegionId id, const RegionMemory& mine,
                 std::span<const std::uint64_t> /*bytes_of_node*/) override {
    service_->Publish(id, mine);
    return {};
  }

  Status Revoke(RegionId id) override {
    service_->Revoke(id);
    return {};
  }

  bool survives_deaths() const override { return true; }
  Status Fence(NodeId node) override {
    service_->Fence(node);
    return {};
  }

  std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& /*faults*/) override {
    auto channel = std::make_unique<TcpChannel>(network_, endpoint, pollers_[endpoint],
                                                [this, endpoint] { channels_.Close(endpoint); });
    channels_.At(endpoint, [&](TcpChannel*& open) {
      open = channel.get();
      for (auto& connection : waiting_[endpoint]) {
        open->Adopt(std::move(connection.fd), connection.from, connection.keys);
      }
      waiting_[endpoint].clear();
    });
    return channel;
  }

  Status Close() override {
    const auto everyone = network_.job.Exchange("");
    Stop();
    SLIM_TRY(everyone);
    return {};
  }

  void Stop() override { service_.reset(); }

 private:
  // Connections for an endpoint that is not open yet wait here; their messages stay in the socket.
  void PassToChannel(TcpService::MessageConnection connection) {
    channels_.At(connection.endpoint, [&](TcpChannel* open) {
      if (open != nullptr) {
        open->Adopt(std::move(connection.fd), connection.from, connection.keys);
      } else {
        waiting_[connection.endpoint].push_back(std::move(connection));
      }
    });
  }

  const TcpChannel::Network network_;
  std::vector<Poller> pollers_;                                      // by endpoint
  std::vector<std::vector<TcpService::MessageConnection>> waiting_;  // by endpoint
  OpenChannels<TcpChannel> channels_;
  std::unique_ptr<TcpService> service_;
};

std::string Encode(std::uint16_t port, const Challenge& challenge) {
  std::string text(sizeof port + challenge.size(), '\0');
  std::memcpy(text.data(), &port, sizeof port);
  std::memcpy(text.data() + sizeof port, challenge.data(), challenge.size());
  return text;
}

Result<TcpContact> Decode(const std::string& host, std::string_view text) {
  TcpContact contact{.host = host};
  if (text.size() != sizeof contact.port + contact.challenge.size()) {
    return EnvironmentError("host {} runs another slimgraph: use the same version on all", host);
  }
  std::memcpy(&contact.port, text.data(), sizeof contact.port);
  std::memcpy(contact.challenge.data(), text.data() + sizeof contact.port,
              contact.challenge.size());
  return contact;
}

}  // namespace

Result<std::unique_ptr<Transport>> MakeTcpTransport(Job& job, const FabricOptions& options) {
  const std::string& host = job.address(job.self());
  SLIM_ASSIGN(UniqueFd listener, ListenTcp(host));
  const std::uint16_t port = LocalAddress(listener.get()).port();
  SLIM_ASSIGN(const HandshakeKey key, job.KeyFor("tcp"));
  SLIM_ASSIGN(const Challenge challenge, NewChallenge());
  SLIM_ASSIGN(const std::vector<std::string> words, job.Exchange(Encode(port, challenge)));
  TcpChannel::Network network{.job = job,
                              .self = job.self(),
                              .endpoints = options.endpoints,
                              .key = key,
                              .encrypts = job.encrypts(),
                              .contacts = {}};
  for (NodeId node = 0; node < job.nodes(); ++node) {
    SLIM_ASSIGN(TcpContact contact, Decode(job.address(node), words[node]));
    network.contacts.push_back(std::move(contact));
  }
  std::vector<Poller> pollers;
  for (std::uint32_t endpoint = 0; endpoint < options.endpoints; ++endpoint) {
    SLIM_ASSIGN(Poller poller, Poller::Make());
    pollers.push_back(std::move(poller));
  }
  SLIM_ASSIGN(Poller service_poller, Poller::Make());
  return std::make_unique<TcpTransport>(std::move(network), std::move(pollers),
                                        std::move(service_poller), std::move(listener));
}

}  // namespace slimgraph
