#include "dkudu/continuation.h"

#include <algorithm>
#include <functional>

#include "slimgraph/base/clock.h"

namespace slimgraph::dkudu {
namespace {

// How often the job asks whether its compute nodes shall leave, unless that depends on the step.
constexpr std::uint64_t kAskNs = 2'000'000;

// How long the engines work until they stop to keep what they have counted: at least so long, and
// so many times as long as the last stop took.
constexpr std::uint64_t kLeastWorkNs = 200'000'000;
constexpr std::uint64_t kWorkOverStop = 20;

}  // namespace

Result<std::unique_ptr<Continuation>> Continuation::Resume(Cluster& cluster, Handover& handover) {
  std::unique_ptr<Continuation> made(new Continuation(cluster, handover));
  handover.step = 0;
  made->keep_ns_ = NowNs() + kLeastWorkNs;
  SLIM_TRY(made->Take());
  return made;
}

// Takes what waits, if anything does. Node 0 tells all others the results; compute nodes read the
// rest in the memory of the handover.
Status Continuation::Take() {
  Handover::Name name = handover_.Waiting();
  SLIM_TRY(cluster_.all().AllReduce(std::span<std::uint64_t>(name), std::bit_or()));
  if (name == Handover::Name{}) return {};
  if (cluster_.computes()) {
    SLIM_ASSIGN(const std::byte* const memory, handover_.Open(name));
    SLIM_TRY(Read(reinterpret_cast<const std::uint64_t*>(memory)));
  }
  SLIM_ASSIGN(const auto results, cluster_.all().Broadcast(0, std::as_bytes(std::span(results_))));
  results_.resize(results.size() / sizeof(Saved));
  if (!results.empty()) std::memcpy(results_.data(), results.data(), results.size());
  handover_.Close();
  return {};
}

bool Continuation::AsksToStop(double percent) {
  if (stop_ != Stop::kNo) return false;
  const std::uint64_t step =
      100 * next_ + static_cast<std::uint64_t>(std::clamp(Begun(percent), 0.0, 99.0));
  const std::uint64_t now = NowNs();
  if (stopped_ns_ != 0) {
    keep_ns_ = now + std::max(kLeastWorkNs, kWorkOverStop * (now - stopped_ns_));
    stopped_ns_ = 0;
  }
  const bool keeps = handover_.survives() && now >= keep_ns_;
  if (step <= handover_.step && now < asked_ns_ + kAskNs && !keeps) return false;
  asked_ns_ = now;
  handover_.step = std::max(handover_.step, step);
  if (handover_.Asks(cluster_.topology().compute())) {
    stop_ = Stop::kLeave;
  } else if (keeps) {
    stop_ = Stop::kKeep;
    stopped_ns_ = now;
  }
  return stop_ != Stop::kNo;
}

Status Continuation::Agree() {
  SLIM_ASSIGN(stop_, cluster_.all().AllMax(stop_));
  return {};
}

// The words: the step, how many results there are, these, the sum so far, how many words the rest
// has, and these.
Status Continuation::StopWith(const Saved& sum, const Words& rest) {
  if (cluster_.self() == 0) {
    Words words{handover_.step, results_.size()};
    for (const Saved& result : results_) words.insert(words.end(), result.begin(), result.end());
    words.insert(words.end(), sum.begin(), sum.end());
    words.push_back(rest.size());
    words.insert(words.end(), rest.begin(), rest.end());
    SLIM_ASSIGN(const Handover::Name name, handover_.Prepare(words.size() * sizeof words[0]));
    SLIM_ASSIGN(std::byte* const memory, handover_.Open(name));
    std::memcpy(memory, words.data(), words.size() * sizeof words[0]);
    handover_.Complete();
  }
  has_left_ = stop_ == Stop::kLeave;
  if (has_left_) return EnvironmentError("other compute nodes continue the count");
  stop_ = Stop::kNo;
  return Take();
}

Status Continuation::Read(const std::uint64_t* words) {
  handover_.step = *words++;
  results_.resize(*words++);
  for (Saved& result : results_) {
    std::copy_n(words, result.size(), result.begin());
    words += result.size();
  }
  std::copy_n(words, sum_.size(), sum_.begin());
  words += sum_.size();
  has_sum_ = true;
  begun_ = static_cast<double>(handover_.step - 100 * results_.size());
  const std::uint64_t rest = *words++;
  rest_.assign(words, words + rest);
  return {};
}

}  // namespace slimgraph::dkudu
