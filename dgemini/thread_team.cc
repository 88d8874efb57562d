#include "dgemini/thread_team.h"

#include "slimgraph/base/clock.h"
#include "slimgraph/base/futex.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kSpinNs = 10'000;
constexpr std::uint64_t kSleepNs = 1'000'000'000;

// Returns the word when it is no longer `old_value`: soon awake for short gaps, asleep in long ones.
std::uint32_t AwaitChange(const std::atomic<std::uint32_t>& word, std::uint32_t old_value) {
  const std::uint64_t start_ns = NowNs();
  while (true) {
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old_value) return now;
      __builtin_ia32_pause();
    }
    if (NowNs() - start_ns > kSpinNs) FutexWait(word, old_value, kSleepNs);
  }
}

}  // namespace

ThreadTeam::ThreadTeam(std::uint32_t threads) : threads_(threads) {
  for (std::uint32_t t = 1; t < threads; ++t) others_.emplace_back([this, t] { Work(t); });
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  round_.fetch_add(1);
  FutexWakeAll(round_);
}

void ThreadTeam::Begin(Call call, void* self) {
  call_ = call;
  self_ = self;
  running_.store(threads_ - 1, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  FutexWakeAll(round_);
}

void ThreadTeam::AwaitOthers() {
  for (std::uint32_t left = running_.load(std::memory_order_acquire); left != 0;) {
    left = AwaitChange(running_, left);
  }
}

void ThreadTeam::Work(std::uint32_t thread) {
  std::uint32_t seen = 0;
  while (true) {
    seen = AwaitChange(round_, seen);
    if (stop_) return;
    call_(self_, thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) FutexWakeAll(running_);
  }
}

}  // namespace slimgraph
