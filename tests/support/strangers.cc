#include "tests/support/strangers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "slimgraph/launch/joining.h"
#include "tests/support/unwrap.h"

namespace slimgraph {
namespace {

constexpr std::size_t kKept = 300;

// The bytes of a frame on the wire.
std::string EncodedFrame(const Frame& frame) {
  std::array<int, 2> ends{};
  ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data());
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  SendFrame(from.get(), frame);
  std::string bytes(4096, '\0');
  bytes.resize(static_cast<std::size_t>(::recv(to.get(), bytes.data(), bytes.size(), 0)));
  return bytes;
}

std::string WithLength(std::string frame, std::uint32_t bytes) {
  std::memcpy(frame.data(), &bytes, sizeof bytes);
  return frame;
}

std::set<std::string> SocketsOf(pid_t process) {
  std::set<std::string> sockets;
  std::error_code gone;
  const std::filesystem::path folder = "/proc/" + std::to_string(process) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string name = std::filesystem::read_symlink(entry.path(), gone).string();
    if (name.starts_with("socket:[")) sockets.insert(name.substr(8, name.size() - 9));
  }
  return sockets;
}

pid_t ParentOf(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string name;
  while (status >> name && name != "PPid:") {
  }
  pid_t parent = 0;
  status >> parent;
  return parent;
}

}  // namespace

UniqueFd ConnectStranger(std::uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return {};
  }
  return fd;
}

bool AwaitHangUp(int fd, std::chrono::milliseconds limit) {
  std::array<char, 256> ignored{};
  pollfd wait{fd, POLLIN, 0};
  while (::poll(&wait, 1, static_cast<int>(limit.count())) == 1) {
    if (::recv(fd, ignored.data(), ignored.size(), 0) <= 0) return true;
  }
  return false;
}

std::vector<std::string> StrangerMessages(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string garbage(1 + random() % 200'000, '\0');
  std::generate(garbage.begin(), garbage.end(), [&] { return static_cast<char>(random()); });
  const auto key = Unwrap(HandshakeKey::Derive("a guess", "join"));
  const Challenges challenges{Unwrap(NewChallenge()), Unwrap(NewChallenge())};
  const std::string wrong_proof = EncodedFrame(HelloFrame(key, challenges, {1, "a host"}));
  const std::string short_hello = EncodedFrame({.type = FrameType::kHello, .node = 1, .body = "x"});
  return {"",
          garbage,
          WithLength(wrong_proof, 0xffff'ffff),
          WithLength(wrong_proof, 0xffff'ffff - 15),
          WithLength(wrong_proof, kMaxJoiningBytes),
          short_hello,
          EncodedFrame({.type = FrameType::kChallenge, .node = 1, .body = "x"}),
          EncodedFrame({.type = FrameType::kLost, .exit_code = 0, .node = 0, .body = "gone"}),
          wrong_proof};
}

std::vector<ListeningSocket> ListeningSockets(pid_t process) {
  // The parent's sockets are read first: it may meanwhile close one that the process has inherited.
  const std::set<std::string> inherited = SocketsOf(ParentOf(process));
  std::set<std::string> own = SocketsOf(process);
  for (const std::string& socket : inherited) own.erase(socket);
  std::vector<ListeningSocket> listening;
  std::ifstream table("/proc/" + std::to_string(process) + "/net/tcp");
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeouts, socket;
    fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeouts >> socket;
    if (state != "0A" || !own.contains(socket)) continue;  // 0A: it listens
    const in_addr address{static_cast<in_addr_t>(std::stoul(local.substr(0, 8), nullptr, 16))};
    std::array<char, INET_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET, &address, text.data(), text.size());
    listening.push_back(
        {text.data(), static_cast<std::uint16_t>(std::stoul(local.substr(9), nullptr, 16))});
  }
  return listening;
}

StrangerAttack::StrangerAttack(std::function<std::vector<pid_t>()> find)
    : find_(std::move(find)), thread_([this] { Run(); }) {}

StrangerAttack::~StrangerAttack() {
  stop_ = true;
  thread_.join();
}

void StrangerAttack::Run() {
  std::set<std::uint16_t> found;
  std::deque<UniqueFd> kept;
  for (std::uint64_t seed = 0; !stop_; ++seed) {
    std::set<std::uint16_t> now;
    for (const pid_t process : find_()) {
      for (const ListeningSocket& socket : ListeningSockets(process)) now.insert(socket.port);
    }
    found.insert(now.begin(), now.end());
    ports_ = found.size();
    for (const std::uint16_t port : now) {
      for (const std::string& word : StrangerMessages(seed)) {
        UniqueFd fd = ConnectStranger(port);
        if (!fd) break;
        ++connections_;
        if (seed % 2 == 0) {
          ::send(fd.get(), word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        } else {
          for (const char byte : word.substr(0, 100)) {
            ::send(fd.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
          }
        }
        kept.push_back(std::move(fd));
        if (kept.size() > kKept) kept.pop_front();
      }
    }
  }
}

}  // namespace slimgraph
