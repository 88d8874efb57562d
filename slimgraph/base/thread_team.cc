#include "slimgraph/base/thread_team.h"

#include "slimgraph/base/clock.h"
#include "slimgraph/base/futex.h"
#include "slimgraph/base/interleave.h"

namespace slimgraph {
namespace {

constexpr std::uint64_t kSpinNs = 10'000;
constexpr std::uint64_t kSleepNs = 1'000'000'000;

}  // namespace

// Spins first, so that short gaps end quickly, then sleeps. No wake-up is lost: a sleeper
// increments `sleepers` before it compares the word, and a waker changes the word before it reads
// `sleepers`.
std::uint32_t ThreadTeam::Gate::AwaitChange(std::uint32_t old_value) {
  const std::uint64_t start_ns = NowNs();
  while (true) {
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old_value) return now;
      SpinPause();
    }
    if (NowNs() - start_ns <= kSpinNs) continue;
    sleepers.fetch_add(1);
    FutexWait(word, old_value, kSleepNs);
    sleepers.fetch_sub(1);
  }
}

void ThreadTeam::Gate::Wake() {
  if (sleepers.load() > 0) FutexWakeAll(word);
}

ThreadTeam::ThreadTeam(std::uint32_t threads) : threads_(threads), turns_(threads) {
  for (std::uint32_t t = 1; t < threads; ++t) others_.emplace_back([this, t] { Work(t); });
}

ThreadTeam::~ThreadTeam() {
  stop_ = true;
  round_.word.fetch_add(1);
  round_.Wake();
}

void ThreadTeam::Begin(Call call, void* self) {
  round_.call = call;
  round_.self = self;
  running_.word.store(threads_ - 1, std::memory_order_relaxed);
  round_.word.fetch_add(1);
  round_.Wake();
}

void ThreadTeam::AwaitOthers() {
  const std::uint32_t round = round_.word.load(std::memory_order_relaxed);
  for (std::uint32_t t = 1; t < threads_; ++t) {
    if (!ClaimTurn(t, round)) continue;
    round_.call(round_.self, t);
    running_.word.fetch_sub(1);
  }
  for (std::uint32_t left = running_.word.load(std::memory_order_acquire); left != 0;) {
    left = running_.AwaitChange(left);
  }
}

void ThreadTeam::Work(std::uint32_t thread) {
  std::uint32_t seen = 0;
  while (true) {
    seen = round_.AwaitChange(seen);
    if (stop_) return;
    if (!ClaimTurn(thread, seen)) continue;
    round_.call(round_.self, thread);
    if (running_.word.fetch_sub(1) == 1) running_.Wake();
  }
}

}  // namespace slimgraph
