#include "slimgraph/base/sim/network.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "slimgraph/base/check.h"

namespace slimgraph::sim {
namespace {

constexpr std::uint64_t kLatencyNs = 20'000;
constexpr std::uint32_t kPacketsPerLateOne = 32;
constexpr std::uint64_t kLateNs = 5'000'000;
constexpr std::size_t kWindowBytes = 256 << 10;
constexpr std::uint64_t kCallsPerShortOne = 8;
constexpr std::uint64_t kShortBytes = 64;
constexpr std::uint64_t kSilenceNs = 10'000'000'000;  // then a connection over a cut link is lost

std::size_t BytesOf(std::span<const iovec> parts) {
  std::size_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  return bytes;
}

}  // namespace

class Descriptor {
 public:
  enum Kind { kEvent, kListener, kStream, kSet };
  Descriptor(NodeId its_node, Kind its_kind) : node(its_node), kind(its_kind) {}
  virtual ~Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  const NodeId node;
  const Kind kind;
};

namespace {

class SimEvent : public Descriptor {
 public:
  static constexpr Kind kKind = kEvent;
  explicit SimEvent(NodeId its_node) : Descriptor(its_node, kKind) {}
  bool set = false;
};

class Listener : public Descriptor {
 public:
  static constexpr Kind kKind = kListener;
  explicit Listener(NodeId its_node) : Descriptor(its_node, kKind) {}
  std::uint16_t port = 0;
  std::deque<std::pair<std::uint64_t, int>> arriving;  // when, and the descriptor of the new end
};

struct Packet {
  std::uint64_t arrives_ns;
  std::vector<std::byte> bytes;
};

// One end of a connection.
class Stream : public Descriptor {
 public:
  static constexpr Kind kKind = kStream;
  explicit Stream(NodeId its_node) : Descriptor(its_node, kKind) {}
  NodeId other_node = 0;
  std::uint16_t port = 0;
  int peer = -1;  // the other end; -1 once that is closed
  bool blocking = true;
  std::uint64_t send_limit_ns = kForever;
  std::uint64_t connected_ns = 0;    // when it can be written
  std::uint64_t lost_ns = kForever;  // when its loss is noticed
  bool silent = false;               // lost without an end of the other side
  std::uint64_t end_ns = kForever;   // when nothing more is received
  bool sends = true;
  std::deque<Packet> packets;  // those that this end receives
  std::size_t taken = 0;       // of the first packet
  std::size_t buffered = 0;    // bytes of all packets that have not been taken
  std::uint64_t last_arrival_ns = 0;
};

class DescriptorSet : public Descriptor {
 public:
  static constexpr Kind kKind = kSet;
  explicit DescriptorSet(NodeId its_node) : Descriptor(its_node, kKind) {}
  std::map<int, std::pair<Interest, void*>> members;
};

}  // namespace

Network& Network::Current() { return Scheduler::Current()->network(); }

Network::Network(Scheduler& scheduler) : scheduler_(scheduler) {}
Network::~Network() = default;

Descriptor* Network::FindAny(int fd) const {
  const auto index = static_cast<std::size_t>(fd) - kFirstDescriptor;
  return index < descriptors_.size() ? descriptors_[index].get() : nullptr;
}

template <typename Kind>
Kind* Network::Find(int fd) const {
  Descriptor* const found = FindAny(fd);
  const bool is_one = found != nullptr && found->kind == Kind::kKind;
  return is_one ? static_cast<Kind*>(found) : nullptr;
}

int Network::Add(std::unique_ptr<Descriptor> made) {
  descriptors_.push_back(std::move(made));
  return kFirstDescriptor + static_cast<int>(descriptors_.size()) - 1;
}

void Network::Changed(NodeId node) { scheduler_.WakeAll(waiting_[node]); }

std::uint64_t Network::Latency() {
  if (scheduler_.calibrated()) return kLatencyNs;
  const bool late = scheduler_.Random(kPacketsPerLateOne) == 0;
  return 1 + scheduler_.Random(2 * kLatencyNs) + (late ? scheduler_.Random(kLateNs) : 0);
}

int Network::MakeEvent() { return Add(std::make_unique<SimEvent>(scheduler_.node())); }

void Network::SetEvent(int fd) {
  SimEvent* const event = Find<SimEvent>(fd);
  event->set = true;
  Changed(event->node);
}

void Network::ClearEvent(int fd) { Find<SimEvent>(fd)->set = false; }

int Network::Listen() {
  auto listener = std::make_unique<Listener>(scheduler_.node());
  listener->port = ++next_port_;
  const int fd = Add(std::move(listener));
  listeners_[next_port_] = fd;
  return fd;
}

std::uint16_t Network::PortOf(int fd) const {
  if (const auto* const listener = Find<Listener>(fd)) return listener->port;
  return Find<Stream>(fd)->port;
}

NodeId Network::NodeAtPort(std::uint16_t port) const {
  const auto listener = listeners_.find(port);
  return listener == listeners_.end() ? scheduler_.node() : FindAny(listener->second)->node;
}

std::pair<NodeId, NodeId> Network::EndsOf(int fd) const {
  if (const auto* const stream = Find<Stream>(fd)) return {stream->node, stream->other_node};
  const NodeId node = FindAny(fd)->node;
  return {node, node};
}

int Network::StartConnecting(NodeId to, std::uint16_t port, bool blocking) {
  scheduler_.Point();
  const NodeId from = scheduler_.node();
  const std::uint64_t now_ns = scheduler_.now_ns();
  auto own = std::make_unique<Stream>(from);
  own->other_node = to;
  own->port = port;
  own->blocking = blocking;
  const auto listener = listeners_.find(port);
  auto* const server = listener == listeners_.end() ? nullptr : Find<Listener>(listener->second);
  if (IsCut(from, to) || IsCut(to, from)) {
    own->connected_ns = kForever;
    own->lost_ns = now_ns + kSilenceNs;
    own->silent = true;
    return Add(std::move(own));
  }
  own->connected_ns = now_ns + 2 * Latency();
  if (server == nullptr || server->node != to) {
    own->lost_ns = own->connected_ns;
    return Add(std::move(own));
  }
  Stream* const mine = own.get();
  const int fd = Add(std::move(own));
  auto other = std::make_unique<Stream>(to);
  other->other_node = from;
  other->port = port;
  other->peer = fd;
  mine->peer = Add(std::move(other));
  server->arriving.emplace_back(mine->connected_ns, mine->peer);
  Changed(to);
  return fd;
}

int Network::Accept(int listener, bool blocking) {
  scheduler_.Point();
  Listener& server = *Find<Listener>(listener);
  if (server.arriving.empty() || server.arriving.front().first > scheduler_.now_ns()) {
    errno = EAGAIN;
    return -1;
  }
  const int fd = server.arriving.front().second;
  server.arriving.pop_front();
  Find<Stream>(fd)->blocking = blocking;
  return fd;
}

void Network::SetBlocking(int fd, bool blocking) { Find<Stream>(fd)->blocking = blocking; }

void Network::LimitSending(int fd, std::uint64_t limit_ns) {
  Find<Stream>(fd)->send_limit_ns = limit_ns;
}

ssize_t Network::Send(int fd, std::span<const iovec> parts) {
  scheduler_.Point();
  const Stream* const first_look = Find<Stream>(fd);
  if (first_look == nullptr) {
    errno = EBADF;
    return -1;
  }
  const std::uint64_t deadline_ns = first_look->send_limit_ns == kForever
                                        ? kForever
                                        : scheduler_.now_ns() + first_look->send_limit_ns;
  while (true) {
    Stream* const own = Find<Stream>(fd);
    const std::uint64_t now_ns = scheduler_.now_ns();
    if (own == nullptr || !own->sends || now_ns >= own->lost_ns) {
      errno = own != nullptr && own->silent ? ETIMEDOUT : EPIPE;
      return -1;
    }
    // The other end has been closed, which is not known here yet.
    if (own->peer < 0) return static_cast<ssize_t>(BytesOf(parts));
    Stream& other = *Find<Stream>(own->peer);
    // Now and then, a call sends only a part of what there is room for, but never the first one.
    std::size_t room = kWindowBytes - std::min(kWindowBytes, other.buffered);
    const bool first = other.last_arrival_ns == 0;
    if (room > 0 && !first && scheduler_.Random(kCallsPerShortOne) == 0) {
      room = 1 + scheduler_.Random(room);
    }
    if (room > 0 && now_ns >= own->connected_ns) {
      Packet packet{.arrives_ns = kForever, .bytes = {}};
      for (const iovec& part : parts) {
        const auto* const data = static_cast<const std::byte*>(part.iov_base);
        const std::size_t bytes = std::min(part.iov_len, room - packet.bytes.size());
        packet.bytes.insert(packet.bytes.end(), data, data + bytes);
      }
      const auto sent = static_cast<ssize_t>(packet.bytes.size());
      if (IsCut(own->node, own->other_node)) {
        own->lost_ns = std::min(own->lost_ns, now_ns + kSilenceNs);
        other.lost_ns = std::min(other.lost_ns, now_ns + kSilenceNs);
        own->silent = other.silent = true;
      } else {
        packet.arrives_ns = std::max(other.last_arrival_ns, now_ns + Latency());
        other.last_arrival_ns = packet.arrives_ns;
      }
      other.buffered += packet.bytes.size();
      other.packets.push_back(std::move(packet));
      Changed(other.node);
      return sent;
    }
    if (!own->blocking || now_ns >= deadline_ns) {
      errno = EAGAIN;
      return -1;
    }
    scheduler_.Sleep(waiting_[own->node], std::min(deadline_ns, own->lost_ns), "room to send");
  }
}

ssize_t Network::Receive(int fd, std::span<const iovec> parts) {
  scheduler_.Point();
  Stream* const own = Find<Stream>(fd);
  if (own == nullptr) {
    errno = EBADF;
    return -1;
  }
  const std::uint64_t now_ns = scheduler_.now_ns();
  std::size_t received = 0;
  // Now and then, a call receives only a part of what is there.
  std::size_t most = kWindowBytes;
  if (scheduler_.Random(kCallsPerShortOne) == 0) most = 1 + scheduler_.Random(kShortBytes);
  for (const iovec& part : parts) {
    auto* const into = static_cast<std::byte*>(part.iov_base);
    const std::size_t wanted = std::min(part.iov_len, most - received);
    std::size_t filled = 0;
    while (filled < wanted && !own->packets.empty() && own->packets.front().arrives_ns <= now_ns) {
      Packet& packet = own->packets.front();
      const std::size_t bytes = std::min(wanted - filled, packet.bytes.size() - own->taken);
      std::memcpy(into + filled, packet.bytes.data() + own->taken, bytes);
      filled += bytes;
      own->taken += bytes;
      if (own->taken < packet.bytes.size()) continue;
      own->packets.pop_front();
      own->taken = 0;
    }
    received += filled;
    if (filled < part.iov_len) break;
  }
  if (received > 0) {
    own->buffered -= received;
    Changed(own->other_node);
    return static_cast<ssize_t>(received);
  }
  const bool lost = now_ns >= own->lost_ns;
  if (now_ns >= own->end_ns || (lost && !own->silent)) return 0;
  errno = lost ? ETIMEDOUT : EAGAIN;
  return -1;
}

void Network::EndSending(int fd, bool receiving_too) {
  Stream* const own = Find<Stream>(fd);
  if (own == nullptr) return;
  own->sends = false;
  if (receiving_too) own->end_ns = scheduler_.now_ns();
  Stream* const other = Find<Stream>(own->peer);
  if (other == nullptr || IsCut(own->node, own->other_node)) return;
  other->end_ns = std::max(other->last_arrival_ns, scheduler_.now_ns() + Latency());
  Changed(other->node);
}

void Network::Close(int fd) {
  if (FindAny(fd) == nullptr) return;
  if (auto* const listener = Find<Listener>(fd)) {
    listeners_.erase(listener->port);
    while (!listener->arriving.empty()) {
      const int waiting = listener->arriving.front().second;
      listener->arriving.pop_front();
      Close(waiting);
    }
  }
  if (auto* const own = Find<Stream>(fd)) {
    if (Stream* const other = Find<Stream>(own->peer)) {
      other->peer = -1;
      const bool cut = IsCut(own->node, own->other_node);
      other->silent |= cut;
      const std::uint64_t word_ns = scheduler_.now_ns() + (cut ? kSilenceNs : Latency());
      other->lost_ns = std::min(other->lost_ns, std::max(other->last_arrival_ns, word_ns));
      Changed(other->node);
    }
  }
  descriptors_[static_cast<std::size_t>(fd - kFirstDescriptor)].reset();
}

int Network::MakeSet() { return Add(std::make_unique<DescriptorSet>(scheduler_.node())); }

bool Network::PutIntoSet(int set, const Interest& interest, void* source) {
  if (FindAny(interest.fd) == nullptr) return false;
  Find<DescriptorSet>(set)->members[interest.fd] = {interest, source};
  Changed(scheduler_.node());
  return true;
}

void Network::TakeFromSet(int set, int fd) { Find<DescriptorSet>(set)->members.erase(fd); }

std::vector<std::pair<void*, Readiness>> Network::ReadyOfSet(int set, std::size_t most) {
  std::vector<std::pair<void*, Readiness>> ready;
  std::uint64_t next_ns = kForever;
  for (const auto& [fd, member] : Find<DescriptorSet>(set)->members) {
    if (ready.size() == most) break;
    const Readiness one = Look(member.first, scheduler_.now_ns(), next_ns);
    if (one.readable || one.writable || one.lost) ready.emplace_back(member.second, one);
  }
  return ready;
}

// `next_ns` falls to when the answer may be another one without a wake-up.
Readiness Network::Look(const Interest& interest, std::uint64_t now_ns, std::uint64_t& next_ns) {
  const auto later = [&](std::uint64_t ns) {
    if (ns > now_ns) next_ns = std::min(next_ns, ns);
    return ns <= now_ns;
  };
  Readiness ready;
  if (const auto* const stream = Find<Stream>(interest.fd)) {
    ready.lost = later(stream->lost_ns);
    ready.readable = ready.lost || later(stream->end_ns) ||
                     (!stream->packets.empty() && later(stream->packets.front().arrives_ns));
    const Stream* const other = Find<Stream>(stream->peer);
    ready.writable = ready.lost || (later(stream->connected_ns) &&
                                    (other == nullptr || other->buffered < kWindowBytes));
  } else if (const auto* const event = Find<SimEvent>(interest.fd)) {
    ready.readable = event->set;
  } else if (const auto* const listener = Find<Listener>(interest.fd)) {
    ready.readable = !listener->arriving.empty() && later(listener->arriving.front().first);
  } else if (const auto* const set = Find<DescriptorSet>(interest.fd)) {
    for (const auto& [fd, member] : set->members) {
      const Readiness one = Look(member.first, now_ns, next_ns);
      ready.readable |= one.readable || one.writable || one.lost;
    }
  } else {
    ready.lost = true;  // closed
  }
  ready.readable &= interest.reads;
  ready.writable &= interest.writes;
  return ready;
}

std::vector<Readiness> Network::Wait(std::span<const Interest> interests,
                                     std::uint64_t deadline_ns) {
  scheduler_.Point();
  while (true) {
    const std::uint64_t now_ns = scheduler_.now_ns();
    std::uint64_t next_ns = deadline_ns;
    std::vector<Readiness> all;
    bool any = false;
    for (const Interest& interest : interests) {
      all.push_back(Look(interest, now_ns, next_ns));
      any |= all.back().readable || all.back().writable || all.back().lost;
    }
    if (any || now_ns >= deadline_ns) return all;
    scheduler_.Sleep(waiting_[scheduler_.node()], next_ns, "a descriptor");
  }
}

void Network::Cut(NodeId from, NodeId to) { cut_.emplace(from, to); }

void Network::Heal(NodeId from, NodeId to) {
  cut_.erase({from, to});
  for (const auto& descriptor : descriptors_) {
    if (descriptor == nullptr || descriptor->kind != Descriptor::kStream) continue;
    auto* const stream = static_cast<Stream*>(descriptor.get());
    if (stream->node != to || stream->other_node != from) continue;
    if (stream->peer < 0 || scheduler_.now_ns() >= stream->lost_ns) continue;
    for (Packet& packet : stream->packets) {
      if (packet.arrives_ns != kForever) continue;
      packet.arrives_ns = std::max(stream->last_arrival_ns, scheduler_.now_ns() + Latency());
      stream->last_arrival_ns = packet.arrives_ns;
    }
    Changed(to);
    if (IsCut(to, from)) continue;
    stream->lost_ns = kForever;
    stream->silent = false;
    Find<Stream>(stream->peer)->lost_ns = kForever;
    Find<Stream>(stream->peer)->silent = false;
    Changed(from);
  }
}

void Network::CloseAllOf(NodeId node) {
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    if (descriptors_[i] && descriptors_[i]->node == node) {
      Close(kFirstDescriptor + static_cast<int>(i));
    }
  }
}

}  // namespace slimgraph::sim
