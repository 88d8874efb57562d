#include "slimgraph/launch/joining.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/poller.h"
#include "slimgraph/base/sockets.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kNewcomerNs = 3'000'000'000;  // from accepting a connection to its proof
constexpr std::uint64_t kUntilDescriptorsAreFreeNs = 10'000'000;
constexpr int kAcceptedAtOnce = 64;  // then the connections that are open get their turn

template <typename Part>
void Append(std::string& text, const Part& part) {
  text.append(reinterpret_cast<const char*>(part.data()), part.size());
}

// Moves the first bytes of `text` into `part`.
template <typename Part>
bool TakeFront(std::string_view& text, Part& part) {
  if (text.size() < part.size()) return false;
  std::memcpy(part.data(), text.data(), part.size());
  text.remove_prefix(part.size());
  return true;
}

Bytes BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string ClaimsOf(const Hello& hello) {
  return fmt::format("node {} on {}", hello.node, hello.host_identity);
}

}  // namespace

void SetUpControlSocket(int fd) {
  SendWithoutDelay(fd);
  LimitSending(fd, std::chrono::seconds(2));
}

Frame ChallengeFrame(const Challenge& hub) {
  Frame frame{.type = FrameType::kChallenge, .body = {}};
  Append(frame.body, hub);
  return frame;
}

std::optional<Challenge> ReadChallenge(const Frame& frame) {
  Challenge challenge;
  std::string_view body = frame.body;
  if (frame.type != FrameType::kChallenge || !TakeFront(body, challenge)) return std::nullopt;
  return challenge;
}

Frame HelloFrame(const HandshakeKey& key, const Challenges& challenges, const Hello& hello) {
  Frame frame{
      .type = FrameType::kHello, .node = static_cast<std::uint16_t>(hello.node), .body = {}};
  Append(frame.body, challenges.opener);
  Append(frame.body, key.Prove(Role::kOpener, challenges, BytesOf(ClaimsOf(hello))));
  frame.body += hello.host_identity;
  return frame;
}

std::optional<Hello> ReadHello(const HandshakeKey& key, Challenges& challenges,
                               const Frame& frame) {
  Proof proof;
  std::string_view body = frame.body;
  if (frame.type != FrameType::kHello || !TakeFront(body, challenges.opener) ||
      !TakeFront(body, proof)) {
    return std::nullopt;
  }
  Hello hello{.node = frame.node, .host_identity = std::string(body)};
  if (!key.Verify(proof, Role::kOpener, challenges, BytesOf(ClaimsOf(hello)))) return std::nullopt;
  return hello;
}

Frame WelcomeFrame(const HandshakeKey& key, const Challenges& challenges,
                   const std::vector<std::string>& words) {
  const std::string packed = PackStrings(words);
  Frame frame{.type = FrameType::kWelcome, .body = {}};
  Append(frame.body, key.Prove(Role::kAcceptor, challenges, BytesOf(packed)));
  frame.body += packed;
  return frame;
}

Result<std::vector<std::string>> ReadWelcome(const HandshakeKey& key, const Challenges& challenges,
                                             const Frame& frame) {
  Proof proof;
  std::string_view body = frame.body;
  if (frame.type != FrameType::kWelcome || !TakeFront(body, proof) ||
      !key.Verify(proof, Role::kAcceptor, challenges, BytesOf(body))) {
    return EnvironmentError("it does not know the job's secret");
  }
  return UnpackStrings(body);
}

Result<std::optional<Frame>> AwaitFrame(int fd, FrameReader& reader, std::uint64_t deadline_ns) {
  while (true) {
    SLIM_ASSIGN(auto frame, reader.Next());
    const std::uint64_t now = NowNs();
    if (frame || now >= deadline_ns) return frame;
    const bool readable = AwaitReadable(fd, std::chrono::nanoseconds(deadline_ns - now));
    if (readable && !reader.Fill(fd)) return reader.Next();
  }
}

Result<std::optional<Introduced>> Introduce(int fd, FrameReader& reader, const HandshakeKey& key,
                                            const Hello& hello, std::uint64_t deadline_ns) {
  SetUpControlSocket(fd);
  SLIM_ASSIGN(const auto first, AwaitFrame(fd, reader, deadline_ns));
  if (!first) return std::nullopt;
  const auto challenge = ReadChallenge(*first);
  if (!challenge) return EnvironmentError("it is not the hub of a job");
  SLIM_ASSIGN(const Challenge own, NewChallenge());
  Introduced introduced{.challenges = {.acceptor = *challenge, .opener = own}, .words = {}};
  SendFrame(fd, HelloFrame(key, introduced.challenges, hello));
  SLIM_ASSIGN(const auto answer, AwaitFrame(fd, reader, deadline_ns));
  if (!answer) return std::nullopt;
  if (answer->type == FrameType::kRefused) return EnvironmentError("{}", answer->body);
  SLIM_ASSIGN(introduced.words, ReadWelcome(key, introduced.challenges, *answer));
  return introduced;
}

Newcomers::Newcomers(int listener, std::vector<HandshakeKey> keys, std::size_t most)
    : listener_(listener), keys_(std::move(keys)), most_(most) {}

Result<std::optional<Newcomers::Member>> Newcomers::Next(std::uint64_t deadline_ns) {
  while (members_.empty()) {
    if (NowNs() >= deadline_ns) return std::nullopt;
    Await(deadline_ns);
    for (Connection& connection : connections_) ReadFrom(connection);
    DropLateAndClosed();
    SLIM_TRY(AcceptAll());
  }
  Member member = std::move(members_.front());
  members_.pop_front();
  return member;
}

void Newcomers::Await(std::uint64_t deadline_ns) {
  std::vector<pollfd> waits;
  if (!out_of_descriptors_) waits.push_back({listener_, POLLIN, 0});
  for (const Connection& connection : connections_) {
    waits.push_back({connection.fd.get(), POLLIN, 0});
  }
  const std::uint64_t now = NowNs();
  std::uint64_t until_ns = deadline_ns;
  if (!connections_.empty()) until_ns = std::min(until_ns, connections_.front().deadline_ns);
  if (out_of_descriptors_) until_ns = std::min(until_ns, now + kUntilDescriptorsAreFreeNs);
  Poll(waits, std::chrono::nanoseconds(until_ns > now ? until_ns - now : 0));
}

void Newcomers::ReadFrom(Connection& connection) {
  const bool open = connection.reader.Fill(connection.fd.get());
  const auto frame = connection.reader.Next();
  if (!frame) return connection.fd.Reset();
  if (!*frame) {
    if (!open) connection.fd.Reset();
    return;
  }
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    auto hello = ReadHello(keys_[key], connection.challenges, **frame);
    if (!hello) continue;
    members_.push_back({.hello = std::move(*hello),
                        .challenges = connection.challenges,
                        .key = key,
                        .fd = std::move(connection.fd),
                        .reader = std::move(connection.reader)});
    return;
  }
  Refuse(connection.fd, "it does not know the job's secret");
  connection.fd.Reset();
}

void Newcomers::DropLateAndClosed() {
  const std::uint64_t now = NowNs();
  std::erase_if(connections_, [&](const Connection& connection) {
    return !connection.fd || now >= connection.deadline_ns;
  });
}

Status Newcomers::AcceptAll() {
  out_of_descriptors_ = false;
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    Connection connection;
    connection.fd = Accept(listener_);
    if (!connection.fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      out_of_descriptors_ = errno != EAGAIN && errno != EWOULDBLOCK;
      if (out_of_descriptors_ && !connections_.empty()) connections_.pop_front();
      return {};
    }
    SLIM_ASSIGN(connection.challenges.acceptor, NewChallenge());
    connection.deadline_ns = NowNs() + kNewcomerNs;
    SetUpControlSocket(connection.fd.get());
    if (!SendFrame(connection.fd.get(), ChallengeFrame(connection.challenges.acceptor))) continue;
    if (connections_.size() == most_) connections_.pop_front();
    connections_.push_back(std::move(connection));
  }
  return {};
}

void Newcomers::Refuse(const UniqueFd& fd, std::string_view reason) {
  SendFrame(fd.get(), {.type = FrameType::kRefused, .body = std::string(reason)});
}

}  // namespace slimgraph
