// An endpoint's messages over datagrams: its reliable link with every other endpoint. The owner's
// thread makes progress when it polls. While it does other work for long, a background thread
// receives, acknowledges and resends for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "slimgraph/base/clock.h"
#include "slimgraph/base/sync.h"
#include "slimgraph/fabric/internal/datagrams/mail_port.h"
#include "slimgraph/fabric/internal/datagrams/reliable_link.h"
#include "slimgraph/fabric/internal/wire.h"
#include "slimgraph/launch/job.h"

namespace slimgraph {

template <typename Port>
class Mailbox {
 public:
  using Receiver = std::function<void(const Message&)>;

  explicit Mailbox(std::unique_ptr<Port> port) : port_(std::move(port)), shared_{*port_, {}} {}
  Port& port() { return *port_; }

  // Must be called first. Each node has so many endpoints. If one does not answer though its node
  // lives, the job fails.
  void Start(Job& job, std::uint32_t endpoint, std::uint32_t endpoints);
  // The faults to inject when sending, from now on; null means none.
  void SetFaults(Faults* faults);

  // Returns false when there is no room now.
  bool Send(EndpointAddress to, const Message& message);
  void Poll(const Receiver& receive);
  bool all_acknowledged();

  // The owner goes to sleep: makes the next arrival an event. If there is something to receive
  // already, returns true, and there may be no event.
  bool Arm();
  // The owner is awake, but may do other work for long before it polls.
  void NoteAwake() { parked_.store(false, std::memory_order_relaxed); }
  // For how long the owner may sleep, at most `limit`, before it must call Poll() even if nothing
  // has arrived.
  std::chrono::nanoseconds LimitSleep(std::chrono::nanoseconds limit);

  // The node is dead: messages to it are dropped.
  void Lose(NodeId node);

  // Delivers what was sent, unless the other side has stopped receiving. `sleep(limit)` may return
  // early when something has arrived.
  template <typename Sleep>
  void Close(const Sleep& sleep);

  // Called by the background thread: makes progress if the owner has not polled for a while.
  // Returns whether there was any work.
  bool PollInBackground(std::uint64_t now_ns);

 private:
  static constexpr std::uint64_t kAbsentAfterNs = 20'000'000;
  // How many messages the background thread receives for an absent owner; the senders keep the
  // others.
  static constexpr std::size_t kMaxBuffered = 256;
  // How often they learn then that they are heard.
  static constexpr std::uint64_t kFullAnswerNs = 2'000'000'000;

  struct BufferedMessage {
    Message message;
    std::vector<std::byte> body;
  };

  std::size_t IndexOf(EndpointAddress peer) const {
    return std::size_t{peer.node} * endpoints_ + peer.endpoint;
  }
  ReliableLink& LinkTo(EndpointAddress peer);
  void Receive(const Receiver& receive);
  void Progress();
  void FailAsUnreachable(NodeId node);

  // Locked while handlers run, which may send. The background thread only tries to lock it.
  RecursiveMutex mutex_;
  const std::unique_ptr<Port> port_;
  ReliableLink::Shared shared_;
  Job* job_ = nullptr;
  std::uint32_t endpoints_ = 0;
  std::vector<std::unique_ptr<ReliableLink>> links_;  // by node and its endpoint
  std::vector<bool> lost_;                            // by node
  std::deque<BufferedMessage> buffered_;              // received by the background thread
  std::uint64_t full_answer_ns_ = 0;                  // when it answers next; 0: it is not full
  bool failed_ = false;                               // a node was unreachable
  std::uint64_t due_ns_ = 0;                          // when Poll() must be called; 0: never
  std::atomic<std::uint64_t> last_poll_ns_{0};        // when the owner last polled
  std::atomic<bool> parked_{false};                   // the owner sleeps until something arrives
};

// The background thread for the mailboxes of a node. It polls rarely, and more rarely when idle.
template <typename Port>
class BackgroundPoller {
 public:
  explicit BackgroundPoller(std::vector<Mailbox<Port>*> mailboxes)
      : mailboxes_(std::move(mailboxes)), thread_([this] { Run(); }) {}
  ~BackgroundPoller();

 private:
  static constexpr std::chrono::milliseconds kPollAgain{10};
  static constexpr std::chrono::milliseconds kPollRarely{50};
  static constexpr std::uint64_t kBusyForNs = 200'000'000;

  void Run();

  const std::vector<Mailbox<Port>*> mailboxes_;
  Mutex mutex_;
  Condition end_;
  bool ending_ = false;
  Thread thread_;
};

template <typename Port>
void Mailbox<Port>::Start(Job& job, std::uint32_t endpoint, std::uint32_t endpoints) {
  job_ = &job;
  shared_.self = {job.self(), endpoint};
  endpoints_ = endpoints;
  links_.resize(std::size_t{job.nodes()} * endpoints);
  lost_.resize(job.nodes());
}

template <typename Port>
void Mailbox<Port>::SetFaults(Faults* faults) {
  const std::lock_guard lock(mutex_);
  port_->SetFaults(faults);
}

template <typename Port>
ReliableLink& Mailbox<Port>::LinkTo(EndpointAddress peer) {
  auto& one = links_[IndexOf(peer)];
  if (!one) {
    one = std::make_unique<ReliableLink>(shared_, peer);
    if (lost_[peer.node]) one->Lose();
  }
  return *one;
}

template <typename Port>
bool Mailbox<Port>::Send(EndpointAddress to, const Message& message) {
  const std::lock_guard lock(mutex_);
  return LinkTo(to).Send(message, NowNs());
}

template <typename Port>
void Mailbox<Port>::Poll(const Receiver& receive) {
  const std::lock_guard lock(mutex_);
  parked_.store(false, std::memory_order_relaxed);
  last_poll_ns_.store(NowNs(), std::memory_order_relaxed);
  for (; !buffered_.empty(); buffered_.pop_front()) {
    buffered_.front().message.body = buffered_.front().body;
    receive(buffered_.front().message);
  }
  Receive(receive);
  Progress();
}

// Drops datagrams that name no sender, or another one than where they came from.
template <typename Port>
void Mailbox<Port>::Receive(const Receiver& receive) {
  port_->Receive([&](Bytes datagram, const auto& source) {
    LinkPiece piece;
    if (datagram.size() < sizeof piece) return;
    std::memcpy(&piece, datagram.data(), sizeof piece);
    if (piece.node >= lost_.size() || piece.endpoint >= endpoints_) return;
    const EndpointAddress from{piece.node, piece.endpoint};
    if (!port_->IsFrom(source, from)) return;
    LinkTo(from).Take(datagram, NowNs(), receive);
  });
}

template <typename Port>
void Mailbox<Port>::Progress() {
  due_ns_ = 0;
  if (shared_.active.empty()) return;
  const std::uint64_t now_ns = NowNs();
  std::erase_if(shared_.active, [&](ReliableLink* one) {
    const std::uint64_t due_ns = one->Progress(now_ns);
    if (one->unanswered()) FailAsUnreachable(one->peer().node);
    if (due_ns != 0) due_ns_ = due_ns_ == 0 ? due_ns : std::min(due_ns_, due_ns);
    return due_ns == 0;
  });
}

// After a death in a part of a job, nodes that live may have stopped to answer, because they form
// the part anew. The nodes of a whole job that survives a death go on with their mailboxes.
template <typename Port>
void Mailbox<Port>::FailAsUnreachable(NodeId node) {
  const bool formed_anew = job_->is_part() && !job_->all_alive();
  if (formed_anew || !job_->alive(node) || std::exchange(failed_, true)) return;
  job_->Fail({ErrorKind::kEnvironment,
              fmt::format("node {} lives, but does not answer datagrams: check the network between "
                          "its host and that of node {}",
                          node, shared_.self.node)});
}

template <typename Port>
bool Mailbox<Port>::all_acknowledged() {
  const std::lock_guard lock(mutex_);
  return port_->all_sent() && std::all_of(links_.begin(), links_.end(), [](const auto& one) {
           return !one || one->all_acknowledged();
         });
}

template <typename Port>
bool Mailbox<Port>::Arm() {
  const std::lock_guard lock(mutex_);
  const bool news = port_->Arm() || !buffered_.empty();
  parked_.store(!news, std::memory_order_relaxed);
  return news;
}

template <typename Port>
std::chrono::nanoseconds Mailbox<Port>::LimitSleep(std::chrono::nanoseconds limit) {
  const std::lock_guard lock(mutex_);
  if (due_ns_ == 0) return limit;
  const auto left_ns = static_cast<std::int64_t>(due_ns_ - std::min(due_ns_, NowNs()));
  return std::min(limit, std::chrono::nanoseconds(left_ns));
}

template <typename Port>
void Mailbox<Port>::Lose(NodeId node) {
  const std::lock_guard lock(mutex_);
  lost_[node] = true;
  for (std::uint32_t endpoint = 0; endpoint < endpoints_; ++endpoint) {
    const auto& one = links_[IndexOf({node, endpoint})];
    if (one) one->Lose();
  }
}

template <typename Port>
template <typename Sleep>
void Mailbox<Port>::Close(const Sleep& sleep) {
  SetFaults(nullptr);
  const std::uint64_t start_ns = NowNs();
  while (!all_acknowledged() && NowNs() - start_ns < wire::kCloseLimitNs) {
    Poll([](const Message&) {});
    sleep(std::chrono::milliseconds(1));
  }
}

template <typename Port>
bool Mailbox<Port>::PollInBackground(std::uint64_t now_ns) {
  if (parked_.load(std::memory_order_relaxed)) return false;
  if (now_ns < last_poll_ns_.load(std::memory_order_relaxed) + kAbsentAfterNs) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return true;
  const std::size_t before = buffered_.size();
  if (before < kMaxBuffered) {
    full_answer_ns_ = 0;
    Receive([&](const Message& message) {
      buffered_.push_back({message, {message.body.begin(), message.body.end()}});
    });
  } else if (full_answer_ns_ == 0) {
    full_answer_ns_ = now_ns + kFullAnswerNs;
  } else if (now_ns >= full_answer_ns_) {
    full_answer_ns_ = now_ns + kFullAnswerNs;
    Receive({});
  }
  const bool any = !shared_.active.empty();
  Progress();
  return any || buffered_.size() > before;
}

template <typename Port>
BackgroundPoller<Port>::~BackgroundPoller() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_one();
  thread_.join();
}

template <typename Port>
void BackgroundPoller<Port>::Run() {
  std::uint64_t busy_ns = 0;
  std::unique_lock lock(mutex_);
  while (!ending_) {
    const std::uint64_t now_ns = NowNs();
    for (Mailbox<Port>* const mailbox : mailboxes_) {
      if (mailbox->PollInBackground(now_ns)) busy_ns = now_ns;
    }
    end_.wait_for(lock, now_ns < busy_ns + kBusyForNs ? kPollAgain : kPollRarely);
  }
}

}  // namespace slimgraph
