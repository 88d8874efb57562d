#include "slimgraph/fabric/internal/verbs_inbox.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "slimgraph/fabric/internal/verbs_message_link.h"
#include "slimgraph/fabric/internal/wire.h"

namespace slimgraph {

namespace {
constexpr int kBuffers = 512;
constexpr std::size_t kFrameBytes = sizeof(wire::MessageFrame);
}  // namespace

Result<std::unique_ptr<VerbsInbox>> VerbsInbox::Make(const VerbsDevice& device,
                                                     ibv_comp_channel* events, NodeId nodes,
                                                     std::uint32_t endpoints) {
  std::unique_ptr<VerbsInbox> inbox(new VerbsInbox());
  inbox->endpoints_ = endpoints;
  inbox->senders_.resize(std::size_t{nodes} * endpoints);
  const int buffers = std::min(kBuffers, device.limits().max_srq_wr);
  const std::uint64_t bytes = static_cast<std::uint64_t>(buffers) * kVerbsPieceBytes;
  SLIM_ASSIGN(inbox->buffers_, VerbsRing::Make(device, bytes));
  inbox->base_ = inbox->buffers_->Take(bytes);
  inbox->completions_.reset(::ibv_create_cq(device.context(), buffers + 1, nullptr, events, 0));
  ibv_srq_init_attr attributes{};
  attributes.attr = {.max_wr = static_cast<std::uint32_t>(buffers), .max_sge = 1, .srq_limit = 0};
  inbox->receives_.reset(::ibv_create_srq(device.domain(), &attributes));
  if (!inbox->completions_ || !inbox->receives_) {
    return EnvironmentError("cannot make a receive queue on {}: {}", device.port().device,
                            std::strerror(errno));
  }
  for (int i = 0; i < buffers; ++i) inbox->PostBuffer(static_cast<std::uint64_t>(i));
  return inbox;
}

VerbsQueuePair::Shape VerbsInbox::shape() const {
  return {.sent = completions_.get(),
          .received = completions_.get(),
          .receives = receives_.get(),
          .depth = 1};
}

void VerbsInbox::PostBuffer(std::uint64_t index) {
  ibv_sge buffer{.addr = reinterpret_cast<std::uintptr_t>(base_ + index * kVerbsPieceBytes),
                 .length = kVerbsPieceBytes,
                 .lkey = buffers_->key()};
  ibv_recv_wr request{.wr_id = index, .next = nullptr, .sg_list = &buffer, .num_sge = 1};
  ibv_recv_wr* refused = nullptr;
  ::ibv_post_srq_recv(receives_.get(), &request, &refused);
}

bool VerbsInbox::Fetch() {
  std::array<ibv_wc, 32> some;
  const int count = ::ibv_poll_cq(completions_.get(), some.size(), some.data());
  if (count > 0) arrived_.insert(arrived_.end(), some.begin(), some.begin() + count);
  return !arrived_.empty();
}

bool VerbsInbox::Arm() {
  ::ibv_req_notify_cq(completions_.get(), 0);
  return Fetch();
}

void VerbsInbox::Poll(const std::function<void(const Message&)>& receive) {
  if (!Fetch()) return;
  for (const ibv_wc& one : std::exchange(arrived_, {})) {
    if (one.status == IBV_WC_SUCCESS && one.byte_len <= kVerbsPieceBytes) {
      Take({base_ + one.wr_id * kVerbsPieceBytes, one.byte_len}, receive);
    }
    PostBuffer(one.wr_id);
  }
}

// What comes twice, or from nobody, is dropped.
void VerbsInbox::Take(Bytes bytes, const std::function<void(const Message&)>& receive) {
  VerbsPiece piece;
  if (bytes.size() < sizeof piece) return;
  std::memcpy(&piece, bytes.data(), sizeof piece);
  bytes = bytes.subspan(sizeof piece);
  const std::size_t index = std::size_t{piece.node} * endpoints_ + piece.endpoint;
  if (piece.endpoint >= endpoints_ || index >= senders_.size()) return;
  Sender& sender = senders_[index];
  if (piece.number != sender.next) return;
  ++sender.next;
  if (!sender.begun.empty()) {
    sender.begun.insert(sender.begun.end(), bytes.begin(), bytes.end());
    bytes = sender.begun;
  }
  wire::MessageFrame frame;
  if (bytes.size() < kFrameBytes) return;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  const std::size_t front = kFrameBytes + (frame.has_due != 0 ? sizeof(Message::due_ns) : 0);
  if (bytes.size() < front + frame.body_bytes) {
    if (sender.begun.empty()) sender.begun.assign(bytes.begin(), bytes.end());
    return;
  }
  Message message{.from = {piece.node, piece.endpoint},
                  .handler = frame.handler,
                  .acknowledged = frame.acknowledged,
                  .body = bytes.subspan(front, frame.body_bytes)};
  if (frame.has_due != 0) {
    std::memcpy(&message.due_ns, bytes.data() + kFrameBytes, sizeof message.due_ns);
  }
  receive(message);
  sender.begun.clear();
}

}  // namespace slimgraph
