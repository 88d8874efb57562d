#include "slimgraph/fabric/internal/mpi/channel.h"

#include <cstring>

#include "slimgraph/base/check.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {
constexpr std::uint64_t kMaxUnhandledBytes = 512 << 10;
constexpr std::uint64_t kReportBytes = 128 << 10;
}  // namespace

MpiChannel::MpiChannel(MpiService& service, std::uint32_t endpoint, std::uint32_t endpoints)
    : service_(service),
      mailbox_(service.mailbox(endpoint)),
      endpoint_(endpoint),
      endpoints_(endpoints),
      peer_states_(std::size_t{service.job().nodes()} * endpoints) {}

void MpiChannel::Post(std::uint64_t id, std::span<const Operation> operations, bool continues) {
  service_.Post(endpoint_, id, operations, continues);
}

void MpiChannel::Poll(std::vector<PartResult>& ended,
                      const std::function<void(const Message&)>& receive) {
  if (!mailbox_.Take(mail_)) return;
  ended.insert(ended.end(), mail_.ended.begin(), mail_.ended.end());
  for (const MpiFrames::Arrived& arrived : mail_.frames) Receive(arrived, receive);
  mail_.ended.clear();
  mail_.frames.clear();
}

void MpiChannel::Receive(const MpiFrames::Arrived& arrived,
                         const std::function<void(const Message&)>& receive) {
  wire::MessageFrame frame;
  const Bytes bytes = arrived.frame.bytes();
  std::memcpy(&frame, bytes.data(), sizeof frame);
  const EndpointAddress from{arrived.from, frame.from_endpoint};
  if (frame.kind == wire::FrameKind::kCredit) {
    StateOf(from).unhandled_bytes -= frame.body_bytes;
    return;
  }
  Message message{.from = from,
                  .handler = frame.handler,
                  .acknowledged = frame.acknowledged,
                  .body = bytes.last(frame.body_bytes)};
  if (frame.has_due != 0) {
    std::memcpy(&message.due_ns, bytes.data() + sizeof frame, wire::kDueBytes);
  }
  receive(message);
  CountHandled(from, bytes.size());
}

void MpiChannel::CountHandled(EndpointAddress peer, std::uint64_t bytes) {
  std::uint64_t& unreported = StateOf(peer).unreported_bytes;
  unreported += bytes;
  if (unreported < kReportBytes) return;
  const wire::MessageFrame credit{.kind = wire::FrameKind::kCredit,
                                  .from_endpoint = static_cast<std::uint16_t>(endpoint_),
                                  .to_endpoint = static_cast<std::uint16_t>(peer.endpoint),
                                  .body_bytes = static_cast<std::uint32_t>(unreported)};
  Frame frame(sizeof credit);
  std::memcpy(frame.bytes().data(), &credit, sizeof credit);
  service_.Send(peer.node, std::move(frame));
  unreported = 0;
}

bool MpiChannel::Send(EndpointAddress to, const Message& message) {
  SLIM_CHECK(message.body.size() <= kMaxMessageBytes, "{} bytes in one message",
             message.body.size());
  if (!service_.job().alive(to.node)) return true;
  const wire::MessageFrame head{.has_due = message.due_ns != 0,
                                .handler = message.handler,
                                .from_endpoint = static_cast<std::uint16_t>(endpoint_),
                                .to_endpoint = static_cast<std::uint16_t>(to.endpoint),
                                .acknowledged = message.acknowledged,
                                .body_bytes = static_cast<std::uint32_t>(message.body.size())};
  const std::size_t due_bytes = head.has_due != 0 ? wire::kDueBytes : 0;
  const std::size_t bytes = sizeof head + due_bytes + message.body.size();
  std::uint64_t& unhandled = StateOf(to).unhandled_bytes;
  if (unhandled + bytes > kMaxUnhandledBytes) return false;
  unhandled += bytes;
  Frame frame(bytes);
  std::byte* out = frame.bytes().data();
  std::memcpy(out, &head, sizeof head);
  std::memcpy(out + sizeof head, &message.due_ns, due_bytes);
  if (!message.body.empty()) {
    std::memcpy(out + sizeof head + due_bytes, message.body.data(), message.body.size());
  }
  service_.Send(to.node, std::move(frame));
  return true;
}

}  // namespace slimgraph
