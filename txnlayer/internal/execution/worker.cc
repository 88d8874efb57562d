#include "txnlayer/internal/execution/worker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/clock.h"

namespace slimgraph::txn {
namespace {

// The longest sleep of a thread that expects nothing.
constexpr std::chrono::milliseconds kIdle{100};
// How long a thread that polls its memory does so without a pause, before it sleeps between polls.
// A thread with its own processor adapts the time: it doubles when something came in meanwhile, and
// halves when the polling was in vain.
constexpr std::uint64_t kSpinNs = 5'000;
constexpr std::uint64_t kMostSpinNs = 40'000;

// The first operation on a dead node fails as lost; those behind it in the same doorbell are
// flushed.
bool IsOfDeath(Outcome outcome) {
  return outcome == Outcome::kPeerLost || outcome == Outcome::kFlushed;
}

}  // namespace

Task::Task(Worker& worker, std::uint32_t index, std::function<void(Task&)> body)
    : worker_(worker), index_(index), coroutine_([this, body = std::move(body)] { body(*this); }) {}

void Task::Await(Pending& pending) {
  worker_.endpoint_.Ring();
  while (pending.left > 0) {
    pending.waiter = this;
    coroutine_.Yield();
  }
  pending.waiter = nullptr;
}

void Task::Sleep(std::uint64_t ns) {
  worker_.sleepers_.emplace(NowNs() + ns, this);
  coroutine_.Yield();
}

void Task::Idle(std::uint64_t ns) {
  idle_ = true;
  Sleep(ns);
  idle_ = false;
}

void Task::Yield() {
  worker_.ready_.push_back(this);
  coroutine_.Yield();
}

void Task::Park() {
  worker_.parked_.push_back(this);
  coroutine_.Yield();
}

Worker::Worker(Fabric& fabric, std::uint32_t index)
    : fabric_(fabric),
      endpoint_(fabric.endpoint(index)),
      index_(index),
      lost_(fabric.nodes(), false),
      spin_ns_(kSpinNs),
      most_spin_ns_(kSpinNs) {}

void Worker::HasProcessor() { most_spin_ns_ = kMostSpinNs; }

void Worker::AddTask(std::function<void(Task&)> body) {
  const auto index = static_cast<std::uint32_t>(tasks_.size());
  tasks_.push_back(std::make_unique<Task>(*this, index, std::move(body)));
  ready_.push_back(tasks_.back().get());
}

Status Worker::Run(const bool& stop, const std::function<void()>& all_at_rest,
                   const std::function<std::string()>& rest_awaits) {
  Idling idling{rest_awaits};
  told_ = false;
  ready_.insert(ready_.end(), parked_.begin(), parked_.end());
  parked_.clear();
  while (true) {
    completions_.clear();
    bool moved = endpoint_.Poll(completions_) > 0;
    for (const Completion& completion : completions_) Dispatch(completion);
    WakeSleepers();
    if (RunReadyTasks()) {
      moved = true;
      if (idling.since_ns != 0) idling.End();
    }
    // Runs after the tasks, to handle what they have just asked for; it may make some tasks ready.
    const auto background_wants = background ? background() : std::chrono::nanoseconds(0);
    if (ended_ + parked_.size() == tasks_.size() && !told_) {
      told_ = true;
      all_at_rest();
    }
    if (told_ && (stop || ends_at_once_)) break;
    if (moved || background_wants.count() == 0) {
      if (quiet_since_ns_ != 0 && !slept_) spin_ns_ = std::min(2 * spin_ns_, most_spin_ns_);
      quiet_since_ns_ = 0;
      slept_ = false;
      sleep_told_ = false;
    }
    if (ready_.empty()) WaitForWork(background_wants, idling);
  }
  if (ended_ == tasks_.size()) {
    tasks_.clear();
    ended_ = 0;
  }
  return status_;
}

void Worker::AbandonTasks() {
  for (const auto& task : tasks_) {
    if (!task->coroutine_.ended()) task->coroutine_.Abandon();
  }
}

void Worker::EndAtOnce(Error error) {
  Fail(std::move(error));
  ends_at_once_ = true;
  told_ = true;
}

void Worker::Lose(NodeId node) {
  lost_[node] = true;
  told_ = false;
  for (std::uint32_t number = 0; number < calls_.size(); ++number) {
    Call* const call = calls_[number];
    if (call == nullptr || call->to.node != node) continue;
    calls_[number] = nullptr;
    free_calls_.push_back(number);
    call->reply.clear();
    call->pending->lost = true;
    CompleteOne(*call->pending);
  }
}

// A change of memory wakes nobody. So a thread that polls its memory soon sleeps between polls.
// (Yielding instead would cost a full scheduling round of all other threads on a busy machine.)
void Worker::WaitForWork(std::chrono::nanoseconds background_wants, Idling& idling) {
  if (background_wants.count() > 0) {
    const std::uint64_t now = NowNs();
    if (quiet_since_ns_ == 0) quiet_since_ns_ = now;
    if (now - quiet_since_ns_ < spin_ns_) return;
    if (!std::exchange(slept_, true)) spin_ns_ = std::max(spin_ns_ / 2, kSpinNs);
    if (before_sleep && !std::exchange(sleep_told_, true)) return before_sleep();
  }
  if (LogsWaits()) RegisterWait(idling);
  endpoint_.Wait(TimeToWait(background_wants));
}

// Called before the thread sleeps. A task that sleeps waits for a time, not for another node.
void Worker::RegisterWait(Idling& idling) const {
  if (!sleepers_.empty()) return idling.End();
  const std::uint64_t now = NowNs();
  if (idling.since_ns == 0) idling.since_ns = now;
  if (now - idling.since_ns < kShortWaitNs) return;
  idling.waiting.For(
      fabric_.self(), [&] { return DescribeWait(idling); }, idling.since_ns);
}

// A description for people.
std::string Worker::DescribeWait(const Idling& idling) const {
  if (told_) return idling.rest_awaits ? idling.rest_awaits() : "others to come to rest";
  std::vector<NodeId> nodes = endpoint_.AwaitedNodes();
  for (const Call* const call : calls_) {
    if (call != nullptr) nodes.push_back(call->to.node);
  }
  const std::string who = nodes.empty() ? "its memory to change" : NodesInWords(std::move(nodes));
  return fmt::format("{}, in {} transactions of thread {}", who,
                     tasks_.size() - ended_ - parked_.size(), index_);
}

// A task that yields is not run again in the same turn.
bool Worker::RunReadyTasks() {
  const std::size_t count = ready_.size();
  for (std::size_t i = 0; i < count; ++i) {
    Task* const task = ready_.front();
    ready_.pop_front();
    task->coroutine_.Resume();
    if (task->coroutine_.ended()) ++ended_;
  }
  return count > 0;
}

std::chrono::nanoseconds Worker::TimeToWait(std::chrono::nanoseconds background_wants) const {
  std::chrono::nanoseconds wait = background_wants.count() > 0 ? background_wants : kIdle;
  if (!sleepers_.empty()) {
    const std::uint64_t now = NowNs();
    const std::uint64_t due = sleepers_.begin()->first;
    wait = std::min(wait, std::chrono::nanoseconds(due > now ? due - now : 0));
  }
  return wait;
}

void Worker::WakeSleepers() {
  if (sleepers_.empty()) return;
  const std::uint64_t now = NowNs();
  while (!sleepers_.empty() && sleepers_.begin()->first <= now) {
    ready_.push_back(sleepers_.begin()->second);
    sleepers_.erase(sleepers_.begin());
  }
}

void Worker::WakeIdle() {
  std::erase_if(sleepers_, [this](const auto& sleeper) {
    if (sleeper.second->idle_) ready_.push_back(sleeper.second);
    return sleeper.second->idle_;
  });
}

void Worker::Dispatch(const Completion& completion) {
  Pending& pending = *reinterpret_cast<Pending*>(completion.tag & ~kUncounted);
  if (completion.outcome != Outcome::kOk) {
    if (survives_deaths_ && IsOfDeath(completion.outcome)) {
      pending.lost = true;
    } else {
      Fail({ErrorKind::kEnvironment, fmt::format("an operation of a transaction ended with: {}",
                                                 OutcomeName(completion.outcome))});
    }
  }
  if ((completion.tag & kUncounted) == 0) CompleteOne(pending);
}

void Worker::CompleteOne(Pending& pending) {
  if (--pending.left == 0 && pending.waiter != nullptr) {
    ready_.push_back(std::exchange(pending.waiter, nullptr));
  }
}

void Worker::Send(Call& call, Pending* pending) {
  std::uint32_t number = CallHeader::kNoReply;
  if (pending != nullptr && lost_[call.to.node]) {
    call.reply.clear();
    pending->lost = true;
    return;
  }
  if (pending != nullptr) {
    ++pending->left;
    call.pending = pending;
    if (free_calls_.empty()) {
      free_calls_.push_back(static_cast<std::uint32_t>(calls_.size()));
      calls_.push_back(nullptr);
    }
    number = free_calls_.back();
    free_calls_.pop_back();
    calls_[number] = &call;
  }
  std::memcpy(call.request.data() + offsetof(CallHeader, call), &number, sizeof number);
  endpoint_.Send(call.to, kRequestHandler, call.request);
}

void Worker::OnReply(const Message& message) {
  if (lost_[message.from.node]) return;
  CallHeader header;
  std::memcpy(&header, message.body.data(), sizeof header);
  SLIM_CHECK(header.call < calls_.size() && calls_[header.call] != nullptr,
             "a reply to an unknown call");
  Call& call = *std::exchange(calls_[header.call], nullptr);
  free_calls_.push_back(header.call);
  call.reply.assign(message.body.begin(), message.body.end());
  CompleteOne(*call.pending);
}

void Worker::Fail(Error error) {
  if (status_) status_ = tl::unexpected<Error>(std::move(error));
}

}  // namespace slimgraph::txn
