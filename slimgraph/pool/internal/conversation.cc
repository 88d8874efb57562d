#include "slimgraph/pool/internal/conversation.h"

#include <charconv>
#include <limits>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"
#include "slimgraph/base/split.h"
#include "slimgraph/launch/host_identity.h"

namespace slimgraph::internal {
namespace {

constexpr std::uint32_t kMaxRequestBytes = 4 << 20;
constexpr std::chrono::seconds kConnectLimit{3};
constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max() / 2;

Result<HandshakeKey> BoxOf(std::string_view pools_key, const Challenges& challenges) {
  return HandshakeKey::Derive(pools_key, "requests of a pool", challenges);
}

std::uint64_t DeadlineAfter(std::uint64_t limit_ns) {
  return limit_ns >= kForever ? kForever : NowNs() + limit_ns;
}

}  // namespace

Conversation::Conversation(UniqueFd fd, FrameReader reader, const HandshakeKey& box, bool is_client,
                           std::string name)
    : fd_(std::move(fd)),
      reader_(std::move(reader)),
      box_(box),
      next_sent_(is_client ? 0 : 1),
      next_received_(is_client ? 1 : 0),
      name_(std::move(name)) {
  reader_.SetMaxBytes(kMaxRequestBytes);
}

Result<Conversation> Conversation::Open(const PoolDescriptor& pool, NodeId node,
                                        std::uint64_t limit_ns) {
  const PoolNodeAddress& where = pool.nodes[node];
  const std::string name = fmt::format("node {} of pool '{}'", node, pool.name);
  const bool is_here = where.host.empty() || where.machine == HostIdentity();
  if (is_here && !IsRunning(where)) {
    return EnvironmentError("{} has ended: 'slimgraph pool start {}' starts it again", name,
                            pool.name);
  }
  SLIM_ASSIGN(const HandshakeKey key, HandshakeKey::Derive(pool.key, kPoolPurpose));
  UniqueFd fd;
  FrameReader reader(kMaxJoiningBytes);
  const std::uint64_t deadline_ns = NowNs() + limit_ns;
  // Under a flood of strangers, a node may close a connection without an answer.
  while (NowNs() < deadline_ns) {
    auto connected = ConnectTo(where.address, kConnectLimit);
    if (!connected && is_here) return EnvironmentError("{}: {}", name, connected.error().message);
    if (!connected) {
      return EnvironmentError("{}: {}; if it has ended, 'slimgraph pool start {}' starts it again",
                              name, connected.error().message, pool.name);
    }
    fd = std::move(*connected);
    reader = FrameReader(kMaxJoiningBytes);
    auto introduced = Introduce(fd.get(), reader, key, {node, "client"}, deadline_ns);
    if (!introduced) {
      return EnvironmentError("{} at {} does not accept the key of the descriptor: {}", name,
                              where.address, introduced.error().message);
    }
    if (!*introduced) continue;
    SLIM_ASSIGN(const HandshakeKey box, BoxOf(pool.key, (*introduced)->challenges));
    Conversation opened(std::move(fd), std::move(reader), box, /*is_client=*/true, name);
    opened.node_ = node;
    return opened;
  }
  return EnvironmentError("{}, process {}{}, does not answer", name, where.process,
                          where.host.empty() ? "" : " on host " + where.host);
}

Result<Conversation> Conversation::OpenToStarter(const std::string& addresses,
                                                 const std::string& secret) {
  SLIM_ASSIGN(const HandshakeKey key, HandshakeKey::Derive(secret, kJoinPurpose));
  std::string problem = "it has no address";
  for (const std::string_view address : Split(addresses, ',')) {
    auto fd = ConnectTo(address, kConnectLimit);
    if (!fd) {
      problem = fd.error().message;
      continue;
    }
    // On another host, something else may listen at an address such as 127.0.0.1.
    FrameReader reader(kMaxJoiningBytes);
    const auto introduced = Introduce(fd->get(), reader, key, {0, "launched"}, NowNs() + kAnswerNs);
    if (!introduced || !*introduced) {
      problem = introduced ? "it does not answer" : introduced.error().message;
      continue;
    }
    SLIM_ASSIGN(const HandshakeKey box, BoxOf(secret, (*introduced)->challenges));
    return Conversation(std::move(*fd), std::move(reader), box, /*is_client=*/true,
                        "the command that starts the pool");
  }
  return EnvironmentError("cannot reach the command that starts the pool, at {}: {}", addresses,
                          problem);
}

Result<Conversation> Conversation::Accept(Newcomers::Member member, const HandshakeKey& key,
                                          std::string_view pools_key) {
  SLIM_ASSIGN(const HandshakeKey box, BoxOf(pools_key, member.challenges));
  if (!SendFrame(member.fd.get(), WelcomeFrame(key, member.challenges, {SLIMGRAPH_VERSION}))) {
    return EnvironmentError("a client has left");
  }
  return Conversation(std::move(member.fd), std::move(member.reader), box, /*is_client=*/false,
                      "a client");
}

Status Conversation::Send(const Words& words) {
  Frame frame{.type = FrameType::kSealed, .body = box_.Seal(next_sent_, PackStrings(words))};
  next_sent_ += 2;
  if (frame.body.size() > kMaxRequestBytes) {
    return UsageError("{}: a request of {} bytes is too long", name_, frame.body.size());
  }
  if (SendFrame(fd_.get(), frame)) return {};
  return EnvironmentError("{} has closed the connection", name_);
}

Result<std::optional<Words>> Conversation::Receive(std::uint64_t deadline_ns) {
  SLIM_ASSIGN(const auto frame, AwaitFrame(fd_.get(), reader_, deadline_ns));
  if (!frame) return std::nullopt;
  std::optional<std::string> packed;
  if (frame->type == FrameType::kSealed) packed = box_.Open(next_received_, frame->body);
  if (!packed) return EnvironmentError("{} has sent a message that is not authentic", name_);
  next_received_ += 2;
  SLIM_ASSIGN(Words words, UnpackStrings(*packed));
  return words;
}

bool Conversation::HasEnded() { return AwaitSomething(std::chrono::nanoseconds(0)); }

bool Conversation::AwaitSomething(std::chrono::nanoseconds limit) {
  return AwaitReadable(fd_.get(), limit);
}

Result<Words> Conversation::Ask(const Words& request, std::uint64_t limit_ns) {
  SLIM_TRY(Send(request));
  return AwaitAnswer(limit_ns);
}

Result<Words> Conversation::AwaitAnswer(std::uint64_t limit_ns) {
  const std::uint64_t deadline_ns = DeadlineAfter(limit_ns);
  SLIM_ASSIGN(auto answer, Receive(deadline_ns));
  if (!answer && NowNs() >= deadline_ns) return EnvironmentError("{} does not answer", name_);
  if (!answer || answer->empty()) return EnvironmentError("{} has closed the connection", name_);
  if (answer->front() == kDone) {
    answer->erase(answer->begin());
    return *std::move(answer);
  }
  int kind = 0;
  if (answer->size() == 3) {
    std::from_chars((*answer)[1].data(), (*answer)[1].data() + (*answer)[1].size(), kind);
  }
  if (answer->front() != kFailed || kind < 1 || kind > 4) {
    return EnvironmentError("{} has sent an answer that is none", name_);
  }
  return tl::unexpected<Error>(
      {static_cast<ErrorKind>(kind), fmt::format("{}: {}", name_, answer->back())});
}

void Conversation::GiveUp() {
  EndSending(fd_.get());
  const std::uint64_t deadline_ns = NowNs() + kAnswerNs;
  while (true) {
    const auto answer = Receive(deadline_ns);
    if (!answer || !*answer) return;
  }
}

Words FailureAnswer(const Error& error) {
  return {std::string(kFailed), fmt::format("{}", error.exit_code()), error.message};
}

}  // namespace slimgraph::internal
