// How a job forms: every node connects to the hub, both prove that they know the job's secret, and
// the hub tells each node the hosts and addresses of all nodes.
#include <algorithm>
#include <charconv>
#include <map>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/base/waits.h"
#include "slimgraph/launch/internal/control_plane.h"
#include "slimgraph/launch/joining.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kFormingNs = 30'000'000'000;
constexpr std::chrono::seconds kConnectLimit{3};
constexpr std::chrono::milliseconds kBeforeNextTry{20};
constexpr std::size_t kMaxStrangers = 256;  // in addition to one per node of the job
constexpr std::string_view kPurpose = "join";
constexpr std::uint64_t kCheckNs = 100'000'000;  // how often to check that nodes still come

// Tries "host:port[,host:port…]" in order.
Result<UniqueFd> ConnectToHub(std::string_view addresses) {
  for (const std::string_view one : Split(addresses)) {
    auto fd = ConnectTo(one, kConnectLimit);
    if (fd) return fd;
  }
  return EnvironmentError(
      "cannot reach node 0 at {}; name an address that all hosts reach in SLIMGRAPH_HOST",
      addresses);
}

}  // namespace

Status ControlPlane::GatherPeers(JoinConfig& config, std::string_view identity) {
  const std::uint64_t deadline_ns = NowNs() + kFormingNs;
  SLIM_ASSIGN(const auto key, HandshakeKey::Derive(config.secret, kPurpose));
  Newcomers newcomers(config.listener.get(), {key}, kMaxStrangers + nodes_);
  std::map<NodeId, Newcomers::Member> members;
  Waiting waiting;
  while (members.size() + 1 < nodes_) {
    waiting.For(0, [&] {
      std::vector<NodeId> missing;
      for (NodeId node = 1; node < nodes_; ++node) {
        if (!members.contains(node)) missing.push_back(node);
      }
      return NodesInWords(missing) + " to join";
    });
    const std::uint64_t check_ns = config.still_coming ? NowNs() + kCheckNs : deadline_ns;
    SLIM_ASSIGN(auto member, newcomers.Next(std::min(check_ns, deadline_ns)));
    if (!member && NowNs() < deadline_ns) {
      SLIM_TRY(config.still_coming());
      continue;
    }
    if (!member) {
      return EnvironmentError("only {} of {} nodes have come within {} s", members.size() + 1,
                              nodes_, kFormingNs / 1'000'000'000);
    }
    const NodeId node = member->hello.node;
    if (node == 0 || node >= nodes_ || members.contains(node)) {
      Newcomers::Refuse(member->fd, fmt::format("node {} is not expected", node));
    } else {
      members.emplace(node, std::move(*member));
    }
  }
  std::map<std::string, std::uint32_t, std::less<>> host_index{{std::string(identity), 0}};
  roster_.hosts.assign(nodes_, 0);
  roster_.addresses.assign(nodes_, "127.0.0.1");
  for (const auto& [node, member] : members) {
    const auto host = static_cast<std::uint32_t>(host_index.size());
    roster_.hosts[node] = host_index.emplace(member.hello.host_identity, host).first->second;
    roster_.addresses[node] = PeerAddress(member.fd.get()).host();
    if (roster_.hosts[node] != 0) roster_.addresses[0] = LocalAddress(member.fd.get()).host();
  }
  // Nodes on this host have connected over loopback, which leads nowhere from other hosts.
  for (NodeId node = 1; node < nodes_; ++node) {
    if (roster_.hosts[node] == 0) roster_.addresses[node] = roster_.addresses[0];
  }
  std::vector<std::string> words = roster_.addresses;
  for (const std::uint32_t host : roster_.hosts) words.push_back(fmt::format("{}", host));
  for (auto& [node, member] : members) {
    Peer& peer = peers_.emplace_back(node, std::move(member.fd), std::move(member.reader));
    peer.reader.SetMaxBytes(kMaxFrameBytes);
    SendTo(peer, WelcomeFrame(key, member.challenges, words));
    if (config.encrypts) {
      SLIM_ASSIGN(peer.sealing, SealedFrames::Make(config.secret, member.challenges, true));
    }
  }
  return {};
}

// Under a flood of strangers, a hub may close a node's connection without an answer. The node then
// retries.
Status ControlPlane::JoinAtHub(const JoinConfig& config, std::string_view identity) {
  const std::uint64_t deadline_ns = NowNs() + kFormingNs;
  SLIM_ASSIGN(const auto key, HandshakeKey::Derive(config.secret, kPurpose));
  SLIM_ASSIGN(UniqueFd fd, ConnectToHub(config.hub_address));
  std::string reason = "it closed the connection";
  const Waiting waiting(
      self_, [&] { return fmt::format("node 0 at {} to let it in", config.hub_address); });
  while (fd && NowNs() < deadline_ns) {
    const auto joined = JoinHub(std::move(fd), key, config, std::string(identity), deadline_ns);
    if (joined && *joined) return {};
    if (!joined) {
      reason = joined.error().message;
      break;
    }
    SleepFor(kBeforeNextTry);
    fd = ConnectToHub(config.hub_address).value_or(UniqueFd());
  }
  return EnvironmentError("node 0 at {} did not let this node in: {}", config.hub_address, reason);
}

// Returns whether this node has joined; false if the hub closed the connection without an answer.
Result<bool> ControlPlane::JoinHub(UniqueFd fd, const HandshakeKey& key, const JoinConfig& config,
                                   const std::string& identity, std::uint64_t deadline_ns) {
  FrameReader reader(kMaxJoiningBytes);
  SLIM_ASSIGN(const auto introduced,
              Introduce(fd.get(), reader, key, {self_, identity}, deadline_ns));
  if (!introduced) return false;
  const std::vector<std::string>& words = introduced->words;
  if (words.size() != 2 * std::size_t{nodes_}) {
    return EnvironmentError("its job does not have {} nodes", nodes_);
  }
  for (NodeId node = 0; node < nodes_; ++node) {
    const std::string& host = words[nodes_ + node];
    roster_.addresses.push_back(words[node]);
    std::from_chars(host.data(), host.data() + host.size(), roster_.hosts.emplace_back());
  }
  Peer& hub = peers_.emplace_back(NodeId{0}, std::move(fd), std::move(reader));
  hub.reader.SetMaxBytes(kMaxFrameBytes);
  if (config.encrypts) {
    SLIM_ASSIGN(hub.sealing, SealedFrames::Make(config.secret, introduced->challenges, false));
  }
  return true;
}

}  // namespace slimgraph
