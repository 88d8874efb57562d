#include "dkudu/continuation.h"

#include <algorithm>
#include <functional>

#include "slimgraph/base/clock.h"

namespace slimgraph::dkudu {
namespace {

// How often the job asks whether its compute nodes shall leave, unless that depends on the step.
constexpr std::uint64_t kAskNs = 2'000'000;

}  // namespace

// Node 0 tells all others the results; compute nodes read the rest in the memory of the handover.
Result<std::unique_ptr<Continuation>> Continuation::Resume(Cluster& cluster, Handover& handover) {
  std::unique_ptr<Continuation> made(new Continuation(cluster, handover));
  Handover::Name name = handover.Waiting();
  SLIM_TRY(cluster.all().AllReduce(std::span<std::uint64_t>(name), std::bit_or()));
  if (name == Handover::Name{}) return made;
  if (cluster.computes()) {
    SLIM_ASSIGN(const std::byte* const memory, handover.Open(name));
    SLIM_TRY(made->Read(reinterpret_cast<const std::uint64_t*>(memory)));
  }
  SLIM_ASSIGN(const auto results,
              cluster.all().Broadcast(0, std::as_bytes(std::span(made->results_))));
  made->results_.resize(results.size() / sizeof(Saved));
  if (!results.empty()) std::memcpy(made->results_.data(), results.data(), results.size());
  handover.Close();
  return made;
}

bool Continuation::AsksToLeave(double percent) {
  if (asks_to_leave_) return false;
  const double begun = begun_ + (100 - begun_) * percent / 100;
  const std::uint64_t step =
      100 * next_ + static_cast<std::uint64_t>(std::clamp(begun, 0.0, 99.0));
  const std::uint64_t now = NowNs();
  if (step <= handover_.step && now < asked_ns_ + kAskNs) return false;
  asked_ns_ = now;
  handover_.step = std::max(handover_.step, step);
  asks_to_leave_ = handover_.Asks(cluster_.topology().compute());
  return asks_to_leave_;
}

Status Continuation::AgreeToLeave() {
  SLIM_ASSIGN(const std::uint64_t leaves,
              cluster_.all().AllMax(std::uint64_t{asks_to_leave_ ? 1U : 0U}));
  has_left_ = leaves != 0;
  return {};
}

// The words: the step, how many results there are, these, the sum so far, how many words the rest
// has, and these.
Status Continuation::HandOver(const Saved& sum, const Words& rest) {
  const Error left = EnvironmentError("other compute nodes continue the count").value();
  if (cluster_.self() != 0) return tl::unexpected<Error>(left);
  Words words{handover_.step, results_.size()};
  for (const Saved& result : results_) words.insert(words.end(), result.begin(), result.end());
  words.insert(words.end(), sum.begin(), sum.end());
  words.push_back(rest.size());
  words.insert(words.end(), rest.begin(), rest.end());
  SLIM_ASSIGN(const Handover::Name name, handover_.Prepare(words.size() * sizeof words[0]));
  SLIM_ASSIGN(std::byte* const memory, handover_.Open(name));
  std::memcpy(memory, words.data(), words.size() * sizeof words[0]);
  handover_.Complete();
  return tl::unexpected<Error>(left);
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
