#include "slimgraph/fabric/internal/verbs/link.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "slimgraph/base/clock.h"

namespace slimgraph {

namespace {

constexpr std::uint64_t kRequestAgainNs = 20'000'000;

Outcome OutcomeOf(ibv_wc_status status) {
  switch (status) {
    // Sizes were checked before posting, so the region is not registered any more.
    case IBV_WC_REM_ACCESS_ERR:
      return Outcome::kRevoked;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return Outcome::kPeerLost;
    default:
      return Outcome::kFailed;
  }
}

}  // namespace

void VerbsChain::Clear() {
  requests_.clear();
  pieces_.clear();
}

ibv_send_wr& VerbsChain::Add(const void* memory, std::uint32_t bytes, std::uint32_t key) {
  pieces_.push_back(
      {.addr = reinterpret_cast<std::uintptr_t>(memory), .length = bytes, .lkey = key});
  return requests_.emplace_back();
}

ibv_send_wr* VerbsChain::Close(std::uint64_t id) {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    requests_[i].wr_id = id - (requests_.size() - 1 - i);
    requests_[i].next = i + 1 < requests_.size() ? &requests_[i + 1] : nullptr;
    requests_[i].sg_list = &pieces_[i];
    requests_[i].num_sge = pieces_[i].length == 0 ? 0 : 1;
  }
  requests_.back().send_flags |= IBV_SEND_SIGNALED;
  return requests_.data();
}

VerbsLink::VerbsLink(Shared& shared, const VerbsContact& contact, const VerbsHello& hello,
                     std::uint32_t lane, std::uint32_t depth)
    : shared_(shared), contact_(contact), hello_(hello), lane_(lane), depth_(depth) {}

void VerbsLink::Connect() {
  if (state_ != State::kIdle) return;
  if (!MakePair()) {
    OnUnusable(Outcome::kFailed);
    return;
  }
  state_ = State::kConnecting;
  if (!std::exchange(listed_, true)) shared_.active.push_back(this);
  SendRequest();
}

Status VerbsLink::MakePair() {
  completions_.reset(::ibv_create_cq(shared_.device.context(), static_cast<int>(depth_), nullptr,
                                     shared_.events, 0));
  if (!completions_) {
    return EnvironmentError("cannot make a completion queue: {}", std::strerror(errno));
  }
  const VerbsQueuePair::Shape shape{.completions = completions_.get(), .depth = depth_};
  SLIM_ASSIGN(pair_, VerbsQueuePair::Make(shared_.device, shape));
  return {};
}

void VerbsLink::SendRequest() {
  const VerbsRequest request{.hello = hello_, .lane = lane_, .address = pair_.address()};
  shared_.socket.Send(contact_.address, std::as_bytes(std::span(&request, 1)));
  requested_ns_ = NowNs();
}

void VerbsLink::OnReply(const VerbsReply& reply) {
  if (state_ != State::kConnecting || reply.token != contact_.token ||
      reply.requesting_pair != pair_.get()->qp_num) {
    return;
  }
  if (reply.address.queue_pair == 0 || !pair_.Connect(reply.address)) {
    Disconnect();
    OnUnusable(Outcome::kFailed);
    return;
  }
  state_ = State::kReady;
  OnConnected(reply);
  OnRoom();
}

void VerbsLink::Disconnect() {
  pair_ = VerbsQueuePair();
  completions_.reset();
  in_flight_ = 0;
  state_ = State::kIdle;
}

void VerbsLink::Lose() {
  if (lost()) return;
  Disconnect();
  state_ = State::kLost;
  OnUnusable(Outcome::kPeerLost);
}

void VerbsLink::PostChain() {
  const std::size_t count = shared_.chain.size();
  if (count == 0) return;
  posted_ += count;
  in_flight_ += count;
  ++posts_;
  if (!std::exchange(listed_, true)) shared_.active.push_back(this);
  ibv_send_wr* refused = nullptr;
  if (::ibv_post_send(pair_.get(), shared_.chain.Close(posted_), &refused) != 0) {
    Disconnect();
    OnError(Outcome::kFailed);
  }
}

bool VerbsLink::Progress() {
  if (state_ == State::kConnecting && NowNs() - requested_ns_ >= kRequestAgainNs) SendRequest();
  if (in_flight_ > 0 && PollCompletions()) OnRoom();
  listed_ = in_flight_ > 0 || state_ == State::kConnecting;
  return listed_;
}

// Returns whether the queue has more room than before.
bool VerbsLink::PollCompletions() {
  std::array<ibv_wc, 16> ended;
  bool any = false;
  int count = 0;
  while (in_flight_ > 0 &&
         (count = ::ibv_poll_cq(completions_.get(), ended.size(), ended.data())) > 0) {
    for (const ibv_wc& one : std::span(ended).first(static_cast<std::size_t>(count))) {
      const bool well = one.status == IBV_WC_SUCCESS;
      const std::uint64_t behind = posted_ - one.wr_id + (well ? 0 : 1);
      const std::size_t done = in_flight_ - static_cast<std::size_t>(behind);
      in_flight_ -= done;
      if (done > 0) OnDone(done);
      if (!well) {
        Disconnect();
        OnError(OutcomeOf(one.status));
        return false;
      }
    }
    any = true;
  }
  return any;
}

void VerbsLink::Arm() {
  if (completions_) ::ibv_req_notify_cq(completions_.get(), 0);
}

}  // namespace slimgraph
