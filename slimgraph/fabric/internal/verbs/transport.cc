#include "slimgraph/fabric/internal/make_transport.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "slimgraph/fabric/internal/open_channels.h"
#include "slimgraph/fabric/internal/pages.h"
#include "slimgraph/fabric/internal/verbs/channel.h"
#include "slimgraph/fabric/internal/verbs/service.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

namespace {

// A port through which other nodes access this node's regions. Its completion queue stays empty.
struct ServedPort {
  std::unique_ptr<VerbsDevice> device;
  VerbsCompletions completions;
};

struct OwnRegion {
  std::byte* base;
  std::vector<VerbsMemory> registered;  // by port
};

// What a node sends to the others when the transport is set up, and for each region.
struct SetUpRecord {
  VerbsToken token{};
  std::uint16_t udp_port = 0;
  std::uint16_t ports = 0;
};
struct RegionRecord {
  std::uint64_t address = 0;
  std::array<std::uint32_t, 4> keys{};
};
constexpr std::size_t kMaxPorts = std::tuple_size_v<decltype(RegionRecord::keys)>;

std::string_view TextOf(const auto& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

template <typename Record>
Result<Record> RecordOf(std::string_view text, const std::string& host) {
  Record record;
  if (text.size() != sizeof record) {
    return EnvironmentError("host {} runs another slimgraph: use the same version on all", host);
  }
  std::memcpy(&record, text.data(), sizeof record);
  return record;
}

class VerbsTransport : public Transport {
 public:
  VerbsTransport(Job& job, const FabricOptions& options)
      : network_{.job = job,
                 .self = job.self(),
                 .endpoints = options.endpoints,
                 .qps_per_peer = options.qps_per_peer,
                 .contacts = {}},
        channels_(job, options.endpoints) {}

  Status Open();

  std::string_view name() const override { return "verbs"; }
  bool own_atomics_by_processor() const override { return atomics_by_processor_; }
  bool pages_on_demand() const override { return false; }

  Result<RegionMemory> Allocate(std::uint64_t bytes) override { return AllocatePages(bytes); }
  void Free(const RegionMemory& memory) override {
    std::erase_if(regions_, [&](const auto& one) { return one.second.base == memory.base; });
    FreePages(memory);
  }

  Status Publish(RegionId id, const RegionMemory& mine,
                 std::span<const std::uint64_t> bytes_of_node) override;

  // Deregistering waits until the device has finished all accesses to the memory.
  Status Revoke(RegionId id) override {
    service_->NoteRevoked(id);
    const auto found = regions_.find(id);
    if (found == regions_.end()) return {};
    for (VerbsMemory& memory : found->second.registered) {
      if (const int failed = ::ibv_dereg_mr(memory.get()); failed != 0) {
        return EnvironmentError("cannot take region {} back: {}", id, std::strerror(failed));
      }
      [[maybe_unused]] const ibv_mr* const gone = memory.release();
    }
    regions_.erase(found);
    return {};
  }

  std::unique_ptr<Channel> OpenChannel(std::uint32_t endpoint, Faults& faults) override {
    auto channel = std::make_unique<VerbsChannel>(network_, endpoint, resources_[endpoint], faults,
                                                  [this, endpoint] { channels_.Close(endpoint); });
    channels_.At(endpoint, [&](VerbsChannel*& open) { open = channel.get(); });
    return channel;
  }

  Status Close() override {
    const auto everyone = network_.job.Exchange("");
    Stop();
    SLIM_TRY(everyone);
    return {};
  }

  // Destroying the service destroys the queue pairs through which other nodes access regions.
  void Stop() override {
    background_poller_.reset();
    service_.reset();
  }

 private:
  Result<ServedPort> Serve(const VerbsPort& port) const;
  VerbsService::PairParameters ParametersFor(const VerbsHello& hello) const;
  Status ExchangeMailAddresses();

  VerbsChannel::Network network_;
  bool atomics_by_processor_ = false;
  std::vector<ServedPort> served_;                          // by port
  std::vector<VerbsChannel::EndpointResources> resources_;  // by endpoint
  std::vector<VerbsMailAddress> mail_;                      // by node and its endpoint
  std::unique_ptr<BackgroundPoller<VerbsMailPort>> background_poller_;
  std::map<RegionId, OwnRegion> regions_;
  std::unique_ptr<VerbsService> service_;
  OpenChannels<VerbsChannel> channels_;
};

Status VerbsTransport::Open() {
  Job& job = network_.job;
  SLIM_ASSIGN(std::vector<VerbsPort> ports, FindVerbsPorts());
  const std::string& host = job.address(job.self());
  SLIM_ASSIGN(DatagramSocket socket, DatagramSocket::Open(host));
  SLIM_ASSIGN(const VerbsToken token, NewChallenge());
  const SetUpRecord mine{.token = token,
                         .udp_port = socket.port(),
                         .ports = static_cast<std::uint16_t>(std::min(ports.size(), kMaxPorts))};
  SLIM_ASSIGN(const std::vector<std::string> words, job.Exchange(TextOf(mine)));
  std::size_t least = mine.ports;
  for (NodeId node = 0; node < job.nodes(); ++node) {
    SLIM_ASSIGN(const auto record, RecordOf<SetUpRecord>(words[node], job.address(node)));
    SLIM_ASSIGN(const auto address, Resolve(job.address(node), record.udp_port));
    network_.contacts.push_back({address, record.token});
    least = std::min<std::size_t>(least, record.ports);
  }
  ports.resize(least);
  for (const VerbsPort& port : ports) {
    SLIM_ASSIGN(ServedPort served, Serve(port));
    served_.push_back(std::move(served));
  }
  atomics_by_processor_ = served_.front().device->limits().atomic_cap == IBV_ATOMIC_GLOB;
  for (std::uint32_t endpoint = 0; endpoint < network_.endpoints; ++endpoint) {
    const std::size_t port = endpoint % ports.size();
    SLIM_ASSIGN(auto resources, VerbsChannel::MakeResources(job, ports[port], port));
    resources_.push_back(std::move(resources));
  }
  SLIM_TRY(ExchangeMailAddresses());
  SLIM_ASSIGN(Poller poller, Poller::Make());
  SLIM_TRY(poller.Add(socket.fd(), this, EPOLLIN));
  service_ = std::make_unique<VerbsService>(
      std::move(socket), std::move(poller), token,
      [this](const VerbsHello& hello) { return ParametersFor(hello); });
  return {};
}

Result<ServedPort> VerbsTransport::Serve(const VerbsPort& port) const {
  ServedPort served;
  SLIM_ASSIGN(served.device, VerbsDevice::Open(port));
  served.completions.reset(::ibv_create_cq(served.device->context(), 1, nullptr, nullptr, 0));
  if (!served.completions) {
    return EnvironmentError("cannot make a completion queue on {}: {}", port.device,
                            std::strerror(errno));
  }
  return served;
}

VerbsService::PairParameters VerbsTransport::ParametersFor(const VerbsHello& hello) const {
  const ServedPort& port = served_[hello.endpoint % served_.size()];
  return {port.device.get(), {.completions = port.completions.get(), .depth = 1}};
}

// Collects the datagram addresses of all endpoints of all nodes. All nodes then use the smallest
// datagram size that any endpoint accepts.
Status VerbsTransport::ExchangeMailAddresses() {
  std::vector<VerbsMailAddress> mine;
  for (const VerbsChannel::EndpointResources& resources : resources_)
    mine.push_back(resources.mail->port().address());
  const Bytes bytes = std::as_bytes(std::span(mine));
  Job& job = network_.job;
  SLIM_ASSIGN(const std::vector<std::string> words,
              job.Exchange({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  std::uint16_t least = VerbsDatagrams::kMaxBytes;
  for (NodeId node = 0; node < job.nodes(); ++node) {
    if (words[node].size() != bytes.size()) {
      return EnvironmentError("host {} runs another slimgraph: use the same version on all",
                              job.address(node));
    }
    std::vector<VerbsMailAddress> theirs(mine.size());
    std::memcpy(theirs.data(), words[node].data(), bytes.size());
    mail_.insert(mail_.end(), theirs.begin(), theirs.end());
    for (const VerbsMailAddress& address : theirs) least = std::min(least, address.datagram_bytes);
  }
  for (VerbsMailAddress& address : mail_) address.datagram_bytes = least;
  std::vector<VerbsMailbox*> mailboxes;
  for (std::uint32_t endpoint = 0; endpoint < resources_.size(); ++endpoint) {
    mailboxes.push_back(resources_[endpoint].mail.get());
    mailboxes.back()->port().Start(network_.endpoints, mail_);
    mailboxes.back()->Start(job, endpoint, network_.endpoints);
  }
  background_poller_ = std::make_unique<BackgroundPoller<VerbsMailPort>>(std::move(mailboxes));
  return {};
}

Status VerbsTransport::Publish(RegionId id, const RegionMemory& mine,
                               std::span<const std::uint64_t> bytes_of_node) {
  OwnRegion own{.base = mine.base, .registered = {}};
  RegionRecord record{.address = reinterpret_cast<std::uintptr_t>(mine.base), .keys = {}};
  if (mine.bytes > 0) {
    for (std::size_t i = 0; i < served_.size(); ++i) {
      SLIM_ASSIGN(auto memory, served_[i].device->RegisterRegion({mine.base, mine.bytes}));
      record.keys[i] = memory->rkey;
      own.registered.push_back(std::move(memory));
    }
  }
  regions_.insert_or_assign(id, std::move(own));
  SLIM_ASSIGN(const std::vector<std::string> words, network_.job.Exchange(TextOf(record)));
  std::vector<VerbsRegion> of_nodes;
  for (NodeId node = 0; node < words.size(); ++node) {
    SLIM_ASSIGN(const auto theirs, RecordOf<RegionRecord>(words[node], network_.job.address(node)));
    of_nodes.push_back({.address = theirs.address,
                        .bytes = bytes_of_node[node],
                        .keys = {theirs.keys.begin(), theirs.keys.end()}});
  }
  network_.regions.Add(id, std::move(of_nodes));
  return {};
}

}  // namespace

Result<std::unique_ptr<Transport>> MakeVerbsTransport(Job& job, const FabricOptions& options) {
  auto transport = std::make_unique<VerbsTransport>(job, options);
  SLIM_TRY(transport->Open());
  return transport;
}

}  // namespace slimgraph
