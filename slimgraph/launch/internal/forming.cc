// How a job forms: every node connects to the hub, shows the job's secret, and is told who the
// others are.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <map>

#include "slimgraph/base/clock.h"
#include "slimgraph/launch/internal/control_plane.h"
#include "slimgraph/launch/sockets.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kFormingNs = 30'000'000'000;
constexpr int kConnectMs = 3000;

// Waits for one frame of a connection; nothing when it ends or `deadline_ns` passes.
std::optional<Frame> AwaitFrame(int fd, FrameReader& reader, std::uint64_t deadline_ns) {
  while (true) {
    if (auto frame = reader.Next()) return frame;
    const std::uint64_t now = NowNs();
    if (now >= deadline_ns) return std::nullopt;
    pollfd wait{fd, POLLIN, 0};
    ::poll(&wait, 1, static_cast<int>((deadline_ns - now) / 1'000'000 + 1));
    if (wait.revents != 0 && !reader.Fill(fd)) return reader.Next();
  }
}

}  // namespace

Status ControlPlane::GatherPeers(JobPlace& place, std::string_view identity) {
  const std::uint64_t deadline_ns = NowNs() + kFormingNs;
  std::map<std::string, std::uint32_t, std::less<>> host_index{{std::string(identity), 0}};
  roster_.hosts.assign(nodes_, 0);
  roster_.addresses.assign(nodes_, "127.0.0.1");
  while (peers_.size() + 1 < nodes_) {
    pollfd wait{place.listener.get(), POLLIN, 0};
    const std::uint64_t now = NowNs();
    if (now >= deadline_ns ||
        ::poll(&wait, 1, static_cast<int>((deadline_ns - now) / 1'000'000 + 1)) == 0) {
      return EnvironmentError("only {} of {} nodes have come within {} s", peers_.size() + 1,
                              nodes_, kFormingNs / 1'000'000'000);
    }
    UniqueFd fd(::accept4(place.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) continue;
    SetUpControlSocket(fd.get());
    Peer peer;
    const auto hello =
        AwaitFrame(fd.get(), peer.reader, std::min(deadline_ns, NowNs() + kFormingNs / 10));
    if (!hello || hello->type != FrameType::kHello) continue;
    const auto words = UnpackStrings(hello->body);
    if (words.size() != 2 || words[0] != place.secret || hello->node >= nodes_) continue;
    const auto host = static_cast<std::uint32_t>(host_index.size());
    roster_.hosts[hello->node] = host_index.emplace(words[1], host).first->second;
    roster_.addresses[hello->node] = RemoteAddress(fd.get());
    if (roster_.hosts[hello->node] != 0) roster_.addresses[0] = LocalAddress(fd.get());
    peer.node = hello->node;
    peer.fd = std::move(fd);
    peers_.push_back(std::move(peer));
  }
  std::vector<std::string> words = roster_.addresses;
  for (const std::uint32_t host : roster_.hosts) words.push_back(fmt::format("{}", host));
  const Frame welcome{FrameType::kWelcome, 0, 0, {}, PackStrings(words)};
  for (Peer& peer : peers_) SendTo(peer, welcome);
  return {};
}

Status ControlPlane::ArriveAtHub(const JobPlace& place, std::string_view identity) {
  Peer hub;
  SLIM_ASSIGN(hub.fd, ConnectToAny(place.hub_address, kConnectMs));
  SetUpControlSocket(hub.fd.get());
  SendFrame(hub.fd.get(), {FrameType::kHello,
                           0,
                           static_cast<std::uint16_t>(self_),
                           {},
                           PackStrings({place.secret, std::string(identity)})});
  const auto welcome = AwaitFrame(hub.fd.get(), hub.reader, NowNs() + kFormingNs);
  if (!welcome || welcome->type != FrameType::kWelcome) {
    return EnvironmentError("node 0 at {} did not let this node in", place.hub_address);
  }
  const auto words = UnpackStrings(welcome->body);
  for (NodeId node = 0; node < nodes_; ++node) {
    roster_.addresses.push_back(words[node]);
    roster_.hosts.push_back(static_cast<std::uint32_t>(std::stoul(words[nodes_ + node])));
  }
  peers_.push_back(std::move(hub));
  return {};
}

}  // namespace slimgraph
