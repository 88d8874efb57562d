// The stages of a transaction, and the code that says for each whether it goes two-sided (a message
// to the home of the tuple, whose processor does the work) or one-sided (operations on its memory).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "slimgraph/base/result.h"

namespace slimgraph::txn {

enum class Stage : std::uint8_t { kRead, kLock, kValidate, kLog, kCommit, kRelease, kRenew };
constexpr std::size_t kNumStages = 7;
const char* StageName(Stage stage);

class StageCode {
 public:
  // `text`: one digit for each stage of `stages`, 0 two-sided, 1 one-sided; or "rpc", "one-sided",
  // or "farm", "drtm-r", "fasst", "drtm-h" for OCC as those systems divide it.
  static Result<StageCode> Parse(std::string_view text, std::string_view protocol,
                                 std::span<const Stage> stages);
  static StageCode All(bool one_sided);

  bool one_sided(Stage stage) const { return one_sided_[static_cast<std::size_t>(stage)]; }
  void Set(Stage stage, bool one_sided) { one_sided_[static_cast<std::size_t>(stage)] = one_sided; }

  // One digit for each of the stages.
  std::string Digits(std::span<const Stage> stages) const;

 private:
  std::array<bool, kNumStages> one_sided_{};
};

}  // namespace slimgraph::txn
