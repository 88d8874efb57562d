#include "slimgraph/base/sim/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "slimgraph/base/check.h"
#include "slimgraph/base/coroutine.h"
#include "slimgraph/base/mix.h"
#include "slimgraph/base/sim/disk.h"
#include "slimgraph/base/sim/network.h"

namespace slimgraph::sim {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;
constexpr std::uint64_t kWakeUpNs = 2'000;
constexpr std::size_t kMostThreadsTold = 8;

Scheduler* current = nullptr;

}  // namespace

class SimThread {
 public:
  SimThread(std::size_t its_number, NodeId its_node, std::string its_name,
            std::function<void()> body)
      : number(its_number),
        node(its_node),
        name(std::move(its_name)),
        coroutine(std::move(body), kStackBytes) {}

  const std::size_t number;
  const NodeId node;
  const std::string name;
  std::uint64_t time_ns = 0;
  std::size_t ready_place = ReadyQueue<SimThread>::kNowhere;
  bool woken = false;
  bool ended = false;  // or killed
  WaitQueue* waits_in = nullptr;
  const char* waits_for = "";
  WaitQueue joiners;
  std::map<const void*, void*> own_values;
  Coroutine coroutine;
};

namespace {

bool IsReady(const SimThread& thread) {
  return thread.ready_place != ReadyQueue<SimThread>::kNowhere;
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options)
    : options_(options),
      random_(options.seed),
      network_(std::make_unique<Network>(*this)),
      disks_(std::make_unique<Disks>(*this)) {
  outcome_.trace = Mix64(options.seed);
}

Scheduler::~Scheduler() {
  for (const auto& thread : threads_) {
    if (thread->coroutine.ended()) continue;
    thread->coroutine.Abandon();
    // Its stack stays as it is, and may refer to its body, which must therefore stay too.
    static auto& abandoned = *new std::vector<std::shared_ptr<SimThread>>;
    abandoned.push_back(thread);
  }
}

Scheduler* Scheduler::Current() { return current; }

std::shared_ptr<SimThread> Scheduler::Start(NodeId node, std::string name,
                                            std::function<void()> body) {
  const std::size_t number = threads_.size();
  auto thread = std::make_shared<SimThread>(
      number, node, std::move(name), [this, number, body = std::move(body)] {
        try {
          body();
        } catch (const std::exception& escaped) {
          Fail(fmt::format("an exception left thread {}: {}", number, escaped.what()));
        }
        running_->ended = true;
        --living_;
        WakeAll(running_->joiners);
      });
  threads_.push_back(thread);
  ++living_;
  MakeReady(*thread, (running_ == nullptr ? 0 : running_->time_ns) + 1 + Random(kWakeUpNs));
  return thread;
}

void Scheduler::At(std::uint64_t time_ns, std::function<void()> event) {
  events_.push_back({std::max(time_ns, now_ns()), num_events_++, std::move(event)});
  std::ranges::push_heap(events_, IsLater);
}

// Runs the first event if it is due before any thread.
bool Scheduler::RunEvent() {
  if (events_.empty() || events_.front().time_ns != next_ns()) return false;
  std::ranges::pop_heap(events_, IsLater);
  const Event event = std::move(events_.back());
  events_.pop_back();
  event_ns_ = outcome_.end_ns = event.time_ns;
  outcome_.trace = Mix64(outcome_.trace ^ Mix64(event.time_ns) ^ ~event.number);
  event.call();
  return true;
}

std::uint64_t Scheduler::next_ns() const {
  return std::min(ready_.empty() ? kForever : ready_.first_key().time_ns,
                  events_.empty() ? kForever : events_.front().time_ns);
}

RunOutcome Scheduler::Run() {
  SLIM_CHECK(current == nullptr, "a simulation runs inside another");
  current = this;
  atomics_are_points = options_.points_at_atomics;
  while (!failed_ && living_ > 0) {
    if (RunEvent()) continue;
    if (ready_.empty()) break;
    SimThread& thread = ready_.first();
    const std::uint64_t time_ns = ready_.first_key().time_ns;
    Leave(thread);
    thread.time_ns = time_ns;
    outcome_.end_ns = time_ns;
    outcome_.trace = Mix64(outcome_.trace ^ Mix64(time_ns) ^ thread.number);
    ++outcome_.switches;
    if (time_ns > options_.limit_ns) {
      outcome_.failure = fmt::format("not done after {} s of simulated time: {}",
                                     time_ns / 1'000'000'000, ThreadsInWords());
      break;
    }
    running_ = &thread;
    thread.coroutine.Resume();
    running_ = nullptr;
  }
  current = nullptr;
  atomics_are_points = false;
  if (!failed_ && outcome_.failure.empty() && living_ > 0) {
    outcome_.failure = "all sleep forever: " + ThreadsInWords();
  }
  return outcome_;
}

std::string Scheduler::ThreadsInWords() const {
  std::string words;
  std::size_t told = 0;
  for (const auto& thread : threads_) {
    if (thread->ended) continue;
    if (++told > kMostThreadsTold) break;
    words += fmt::format("{}{} of node {} waits for {}", told == 1 ? "" : ", ", thread->name,
                         thread->node, thread->waits_for);
  }
  return words;
}

void Scheduler::Point() {
  if (running_ == nullptr || forbidden_ > 0) return;
  std::uint64_t ns = 1 + Random(2 * options_.point_ns);
  if (!options_.calibrated && options_.points_per_pause > 0 &&
      Random(options_.points_per_pause) == 0) {
    // Short pauses are more frequent than long ones.
    ns += options_.longest_pause_ns >> Random(12);
  }
  Spend(ns);
}

void Scheduler::Spend(std::uint64_t ns) {
  running_->time_ns += ns;
  if (next_ns() >= running_->time_ns) return;
  MakeReady(*running_, running_->time_ns);
  SwitchAway();
}

bool Scheduler::Sleep(WaitQueue& queue, std::uint64_t deadline_ns, const char* what) {
  SLIM_CHECK(forbidden_ == 0, "a thread sleeps where no other may run");
  SimThread& self = *running_;
  self.woken = false;
  self.waits_in = &queue;
  self.waits_for = what;
  queue.sleepers_.push_back(&self);
  if (deadline_ns != kForever) MakeReady(self, std::max(deadline_ns, self.time_ns));
  SwitchAway();
  return self.woken;
}

void Scheduler::SleepUntil(std::uint64_t ns) {
  MakeReady(*running_, std::max(ns, running_->time_ns));
  SwitchAway();
}

void Scheduler::WakeOne(WaitQueue& queue) {
  if (queue.empty()) return;
  SimThread& thread = *queue.sleepers_[Random(queue.sleepers_.size())];
  Leave(thread);
  thread.woken = true;
  MakeReady(thread, now_ns() + 1 + Random(kWakeUpNs));
}

void Scheduler::WakeAll(WaitQueue& queue) {
  while (!queue.empty()) WakeOne(queue);
}

void Scheduler::Join(SimThread& thread) {
  if (!thread.ended) Sleep(thread.joiners, kForever, "the end of a thread");
}

void Scheduler::EndNode(NodeId node, int exit_code) {
  exit_codes_.emplace(node, exit_code);
  network_->CloseAllOf(node);
  disks_->CloseAllOf(node);
  for (const auto& thread : threads_) {
    if (thread->node != node || thread->ended) continue;
    Leave(*thread);
    thread->ended = true;
    --living_;
  }
  if (running_ != nullptr && running_->node == node) SwitchAway();
}

void Scheduler::ReviveNode(NodeId node) {
  exit_codes_.erase(node);
  paused_until_ns_.erase(node);
}

void Scheduler::PauseNode(NodeId node, std::uint64_t ns) {
  const std::uint64_t until_ns = now_ns() + ns;
  paused_until_ns_[node] = until_ns;
  for (const auto& thread : threads_) {
    if (thread->node != node || !IsReady(*thread)) continue;
    if (ready_.key_of(*thread).time_ns >= until_ns) continue;
    ready_.Remove(*thread);
    MakeReady(*thread, until_ns);
  }
  if (running_->node == node) SleepUntil(until_ns);
}

void Scheduler::Fail(std::string why) {
  outcome_.failure = std::move(why);
  failed_ = true;
  SLIM_CHECK(running_ != nullptr, "an event fails: {}", outcome_.failure);
  SwitchAway();
  std::terminate();  // not reached: nobody resumes it
}

NodeId Scheduler::node() const { return running_->node; }

std::uint64_t& Scheduler::running_ns() { return running_->time_ns; }

std::uint64_t Scheduler::now_ns() const {
  return running_ == nullptr ? event_ns_ : running_->time_ns;
}

std::uint64_t Scheduler::clock_ns() const {
  const std::uint64_t now = now_ns();
  if (clocks_.empty() || running_ == nullptr) return now;
  const auto found = clocks_.find(running_->node);
  if (found == clocks_.end()) return now;
  const NodeClock& clock = found->second;
  const std::int64_t drift_ns = static_cast<std::int64_t>(now) * clock.drift_ppm / 1'000'000;
  return now + clock.ahead_ns + static_cast<std::uint64_t>(drift_ns);
}

std::uint64_t Scheduler::Random(std::uint64_t below) { return random_() % below; }

void*& Scheduler::OwnValue(const void* key) { return running_->own_values[key]; }

void Scheduler::MakeReady(SimThread& thread, std::uint64_t time_ns) {
  if (const auto paused = paused_until_ns_.find(thread.node); paused != paused_until_ns_.end()) {
    time_ns = std::max(time_ns, paused->second);
  }
  ready_.Add(thread, {time_ns, random_()});
}

void Scheduler::Leave(SimThread& thread) {
  if (IsReady(thread)) ready_.Remove(thread);
  if (thread.waits_in != nullptr) std::erase(thread.waits_in->sleepers_, &thread);
  thread.waits_in = nullptr;
}

void Scheduler::SwitchAway() { running_->coroutine.Yield(); }

}  // namespace slimgraph::sim
